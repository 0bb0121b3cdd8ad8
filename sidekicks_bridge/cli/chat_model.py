"""What the terminal client knows: events in, lines for the scrollback and for the live area out. No terminal here.

Finished lines leave once through `printable`; everything else is shown by `live`, as often as it is drawn.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge.cli import permissions, render, status
from sidekicks_bridge.cli.channel_ref import slug
from sidekicks_bridge.cli.message_view import MessageView
from sidekicks_bridge.cli.names import Names
from sidekicks_bridge.cli.style import BOLD, DIM, WARN, Line, clip
from sidekicks_bridge.cli.text import one_line, short_path
from sidekicks_bridge.cli.tolerant import decode
from sidekicks_bridge.protocol import events
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.types import Elicitation, Permission, SignIn, Usage

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.requests import OpenedChannel, State
    from sidekicks_bridge.protocol.types import Channel, Message, Turn

_RECALLED = 4
"""How many messages are shown again when a channel comes back on screen after another one."""
_EVENTS: dict[str, type[Wire]] = {event.name: event.params for event in events.EVENTS}


class ChatModel:
    """The channel on screen and what is known of the others. ``columns`` is kept up to date by the screen."""

    def __init__(self, folder: str, columns: int) -> None:
        self.folder = folder
        self.columns = columns
        self.names = Names()
        self.channels: dict[str, Channel] = {}
        self.channel: Channel | None = None
        self.turns: list[Turn] = []
        self.queued: dict[str, Message] = {}
        self.desk = permissions.PermissionDesk()
        self.failed: dict[str, Message] = {}
        """Each agent's last message here, if it did not end as it should."""
        self.forms: dict[str, Elicitation] = {}
        """What agents ask for, in all channels, by request."""
        self.sign_ins: dict[str, SignIn] = {}
        self.storage: str | None = None
        self.problems = 0
        self.desynced = False
        self.detached: str | None = None
        self.read_up_to: dict[str, int] = {}
        self.earliest: int | None = None
        self._ended: str | None = None
        self._usage: dict[str, str] = {}
        self._views: list[MessageView] = []
        self._printed: set[str] = set()
        self._out: list[Line] = []
        self._running: tuple[str, float] = ("", 0.0)

    def know(self, state: State) -> None:
        """Everything outside channels, at the start and whenever a new bridge was attached to."""
        self.detached = None
        self.refresh(state)
        self.desk.keep({question.request_id for question in state.permissions})
        for question in state.permissions:
            self.desk.add(question)
        self.forms = {asked.request_id: asked for asked in state.elicitations}
        self.sign_ins = {needed.agent: needed for needed in state.sign_ins}
        self.storage = None if state.storage.persistent else state.storage.reason or "it is in memory"
        self.problems = len(state.config.problems)

    def refresh(self, state: State) -> None:
        """The agents and channels as they are now."""
        self.names.know(state.agents)
        self._know_channels(state.channels)

    def opened(self, snapshot: OpenedChannel) -> None:
        """A channel was opened (or opened again): print what was not printed yet and go on from there."""
        channel = snapshot.channel
        again = self.channel is not None and self.channel.id == channel.id
        self.channel = self.channels[channel.id] = channel
        self.turns = snapshot.turns
        self.desynced = False
        self.queued = {}
        for question in snapshot.permissions:
            self.desk.add(question)
        self._usage = {
            member.name: render.usage_text(member.usage) for member in channel.members if member.usage is not None
        }
        messages = snapshot.messages
        if again:
            read = self.read_up_to.get(channel.id, 0)
            messages = [message for message in messages if message.seq is None or message.seq > read]
            self._abandon({message.id for message in messages})
            if self._ended is not None:
                self._settle()
                self.say(self._ended)
                self._ended = None
        else:
            self._views = []
            self.failed = {}
            self._printed -= {message.id for message in messages[-_RECALLED:]}
            messages = [message for message in messages if message.id not in self._printed]
            self._out += self._title(snapshot, left_out=len(messages) < len(snapshot.messages))
            self.earliest = next((message.seq for message in messages if message.seq is not None), self.earliest)
        for message in messages:
            self._message(message)

    def lost(self, why: str, now: str) -> None:
        """The bridge has ended: ``now`` is shown until there is one again, and ``why`` stays in the scrollback."""
        self._ended, self.detached = why, now
        self.turns = []

    def _abandon(self, known: set[str]) -> None:
        """What was being written when the bridge was killed stays as far as it came; the history says the rest."""
        for view in self._views:
            if not view.finished and view.message.id not in known:
                view.abandon()

    def earlier(self, messages: list[Message]) -> None:
        """Print a page of older messages, marked as such."""
        if not messages:
            self.say("There is nothing earlier.", DIM)
            return
        self.earliest = messages[0].seq
        self._out += [[], self._rule("earlier messages")]
        for message in messages:
            self._out += MessageView(message, self.names, self._root(), self.columns).settle()
        self._out += [[], self._rule("end of the earlier messages")]

    def say(self, text: str, style: str = WARN) -> None:
        """Print a sentence of this client."""
        self._out += render.notice_lines(text, self.columns, style)

    def show(self, lines: list[Line]) -> None:
        """Print lines."""
        self._out += lines

    def event(self, name: str, raw: bytes) -> Wire | None:
        """Take one notification, and answer it; what a newer bridge says that we do not know is ignored (None)."""
        kind = _EVENTS.get(name)
        if kind is None:
            return None
        try:
            event = decode(raw, kind)
        except msgspec.ValidationError:
            return None
        channel_id = getattr(event, "channel_id", None)
        if self.channel is not None and channel_id == self.channel.id:
            self._here(event)
        self._anywhere(event)
        return event

    def resize(self, columns: int) -> None:
        """The terminal's width; what is printed from now on keeps to it."""
        self.columns = columns
        for view in self._views:
            view.resize(columns)

    def printable(self) -> list[Line]:
        """The lines that became final since the last call, in the order of the log."""
        self._settle()
        lines, self._out = self._out, []
        return lines

    def _settle(self) -> None:
        while self._views:
            view = self._views[0]
            self._out += view.settle()
            if not view.finished:
                break
            self._printed.add(view.message.id)
            if view.message.seq is not None and self.channel is not None:
                self.read_up_to[self.channel.id] = max(view.message.seq, self.read_up_to.get(self.channel.id, 0))
            del self._views[0]

    def live(self, rows: int) -> list[Line]:
        """What stands between the scrollback and the composer, at most about ``rows`` high."""
        now = time.monotonic()
        mark = status.SPINNER[int(now * 8) % len(status.SPINNER)]
        below = self._waiting_lines(mark, now) + self._permission_lines(now, rows // 2)
        if self.detached is not None:
            below.append([(WARN, "■ " + self.detached)])
        moving = [line for view in self._views for line in view.live(mark)]
        room = max(rows - len(below), 3)
        return [clip(line, self.columns) for line in moving[-room:] + below]

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits here: the live area moves by itself."""
        return bool(self.turns)

    def _root(self) -> str | None:
        return self.channel.root if self.channel is not None else None

    def _know_channels(self, channels: list[Channel]) -> None:
        self.channels = {channel.id: channel for channel in channels}
        if self.channel is None:
            return
        if (now := self.channels.get(self.channel.id)) is None:
            self._settle()
            self.say(f"{slug(self.channel)} was deleted, and its history. Ctrl+O goes to another channel.")
            self.turns, self.queued, self.failed, self._usage = [], {}, {}, {}
        self.channel = now

    def _message(self, message: Message) -> None:
        self._note_end(message)
        if message.id in self._printed:
            return
        view = next((view for view in self._views if view.message.id == message.id), None)
        if view is not None:
            view.update(message)
        elif message.state == "queued":
            self.queued[message.id] = message
        else:
            self.queued.pop(message.id, None)
            self._views.append(MessageView(message, self.names, self._root(), self.columns))

    def _note_end(self, message: Message) -> None:
        agent = message.author.name
        if message.author.kind != "agent" or agent is None:
            return
        self.failed.pop(agent, None)
        if message.turn is not None and message.turn.stop_reason not in (None, "end_turn") and message.in_reply_to:
            self.failed[agent] = message

    def _here(self, event: Wire) -> None:
        """An event of the channel on screen."""
        if isinstance(event, events.MessageDelta):
            for view in self._views:
                if view.message.id == event.message_id:
                    view.delta(event)
        elif isinstance(event, events.MessageUpdated):
            self._message(event.message)
        elif isinstance(event, events.MessageRemoved):
            self.queued.pop(event.message_id, None)
            self._views = [view for view in self._views if view.message.id != event.message_id]
        elif isinstance(event, events.TurnChanged):
            self.turns = event.turns
        elif isinstance(event, events.UsageChanged):
            self._usage[event.agent] = render.usage_text(Usage(used=event.used, size=event.size, cost=event.cost))
        elif isinstance(event, events.SessionChanged) and self.channel is not None:
            for member in self.channel.members:
                if member.name == event.agent:
                    member.modes, member.models, member.options = event.modes, event.models, event.options
        elif isinstance(event, events.ChannelDesynced):
            self.desynced = True

    def _anywhere(self, event: Wire) -> None:
        """An event that every client gets."""
        if isinstance(event, Permission):
            self.desk.add(event)
        elif isinstance(event, events.PermissionResolved):
            self.desk.close(event.request_id)
        elif isinstance(event, Elicitation):
            self.forms[event.request_id] = event
        elif isinstance(event, events.ElicitationResolved):
            self.forms.pop(event.request_id, None)
        elif isinstance(event, SignIn):
            self.sign_ins[event.agent] = event
            if agent := self.names.agents.get(event.agent):
                agent.sign_in = event.methods
        elif isinstance(event, events.SignInResolved):
            self.sign_ins.pop(event.agent, None)
        elif isinstance(event, events.ChannelsChanged):
            self._know_channels(event.channels)
        elif isinstance(event, events.AgentStateChanged):
            if agent := self.names.agents.get(event.agent):
                agent.state, agent.error = event.state, event.error
        elif isinstance(event, events.StorageChanged):
            self.storage = None if event.persistent else event.reason or "it is in memory"
        elif isinstance(event, events.ConfigChanged):
            self.problems = len(event.problems)
            self.names.know(event.agents)
            self._know_channels(event.channels)

    def _title(self, snapshot: OpenedChannel, *, left_out: bool) -> list[Line]:
        channel = snapshot.channel
        lines: list[Line] = [
            [],
            self._rule(slug(channel) + (f" · {short_path(channel.root, None)}" if channel.root else "")),
        ]
        if channel.description:
            lines.append([(DIM, one_line(channel.description, self.columns))])
        if snapshot.has_more or left_out:
            lines.append([(DIM, "PageUp shows earlier messages")])
        return lines

    def _rule(self, text: str) -> Line:
        text = one_line(text, self.columns - 8)
        return [(DIM, "── "), (BOLD, text), (DIM, " " + "─" * max(2, min(40, self.columns - len(text) - 6)))]

    def _waiting_lines(self, mark: str, now: float) -> list[Line]:
        lines: list[Line] = []
        running = next((turn.id for turn in self.turns if turn.state != "queued"), "")
        if self._running[0] != running:
            self._running = (running, now)
        lines += status.turn_lines(self.turns, self.names, self.channels, mark, int(now - self._running[1]))
        for message in self.queued.values():
            text = " ".join(part.text for part in message.parts if isinstance(part, TextPart))
            lines.append([(DIM, "⧗ queued: "), ("", one_line(text)), (DIM, "  Ctrl-Q removes")])
        return [[], *lines] if lines else []

    def _permission_lines(self, now: float, rows: int) -> list[Line]:
        lines: list[Line] = []
        here = self.channel.id if self.channel is not None else None
        question = self.desk.current(here)
        if question is not None and self.desk.postponed(question):
            lines.append(permissions.reminder(question, self.names, self.columns))
        elif question is not None:
            self.desk.drawn(question, now)
            lines += [[], *permissions.card(question, self.names, self._root(), self.columns, max(rows, 4))]
        for other in self.desk.elsewhere(here)[:3]:
            where = self.channels.get(other.channel_id)
            text = (
                f"{self.names.title(other.agent)} asks for permission in {slug(where) if where else 'another channel'}"
            )
            lines.append([(WARN, "◆ " + text), (DIM, "  Ctrl-O goes there")])
        for asked in list(self.forms.values())[:3]:
            words = one_line(asked.message, 200)
            lines.append(
                [(WARN, "◆ "), self.names.span(asked.agent), ("", f" asks: {words}"), (DIM, "  Ctrl-G answers")]
            )
        for agent in list(self.sign_ins)[:3]:
            lines.append(
                [(WARN, "◆ "), self.names.span(agent), ("", " wants you to sign in"), (DIM, "  Ctrl-G signs in")]
            )
        return lines

    def footer(self) -> list[Line]:
        """The toolbar's lines."""
        if self.channel is None:
            return []
        others = [channel for channel in self.channels.values() if channel.id != self.channel.id]
        lines = [status.toolbar(self.channel, self.names, self._usage, self.columns)]
        more = status.alerts(others, self.storage, self.problems, self.columns)
        return [*lines, more] if more else lines
