"""A plain LSP client, which knows nothing of sidekicks: what agents ask the user reaches it as message dialogs.

Owns the dialogs that are open. What cannot be done in a dialog is said, with the command that does it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from sidekicks_bridge.bridge.message_requests import MessageRequests
from sidekicks_bridge.bridge.sign_ins import SignInRequests
from sidekicks_bridge.protocol.agent_requests import AnswerElicitation, Authenticate
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import ElicitationResolved, PermissionResolved, SignInResolved
from sidekicks_bridge.protocol.requests import AnswerPermission
from sidekicks_bridge.protocol.types import Elicitation, Permission, SignIn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.types import FormField, SignInMethod
    from sidekicks_bridge.server.connection import Connection

_ERROR, _WARNING, _INFO = 1, 2, 3
_DETAIL = 300
_DONE, _DECLINE = "Done", "Decline"


class Dialogs:
    """The questions shown to one plain client; closing one that was answered elsewhere."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: dict[str, anyio.CancelScope] = {}

    def notify(self, event: Wire) -> None:
        """Show a question, or close it."""
        match event:
            case Permission():
                self._show(event.request_id, partial(self._ask, event))
            case Elicitation():
                self._show(event.request_id, partial(self._ask_for, event))
            case SignIn():
                self._show(_key(event), partial(self._offer_sign_in, event))
            case PermissionResolved() | ElicitationResolved():
                self._close(event.request_id)
            case SignInResolved():
                self._close(_key(event))

    def _show(self, key: str, dialog: Callable[[], Awaitable[None]]) -> None:
        if key in self._open:
            return
        scope = self._open[key] = anyio.CancelScope()

        async def show() -> None:
            with scope:
                await dialog()
            if self._open.get(key) is scope:
                del self._open[key]

        self._connection.spawn(show)

    def _close(self, key: str) -> None:
        if (scope := self._open.pop(key, None)) is not None:
            scope.cancel()

    async def _choose(self, message: str, titles: list[str]) -> str | None:
        """The title of the button that was pressed; None: the dialog was closed."""
        chosen = await self._connection.ask(
            "window/showMessageRequest",
            {"type": _WARNING, "message": message, "actions": [{"title": title} for title in titles]},
        )
        title = chosen.get("title") if isinstance(chosen, dict) else None
        return title if title in titles else None

    # Closing the dialog of a question is a refusal, unless another client could still answer.

    async def _ask(self, permission: Permission) -> None:
        bridge = await self._connection.bridge()
        titles = _distinct([option.name for option in permission.options])
        title = await self._choose(_question(permission, _where(bridge, permission.channel_id)), titles)
        if title is None and bridge.clients.others_can_answer(self._connection):
            return
        self._open.pop(permission.request_id, None)  # what this answers is not closed from elsewhere
        option_id = permission.options[titles.index(title)].option_id if title is not None else None
        answer = AnswerPermission(request_id=permission.request_id, option_id=option_id)
        await MessageRequests(bridge).answer_permission(self._connection, answer)

    async def _ask_for(self, asked: Elicitation) -> None:
        bridge = await self._connection.bridge()
        where = _where(bridge, asked.channel_id)
        offered = _answers(asked)
        message = f"@{asked.agent} asks in {where}: {asked.message}"
        if asked.url:
            message += f"\n{asked.url}"
        elif not offered:
            message += f"\nFill it in with `sidekicks chat '{where}'`: Ctrl+G shows it. Or decline."
        title = await self._choose(message, [*offered, _DECLINE])
        if title is None and (not offered or bridge.clients.others_can_answer(self._connection)):
            return
        self._open.pop(asked.request_id, None)
        content = {} if title is None else offered.get(title, {})
        action = "cancel" if title is None else "accept" if title in offered else "decline"
        answer = AnswerElicitation(request_id=asked.request_id, action=action, content=content)  # type: ignore[arg-type]
        await MessageRequests(bridge).answer_elicitation(self._connection, answer)

    async def _offer_sign_in(self, needed: SignIn) -> None:
        titles = _distinct([method.name for method in needed.methods])
        title = await self._choose(needed.text, titles)
        if title is None:
            return
        self._open.pop(_key(needed), None)
        method = needed.methods[titles.index(title)]
        if method.kind == "terminal":
            self._tell(_INFO, _in_terminal(needed.agent, method))
            return
        requests = SignInRequests(await self._connection.bridge())
        try:
            done = await requests.authenticate(self._connection, Authenticate(agent=needed.agent, method_id=method.id))
        except SidekicksError as problem:
            self._tell(_ERROR, problem.message)
        else:
            self._tell(_INFO, done.text)

    def _tell(self, kind: int, message: str) -> None:
        self._connection.tell("window/showMessage", {"type": kind, "message": message})


def _key(about: SignIn | SignInResolved) -> str:
    return f"sign-in {about.agent}"


def _where(bridge: Bridge, channel_id: str) -> str:
    return bridge.directory.get(channel_id).state.title


def _question(permission: Permission, where: str) -> str:
    tool = permission.tool_call
    if permission.about == "silence":
        return f"{where}: {tool.title}"
    paths = [location.path for location in tool.locations]
    detail = paths[0] if paths else str(tool.input)[:_DETAIL] if tool.input else ""
    return f"@{permission.agent} asks in {where}: {tool.title}" + (f"\n{detail}" if detail else "")


def _answers(asked: Elicitation) -> dict[str, dict[str, Any]]:
    """The buttons that fill a form in, each with what it fills in; none: the form needs more than a button."""
    if asked.url or not asked.fields:
        return {_DONE: {}}
    if len(asked.fields) > 1:
        return {}
    field = asked.fields[0]
    values = _values(field)
    titles = _distinct([title for title, _ in values])
    return {title: {field.name: value} for title, (_, value) in zip(titles, values, strict=True) if title != _DECLINE}


def _values(field: FormField) -> list[tuple[str, Any]]:
    if field.kind == "boolean":
        return [("Yes", True), ("No", False)]
    return [(choice.title, choice.value) for choice in field.choices] if field.kind == "choice" else []


def _in_terminal(agent: str, method: SignInMethod) -> str:
    return f"Run this in a terminal: sidekicks agents signin {agent} --method '{method.id}'"


def _distinct(names: list[str]) -> list[str]:
    """The names, told apart where two are the same: a dialog answers by its button's title."""
    titles: list[str] = []
    for name in names:
        title, count = name, 2
        while title in titles:
            title, count = f"{name} ({count})", count + 1
        titles.append(title)
    return titles
