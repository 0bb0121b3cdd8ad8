"""A turn whose agent says nothing for long asks the user: wait, stop, or restart (limits.turnSilence).

The question is one like a permission's, so that every client can show and answer it. Lives in the channel's task; only
`watch` is a child task, which waits and reports through the inbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.agents.contract import ToolCallUpdate
from sidekicks_bridge.protocol.parts import PermissionOption

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.channels.inbox import Inbox
    from sidekicks_bridge.channels.permissions import OpenPermissions
    from sidekicks_bridge.channels.state import ChannelState
    from sidekicks_bridge.channels.turns import PendingTurn

_OPTIONS = (
    PermissionOption(option_id="wait", name="Wait", kind="allow_once"),
    PermissionOption(option_id="stop", name="Stop", kind="reject_once"),
    PermissionOption(option_id="restart", name="Restart the agent and ask again", kind="reject_always"),
)
_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))


class SilenceAsk:
    """The question, as `OpenPermissions` holds it."""

    def __init__(self, turn: PendingTurn, seconds: float, answered: Callable[[PendingTurn, str | None], None]) -> None:
        self.agent = turn.agent
        self.channel_id = turn.channel_id
        self.options = list(_OPTIONS)
        self.tool_call = ToolCallUpdate(
            f"silence-{turn.id}", f"@{turn.agent} has said nothing for {_words(seconds)}", "other", "completed"
        )
        self._turn = turn
        self._answered = answered

    def answer(self, option_id: str | None) -> None:
        """The user decided, or (None) it is no question any more."""
        self._answered(self._turn, option_id)


class Silence:
    """Watches the running turn. ``stop`` and ``restart`` are what the answers do."""

    def __init__(
        self,
        state: ChannelState,
        inbox: Inbox,
        permissions: OpenPermissions,
        stop: Callable[[PendingTurn], object],
        restart: Callable[[PendingTurn], object],
    ) -> None:
        self._state = state
        self._inbox = inbox
        self._permissions = permissions
        self._stop = stop
        self._restart = restart

    async def watch(self, turn: PendingTurn) -> None:
        """The child task: as long as the turn lasts, look whether it was silent for too long."""
        while not turn.ended.is_set():
            limit = self._state.env.config().limits.turn_silence
            left = turn.heard_at + limit - self._state.env.clock.monotonic()
            if limit > 0 and left <= 0:
                self._inbox.cast(self._ask, turn, limit)
                left = limit
            with anyio.move_on_after(left if limit > 0 else None):
                await turn.ended.wait()

    def _ask(self, turn: PendingTurn, seconds: float) -> None:
        answer = turn.answer
        quiet = self._state.env.clock.monotonic() - turn.heard_at >= seconds
        if turn.ended.is_set() or answer is None or turn.cancelled or not quiet or self._permissions.waiting(answer):
            return
        turn.silence = SilenceAsk(turn, seconds, self._answered)
        for delta in [*answer.flush(), *answer.upsert_tool(turn.silence.tool_call)]:
            self._state.emit(delta)
        self._permissions.ask(turn.silence, answer, turn.id, silence=True)

    def heard(self, turn: PendingTurn) -> None:
        """The agent said something: there is nothing to ask any more."""
        turn.heard_at = self._state.env.clock.monotonic()
        if turn.silence is not None:
            self._permissions.withdraw(turn.silence)

    def _answered(self, turn: PendingTurn, option_id: str | None) -> None:
        turn.silence = None
        turn.heard_at = self._state.env.clock.monotonic()
        if option_id == "stop":
            self._stop(turn)
        elif option_id == "restart":
            self._restart(turn)


def _words(seconds: float) -> str:
    unit, size = next((known for known in _UNITS if seconds >= known[1]), _UNITS[-1])
    count = seconds / size
    return f"{count:.3g} {unit}{'' if count == 1 else 's'}"
