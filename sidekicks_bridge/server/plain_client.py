"""A plain LSP client, which knows nothing of sidekicks: permission questions reach it as message dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.bridge.message_requests import MessageRequests
from sidekicks_bridge.protocol.events import PermissionResolved
from sidekicks_bridge.protocol.requests import AnswerPermission
from sidekicks_bridge.protocol.types import Permission

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.server.connection import Connection

_WARNING = 2
_DETAIL = 300


class Dialogs:
    """The questions shown to one plain client; closing one that was answered elsewhere."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: dict[str, anyio.CancelScope] = {}

    def notify(self, event: Wire) -> None:
        """Show a question, or close it."""
        if isinstance(event, Permission):
            scope = self._open[event.request_id] = anyio.CancelScope()
            self._connection.spawn(self._ask, event, scope)
        elif isinstance(event, PermissionResolved) and event.request_id in self._open:
            self._open.pop(event.request_id).cancel()

    async def _ask(self, permission: Permission, scope: anyio.CancelScope) -> None:
        """Closing the dialog is a refusal, unless another client could still answer."""
        bridge = await self._connection.bridge()
        titles = _distinct([option.name for option in permission.options])
        with scope:
            chosen = await self._connection.ask(
                "window/showMessageRequest",
                {
                    "type": _WARNING,
                    "message": _question(permission, bridge.directory.get(permission.channel_id).state.title),
                    "actions": [{"title": title} for title in titles],
                },
            )
            title = chosen.get("title") if isinstance(chosen, dict) else None
            if title not in titles and bridge.clients.others_can_answer(self._connection):
                return
            self._open.pop(permission.request_id, None)  # what this answers is not closed from elsewhere
            option_id = permission.options[titles.index(title)].option_id if title in titles else None
            answer = AnswerPermission(request_id=permission.request_id, option_id=option_id)
            await MessageRequests(bridge).answer_permission(self._connection, answer)


def _question(permission: Permission, where: str) -> str:
    tool = permission.tool_call
    paths = [location.path for location in tool.locations]
    detail = paths[0] if paths else str(tool.input)[:_DETAIL] if tool.input else ""
    return f"@{permission.agent} asks in {where}: {tool.title}" + (f"\n{detail}" if detail else "")


def _distinct(names: list[str]) -> list[str]:
    """The names, told apart where two are the same: a dialog answers by its button's title."""
    titles: list[str] = []
    for name in names:
        title, count = name, 2
        while title in titles:
            title, count = f"{name} ({count})", count + 1
        titles.append(title)
    return titles
