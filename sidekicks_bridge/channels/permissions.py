"""Open permission questions of a channel: announced at once, answered by whoever is first (design rule 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.channels.elicitations import OpenElicitations
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import PermissionResolved
from sidekicks_bridge.protocol.parts import PermissionOutcome
from sidekicks_bridge.protocol.types import Permission

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import PermissionAsk
    from sidekicks_bridge.channels.answer import Answer
    from sidekicks_bridge.channels.state import ChannelState


class OpenPermissions:
    """The questions that wait, in the order they came. Lives in the channel's task."""

    def __init__(self, state: ChannelState) -> None:
        self._state = state
        self._open: dict[str, tuple[Permission, PermissionAsk, Answer]] = {}
        self.forms = OpenElicitations(state)
        """What else agents ask for."""

    def all(self) -> list[Permission]:
        """The open questions."""
        return [permission for permission, _, _ in self._open.values()]

    def ask(self, ask: PermissionAsk, answer: Answer, turn_id: str, *, by_rule: bool = True) -> None:
        """Announce a question, and answer it at once where the configuration says so (and ``by_rule``).

        One that offers nothing to choose would wait for ever: it is answered `cancelled`, and a notice says so.
        """
        env = self._state.env
        permission = Permission(
            about="tool" if by_rule else "silence",
            request_id=env.ids.new(),
            channel_id=self._state.id,
            agent=ask.agent,
            turn_id=turn_id,
            tool_call=answer.tool(ask.tool_call.id),
            options=ask.options,
            requested_at=env.clock.now(),
        )
        for delta in answer.add_permission(permission.request_id, ask.tool_call.id, ask.options):
            self._state.emit(delta)
        self._open[permission.request_id] = (permission, ask, answer)
        env.to_all(permission)
        if not ask.options:
            self._resolve(permission.request_id, None)
            asked = permission.tool_call.title or "something"
            text = f"@{ask.agent} asked for permission without offering an answer, so it was not given: {asked}"
            self._state.emit(answer.add_notice("noAnswerOffered", text))
        elif by_rule and env.config().permissions.default == "reject":
            rejecting = next((option for option in ask.options if option.kind == "reject_once"), None)
            self._resolve(permission.request_id, rejecting.option_id if rejecting else None)

    def answer(self, request_id: str, option_id: str | None) -> bool:
        """Take an answer. False: too late. Raises invalidParams for an option that was not offered; the card stays."""
        if request_id not in self._open:
            return False
        permission, _, _ = self._open[request_id]
        offered = [option.option_id for option in permission.options]
        if option_id is not None and option_id not in offered:
            raise SidekicksError(
                "invalidParams",
                f"@{permission.agent} does not offer {option_id!r}. It offers: {', '.join(offered) or 'nothing'}.",
                {"optionId": option_id, "offered": offered},
            )
        self._resolve(request_id, option_id)
        return True

    def withdraw(self, ask: PermissionAsk) -> None:
        """The question became void: its turn was cancelled or its agent is gone."""
        for request_id, (_, open_ask, _) in list(self._open.items()):
            if open_ask is ask:
                self._resolve(request_id, None)

    def cancel_all(self, answer: Answer) -> None:
        """The message they belong to ends: what is still open is answered `cancelled`."""
        for request_id, (_, _, owner) in list(self._open.items()):
            if owner is answer:
                self._resolve(request_id, None)
        self.forms.cancel_all(answer)

    def cancel_every(self) -> None:
        """The channel ends."""
        for request_id in list(self._open):
            self._resolve(request_id, None)
        self.forms.cancel_every()

    def waiting(self, answer: Answer) -> bool:
        """Whether a question of this message waits."""
        return self.forms.waiting(answer) or any(owner is answer for _, _, owner in self._open.values())

    def _resolve(self, request_id: str, option_id: str | None) -> None:
        permission, ask, answer = self._open.pop(request_id)
        outcome = PermissionOutcome(outcome="cancelled" if option_id is None else "selected", option_id=option_id)
        for delta in answer.resolve_permission(request_id, outcome):
            self._state.emit(delta)
        ask.answer(option_id)
        self._state.env.to_all(
            PermissionResolved(
                request_id=request_id,
                channel_id=permission.channel_id,
                outcome=outcome.outcome,
                option_id=option_id,
            )
        )
