"""What a message of ours waits for, as a line for a person: another turn, a question that nobody has answered yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli.channel_ref import slug
from sidekicks_bridge.cli.text import one_line
from sidekicks_bridge.protocol.types import Permission

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.protocol.events import PermissionResolved
    from sidekicks_bridge.protocol.requests import State
    from sidekicks_bridge.protocol.types import Channel, Turn

_SECONDS = 1.0
"""How long a turn must wait before that is worth a line."""


class Waiting:
    """Knows the open questions of all channels and the turns of ours. ``tell`` gets the lines."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._questions: dict[str, Permission] = {}
        self._channels: dict[str, Channel] = {}
        self._turns: list[Turn] = []
        self._message_id: str | None = None
        self._why: str | None = None
        self._news = anyio.Event()

    def know(self, state: State) -> None:
        """How things are at the start."""
        self._questions = {question.request_id: question for question in state.permissions}
        self._channels = {channel.id: channel for channel in state.channels}

    def question(self, event: Permission | PermissionResolved) -> None:
        """A question was asked or answered, in whatever channel."""
        if isinstance(event, Permission):
            self._questions[event.request_id] = event
        else:
            self._questions.pop(event.request_id, None)
        self._look()

    def turns(self, turns: list[Turn], message_id: str | None) -> None:
        """The turns of our channel; ``message_id`` is the message whose turns are ours."""
        self._turns, self._message_id = turns, message_id
        self._look()

    async def run(self) -> None:
        """Tell each reason once, when it has lasted a little; runs until cancelled."""
        told: str | None = None
        while True:
            why = self._why
            with anyio.move_on_after(None if why in (None, told) else _SECONDS):
                await self._news.wait()
                continue
            told = why
            self._tell(f"waiting: {why}")

    def _look(self) -> None:
        why = self._reason()
        if why != self._why:
            self._why = why
            self._news.set()
            self._news = anyio.Event()

    def _reason(self) -> str | None:
        """Why the first of our turns has not begun."""
        mine = next((turn for turn in self._turns if turn.in_reply_to == self._message_id), None)
        if mine is None or mine.state != "queued" or mine.waits_for is None:
            return None
        waits = mine.waits_for
        if waits.reason == "noSlot":
            return "as many agents run as may (limits.maxRunningAgents)"
        channel_id = waits.channel_id or mine.channel_id
        question = next((asked for asked in self._questions.values() if asked.channel_id == channel_id), None)
        channel = self._channels.get(channel_id)
        where = slug(channel) if channel is not None else "another channel"
        if question is None:
            agent = self._turns[0].agent if waits.reason == "channel" else mine.agent
            return f"@{one_line(agent, 64)} is answering in {where}"
        return (
            f"@{one_line(question.agent, 64)} asks in {where}: {one_line(question.tool_call.title)}; "
            f"answer it in `sidekicks chat '{where}'`"
        )
