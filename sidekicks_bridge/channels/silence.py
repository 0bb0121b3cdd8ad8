"""Asks the user about an agent that says nothing for ``limits.turnSilence``: wait, stop its turn, or restart it.

The question is a permission like any other, put by the bridge. Nothing is ever stopped unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.agents.contract import ToolCallUpdate
from sidekicks_bridge.protocol.parts import PermissionOption

if TYPE_CHECKING:
    from sidekicks_bridge.channels.inbox import Inbox
    from sidekicks_bridge.channels.permissions import OpenPermissions
    from sidekicks_bridge.channels.state import ChannelState
    from sidekicks_bridge.channels.turn_flow import TurnFlow
    from sidekicks_bridge.channels.turns import PendingTurn

WAIT, STOP, RESTART = "wait", "stop", "restart"


class Silence:
    """Watches the running turns of a channel."""

    def __init__(self, state: ChannelState, inbox: Inbox, permissions: OpenPermissions, flow: TurnFlow) -> None:
        self._state = state
        self._inbox = inbox
        self._permissions = permissions
        self._flow = flow

    async def watch(self, turn: PendingTurn) -> None:
        """A child task beside a turn that was handed its prompt: asks each time the agent was silent for so long."""
        turn.heard_at = anyio.current_time()
        while not turn.over.is_set():
            limit = self._state.env.config().limits.turn_silence
            if not limit:
                return
            left = turn.heard_at + limit - anyio.current_time()
            if left > 0:
                with anyio.move_on_after(left):
                    await turn.over.wait()
                continue
            question = Question(self, turn, limit)
            self._inbox.cast(self._ask, question)
            await question.answered.wait()

    def _ask(self, question: Question) -> None:
        turn = question.turn
        answer = turn.answer
        if turn.over.is_set() or turn.cancelled or answer is None or self._permissions.waiting(answer):
            question.done()  # over, or silent because it waits for the user
            return
        turn.silence = question
        for delta in [*answer.flush(), *answer.upsert_tool(question.tool_call)]:
            self._state.emit(delta)
        self._permissions.ask(question, answer, turn.id, by_rule=False)
        self._flow.set_state(turn, "awaitingPermission")

    def heard(self, turn: PendingTurn) -> None:
        """The agent said something: an open question about its silence is void."""
        turn.heard_at = anyio.current_time()
        if turn.silence is not None:
            self._permissions.withdraw(turn.silence)

    def act(self, question: Question, option_id: str | None) -> None:
        """The question was answered, or has become void (None)."""
        turn, answer = question.turn, question.turn.answer
        turn.silence = None
        question.done()
        if answer is not None:
            ended = ToolCallUpdate(question.tool_call.id, status="completed")
            for delta in answer.upsert_tool(ended):
                self._state.emit(delta)
        if option_id in (STOP, RESTART):
            self._state.env.spawn(self._stop, turn, option_id == RESTART)
        else:
            self._flow.set_state(turn, "thinking")

    async def _stop(self, turn: PendingTurn, restart: bool) -> None:
        await self._inbox.call(self._flow.cancel, [turn])
        if restart:
            await self._state.env.agents.stop(turn.agent)


class Question:
    """One question about one silence. Implements `PermissionAsk`."""

    def __init__(self, silence: Silence, turn: PendingTurn, seconds: float) -> None:
        self.turn = turn
        self.agent = turn.agent
        self.channel_id = turn.channel_id
        self.answered = anyio.Event()
        self._silence = silence
        self._seconds = seconds
        turn.silences += 1
        self.tool_call = ToolCallUpdate(
            id=f"silence-{turn.silences}",
            title=f"@{turn.agent} has said nothing for {_span(seconds)}. Wait on?",
            kind="other",
            status="in_progress",
        )
        self.options = [
            PermissionOption(option_id=WAIT, name="Wait", kind="allow_once"),
            PermissionOption(option_id=STOP, name="Stop the turn", kind="reject_once"),
            PermissionOption(option_id=RESTART, name="Stop the turn and restart the agent", kind="other"),
        ]

    def answer(self, option_id: str | None) -> None:
        """Act on the answer; None: the question is void."""
        self._silence.act(self, option_id)

    def done(self) -> None:
        """The silence is dealt with; a new one begins."""
        self.turn.heard_at = anyio.current_time()
        self.answered.set()


def _span(seconds: float) -> str:
    """A length of time as one says it."""
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:g} seconds"
