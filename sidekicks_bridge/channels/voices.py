"""What agents say in a channel: updates of the running turn, and what comes late or unasked. Lives in its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.agents.contract import (
    CommandsUpdate,
    OtherUpdate,
    SettingsUpdate,
    TextChunk,
    ThoughtChunk,
    ToolCallUpdate,
    UsageUpdate,
)
from sidekicks_bridge.channels.announced import Settings
from sidekicks_bridge.protocol.events import CommandsChanged, MessageUpdated, SessionChanged, UsageChanged
from sidekicks_bridge.protocol.types import MessageTurn

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate
    from sidekicks_bridge.channels.answer import Answer
    from sidekicks_bridge.channels.permissions import OpenPermissions
    from sidekicks_bridge.channels.state import ChannelState
    from sidekicks_bridge.channels.turn_flow import TurnFlow
    from sidekicks_bridge.channels.turns import PendingTurn

LATE_SECONDS = 0.5
"""What an agent says after its turn becomes a message of its own once the agent has been silent for so long."""


class Voices:
    """Takes updates in and shows them: in the running answer, or in a further message of that agent."""

    def __init__(self, state: ChannelState, flow: TurnFlow, permissions: OpenPermissions) -> None:
        self._state = state
        self._flow = flow
        self._permissions = permissions
        self._late: dict[str, Answer] = {}
        self._last: dict[str, Answer] = {}

    def patience(self) -> float | None:
        """How long to wait for more before late messages are finished; None: there are none to finish."""
        return LATE_SECONDS if any(not self._permissions.waiting(late) for late in self._late.values()) else None

    def late_answers(self) -> list[Answer]:
        """Messages outside a turn that still stream."""
        return list(self._late.values())

    def update(self, agent: str, update: SessionUpdate) -> None:
        """An agent's session here said something."""
        if isinstance(update, CommandsUpdate | SettingsUpdate | UsageUpdate):
            self._learn(agent, update)
            return
        if (mine := self._turn_of(agent)) is not None:
            turn, answer = mine
            self._last[agent] = answer
            self._flow.silence.heard(turn)
            self._show_activity(turn, update)
        else:
            if self._says_nothing_new(agent, update):
                return
            answer = self._late_answer(agent)
        for delta in answer.apply(update):
            self._state.emit(delta)

    def _show_activity(self, turn: PendingTurn, update: SessionUpdate) -> None:
        if turn.state == "awaitingPermission":
            return  # the question stays on top whatever else the agent reports
        if isinstance(update, TextChunk):
            self._flow.set_state(turn, "writing")
        elif isinstance(update, ThoughtChunk):
            self._flow.set_state(turn, "thinking")
        elif isinstance(update, ToolCallUpdate):
            ended = update.status in ("completed", "failed", "cancelled")
            self._flow.set_state(turn, "thinking" if ended else "tool")

    def _says_nothing_new(self, agent: str, update: SessionUpdate) -> bool:
        """Whether what comes outside a turn is no reason for a message."""
        if isinstance(update, OtherUpdate):
            return True  # of a kind nobody can show
        last = self._last.get(agent)
        # A tool call of the finished answer reports its end: the message is history.
        return isinstance(update, ToolCallUpdate) and last is not None and last.has_tool(update.id)

    def _late_answer(self, agent: str) -> Answer:
        """What comes after a turn (or outside one) is a further message of that agent."""
        last = self._last.get(agent)
        if agent not in self._late:
            turn = MessageTurn(id=self._state.env.ids.new(), started_at=self._state.env.clock.now())
            late = self._flow.new_answer(agent, last.message.in_reply_to if last else None, turn)
            self._late[agent] = late
            self._state.emit(MessageUpdated(channel_id=self._state.id, message=late.short_message()))
        return self._late[agent]

    async def end_late(self, *, asking: bool = False) -> None:
        """Finish the messages outside a turn; those in which a question waits only if ``asking``."""
        for agent, late in list(self._late.items()):
            if self._permissions.waiting(late) and not asking:
                continue
            del self._late[agent]
            for delta in late.flush():
                self._state.emit(delta)
            self._permissions.cancel_all(late)
            late.end_tools("failed")
            if late.message.turn is not None:
                late.message.turn.stop_reason = "end_turn"
            await self._flow.finish_message(late, None)

    def _learn(self, agent: str, update: CommandsUpdate | SettingsUpdate | UsageUpdate) -> None:
        member = self._state.members.get(agent)
        if isinstance(update, CommandsUpdate):
            self._state.env.spawn(self._state.env.announced.learn, agent, update.commands)
            self._state.emit(CommandsChanged(channel_id=self._state.id, agent=agent, commands=update.commands))
        elif isinstance(update, UsageUpdate):
            usage = update.usage
            if member is not None:
                member.usage = usage
            running = self._flow.running
            if running and running.agent == agent:
                running.usage = usage
            self._state.emit(
                UsageChanged(channel_id=self._state.id, agent=agent, used=usage.used, size=usage.size, cost=usage.cost)
            )
        elif member is not None:
            old = member.settings or Settings()
            new = member.settings = Settings(
                modes=update.modes or old.modes,
                models=update.models or old.models,
                options=old.options if update.options is None else update.options,
            )
            self._state.env.spawn(self._state.env.announced.learn_settings, agent, new)
            self._state.emit(
                SessionChanged(
                    channel_id=self._state.id, agent=agent, modes=new.modes, models=new.models, options=new.options
                )
            )

    def _turn_of(self, agent: str) -> tuple[PendingTurn, Answer] | None:
        """The agent's running turn here and its answer."""
        running = self._flow.running
        if running is None or running.agent != agent or running.answer is None:
            return None
        return running, running.answer

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        """An agent asks the user for something here."""
        mine = self._turn_of(ask.agent)
        if mine is None:
            self._permissions.forms.ask(ask, self._late_answer(ask.agent))
            return
        turn, answer = mine
        if turn.cancelled:
            ask.answer("cancel")
            return
        self._flow.silence.heard(turn)
        self._permissions.forms.ask(ask, answer)
        self._flow.set_state(turn, "awaitingPermission")

    def permission_asked(self, ask: PermissionAsk) -> None:
        """An agent asks for permission here."""
        mine = self._turn_of(ask.agent)
        if mine is None and self._says_nothing_new(ask.agent, ask.tool_call):
            ask.answer(None)
            return
        if mine is not None:
            self._flow.silence.heard(mine[0])
            if mine[0].cancelled:
                ask.answer(None)
                return
        answer = self._late_answer(ask.agent) if mine is None else mine[1]
        for delta in [*answer.flush(), *answer.upsert_tool(ask.tool_call)]:
            self._state.emit(delta)
        turn_id = answer.message.turn.id if answer.message.turn else ""
        self._permissions.ask(ask, answer, turn_id)
        if mine is not None and self._permissions.waiting(answer):
            self._flow.set_state(mine[0], "awaitingPermission")
