"""Answers as plain text: what `say`, and `chat` without a terminal, do with the bridge's events.

Answers go to stdout as they stream, everything else (notices, errors, permissions, tool calls for a person who
watches) to stderr. Knows nothing of colours or screens.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anyio
import msgspec

from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.text import one_line, safe, silence
from sidekicks_bridge.cli.tolerant import decode
from sidekicks_bridge.cli.waiting import Waiting
from sidekicks_bridge.protocol import events
from sidekicks_bridge.protocol.agent_requests import AnswerElicitation
from sidekicks_bridge.protocol.parts import NoticePart, TextPart, ToolCallPart
from sidekicks_bridge.protocol.requests import (
    Accepted,
    AnswerPermission,
    CancelTurn,
    Empty,
    OpenChannel,
    OpenedChannel,
)
from sidekicks_bridge.protocol.types import Elicitation, Permission

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.parts import Part
    from sidekicks_bridge.protocol.requests import SentMessage, State
    from sidekicks_bridge.protocol.routes import Route
    from sidekicks_bridge.protocol.types import Message

_WANTED: dict[str, type[Wire]] = {
    event.name: event.params
    for event in events.EVENTS
    if event.params
    in (
        events.MessageUpdated,
        events.MessageDelta,
        events.TurnChanged,
        events.ChannelDesynced,
        events.PermissionResolved,
        Permission,
        Elicitation,
    )
}
_QUESTIONS = ("sidekicks/permission/requested", "sidekicks/permission/resolved")
_Task = Permission | Elicitation | events.ChannelDesynced
"""What asks something of this client."""
_BAD_ENDS = frozenset({"failed", "interrupted", "cancelled", "refusal"})


class Exchange:
    """One message of ours and its answers, from before it is sent until its last turn has ended."""

    def __init__(self, channel_id: str) -> None:
        self.channel_id = channel_id
        self.message_id: str | None = None
        self.route: Route | None = None
        self.turns: set[str] = set()
        self.began = False
        self.answered: set[str] = set()
        self.failed: set[str] = set()
        self.explained = False
        self.accepted = anyio.Event()
        self.done = anyio.Event()

    def asks(self, agent: str) -> bool:
        """Whether the message goes to this agent."""
        return self.route is not None and any(target.agent == agent for target in self.route.to)

    def why_nobody(self) -> str:
        """Why no agent answered, as a sentence."""
        if self.route is not None and self.route.problem is not None:
            return safe(self.route.problem.text)
        if self.began:
            return "The turn was removed before it began."
        return "Nobody answered; name an agent with @."


class PlainListener:
    """Prints what answers the current exchange. Its `on_event` is the client's callback."""

    def __init__(self, *, allow: bool, json: bool = False) -> None:
        self._allow = allow
        self._json = json
        self._titles: dict[str, str] = {}
        self._exchange: Exchange | None = None
        self._early: list[tuple[str, bytes]] = []
        self._printed: dict[tuple[str, int], int] = {}
        self._speaking: tuple[str, int] | None = None
        self._at_line_start = True
        self._read = 0
        self._reads = False
        self._tools: set[str] = set()
        self._watched = sys.stderr.isatty()
        self.waiting = Waiting(self._tell)
        self._reader_gone = anyio.Event()
        self._tasks_in, self._tasks = anyio.create_memory_object_stream[
            Permission | Elicitation | events.ChannelDesynced
        ](100)

    def know(self, state: State) -> None:
        """Learn the agents' titles, and which questions are open."""
        self.waiting.know(state)
        self._titles = {agent.name: agent.title for agent in state.agents}

    def opened(self, snapshot: OpenedChannel) -> None:
        """The channel was opened: what is printed from now on is read, if nothing unread stands before it."""
        self._read = max((message.seq or 0 for message in snapshot.messages), default=0)
        self._reads = not snapshot.channel.unread

    def read_up_to(self) -> int | None:
        """Up to which message everything was printed here or is no agent's; None: others' are unread before ours."""
        return self._read if self._reads else None

    def expect(self, channel_id: str) -> Exchange:
        """The next message of ours; events are held back until `sent` says which message it is."""
        self._exchange = Exchange(channel_id)
        return self._exchange

    def sent(self, sent: SentMessage) -> None:
        """Our message was accepted: print what came before this reply, then what comes after it."""
        exchange = self._exchange
        assert exchange is not None
        exchange.message_id, exchange.route = sent.message_id, sent.route
        exchange.accepted.set()
        for note in sent.route.notes:
            self._tell(safe(note.text))
        early, self._early = self._early, []
        for name, raw in early:
            self.on_event(name, raw)
        if not sent.route.to:
            exchange.done.set()

    def on_event(self, name: str, raw: bytes) -> None:
        """Take one notification."""
        if name in _QUESTIONS:
            question = _decoded(name, raw)
            if isinstance(question, Permission | events.PermissionResolved):
                self.waiting.question(question)
        exchange = self._exchange
        if exchange is None or exchange.done.is_set():
            return
        if exchange.message_id is None:
            self._early.append((name, raw))
            return
        if self._json:
            self._print_json(exchange, name, raw)
        event = _decoded(name, raw)
        if event is not None and getattr(event, "channel_id", None) == exchange.channel_id:
            self._take(exchange, event)

    async def settled(self, client: BridgeClient) -> None:
        """Wait until the last turn of the exchange has ended; raises `BridgeGone` if the bridge ends first.

        If the reader of our output is gone, nobody waits for the answers any more: the turns are cancelled, and this
        raises BrokenPipeError.
        """
        exchange = self._exchange
        assert exchange is not None
        await _first(exchange.done, client.ended, self._reader_gone)
        if self._reader_gone.is_set():
            await self.cancel(client)
            raise BrokenPipeError
        self._end_line()
        if not exchange.done.is_set():
            raise BridgeGone(client.end_reason)

    @property
    def busy(self) -> bool:
        """Whether a message of ours was sent and its turns have not ended."""
        return self._exchange is not None and not self._exchange.done.is_set()

    async def cancel(self, client: BridgeClient) -> None:
        """Cancel our own turns, and nobody else's."""
        exchange = self._exchange
        assert exchange is not None
        await exchange.accepted.wait()
        for turn_id in exchange.turns:
            cancel = CancelTurn(channel_id=exchange.channel_id, turn_id=turn_id)
            await client.request("sidekicks/turn/cancel", cancel, Empty)

    async def serve(self, client: BridgeClient) -> None:
        """What events ask of this client, to run beside the exchange: answers to permissions, opening again."""
        async for task in self._tasks:
            if isinstance(task, Permission):
                await self._answer(client, task)
            elif isinstance(task, Elicitation):
                await self._decline(client, task)
            else:
                asked = OpenChannel(channel_id=task.channel_id, keep_root=True)
                await client.request("sidekicks/channel/open", asked, OpenedChannel, self._reopened)

    async def _answer(self, client: BridgeClient, question: Permission) -> None:
        """Answer a permission question as `--allow` says, naming it on stderr."""
        if question.about == "silence":
            self._tell(f"{safe(question.tool_call.title).removesuffix('. Wait on?')}; waiting on (Ctrl-C ends it)")
            return
        kind = "allow_once" if self._allow else "reject_once"
        chosen = next((option.option_id for option in question.options if option.kind == kind), None)
        did = ("allowed once" if self._allow else "rejected") if chosen else "cancelled: it offers no answer for once"
        self._tell(f"permission {did}: {self._title(question.agent)}: {one_line(question.tool_call.title)}")
        answer = AnswerPermission(request_id=question.request_id, option_id=chosen)
        try:
            await client.request("sidekicks/permission/answer", answer, Accepted)
        except BridgeError as refused:
            self._tell(f"the answer was refused: {safe(refused.message)}")

    async def _decline(self, client: BridgeClient, asked: Elicitation) -> None:
        """Nobody is here to fill in a form or to visit a page: the agent is told so, and goes on."""
        what = f"{one_line(asked.message)} {safe(asked.url or '')}".strip()
        self._tell(f"declined, as only `sidekicks chat` or an editor can answer: {self._title(asked.agent)}: {what}")
        answer = AnswerElicitation(request_id=asked.request_id, action="decline")
        try:
            await client.request("sidekicks/elicitation/answer", answer, Accepted)
        except BridgeError as refused:
            self._tell(f"the answer was refused: {safe(refused.message)}")

    def _reopened(self, opened: OpenedChannel) -> None:
        """We were too slow for the events: go on from the snapshot."""
        exchange = self._exchange
        assert exchange is not None
        for message in opened.messages:
            if message.author.kind == "agent":  # notices were or are in the events
                self._message(exchange, message)
        exchange.began = True
        self._take(exchange, events.TurnChanged(channel_id=exchange.channel_id, turns=opened.turns))

    def _take(self, exchange: Exchange, event: Wire) -> None:
        if isinstance(event, events.MessageDelta):
            if (event.message_id, -1) in self._printed:
                self._delta(event)
        elif isinstance(event, events.MessageUpdated):
            self._message(exchange, event.message)
        elif isinstance(event, events.TurnChanged):
            exchange.turns = {turn.id for turn in event.turns if turn.in_reply_to == exchange.message_id}
            exchange.began = exchange.began or bool(exchange.turns)
            self.waiting.turns(event.turns, exchange.message_id)
            if exchange.began and not exchange.turns:
                exchange.done.set()
        elif (
            isinstance(event, events.ChannelDesynced)
            or (isinstance(event, Permission) and event.turn_id in exchange.turns)
            or (isinstance(event, Elicitation) and exchange.asks(event.agent))
        ):
            self._tasks_in.send_nowait(event)

    def _message(self, exchange: Exchange, message: Message) -> None:
        if message.author.kind == "system":
            exchange.explained = True
            for part in message.parts:
                if isinstance(part, NoticePart | TextPart):
                    self._tell(safe(part.text))
        ours = message.author.kind in ("user", "system") or message.in_reply_to == exchange.message_id
        if message.seq is not None and message.seq > self._read:
            self._reads = self._reads and ours and message.seq == self._read + 1
            self._read = message.seq
        if message.author.kind != "agent" or message.in_reply_to != exchange.message_id:
            return
        if message.id in exchange.answered | exchange.failed:
            return
        if (message.id, -1) not in self._printed:
            self._printed[message.id, -1] = 0
            self._begin_answer(exchange, message)
        for index, part in enumerate(message.parts):
            self._part(message.id, index, part)
        if message.state == "finished":
            self._finish(exchange, message)

    def _begin_answer(self, exchange: Exchange, message: Message) -> None:
        several = exchange.route is not None and len(exchange.route.to) > 1
        if several and not self._json:
            self._end_line()
            self._write(("\n" if len(self._printed) > 1 else "") + f"{self._title(message.author.name or '')}:\n")

    def _finish(self, exchange: Exchange, message: Message) -> None:
        stop = message.turn.stop_reason if message.turn else None
        ended_badly = stop in _BAD_ENDS or (message.turn is not None and message.turn.error is not None)
        (exchange.failed if ended_badly else exchange.answered).add(message.id)
        self._end_line()
        name = self._title(message.author.name or "")
        if message.turn is not None and message.turn.error is not None:
            self._tell(f"{name} failed: {safe(message.turn.error.message)}")
        elif stop not in (None, "end_turn"):
            self._tell(f"{name} stopped: {one_line(stop or '')}")

    def _delta(self, event: events.MessageDelta) -> None:
        if event.value is not None:
            self._part(event.message_id, event.part, event.value)
        elif event.text is not None:
            key = (event.message_id, event.part)
            if key in self._printed:
                self._printed[key] += len(event.text)
                self._say(key, event.text)

    def _part(self, message_id: str, index: int, part: Part) -> None:
        key = (message_id, index)
        if isinstance(part, TextPart):
            fresh = part.text[self._printed.get(key, 0) :]
            self._printed[key] = max(self._printed.get(key, 0), len(part.text))
            self._say(key, fresh)
        elif isinstance(part, ToolCallPart) and part.status in ("completed", "failed", "cancelled"):
            if self._watched and part.id not in self._tools:
                self._tell(f"{part.status}: {one_line(part.title)}")
            self._tools.add(part.id)
        elif isinstance(part, NoticePart) and key not in self._printed:
            self._printed[key] = 0
            self._tell(safe(part.text))

    def _say(self, key: tuple[str, int], text: str) -> None:
        if self._json or not text:
            return
        if self._speaking is not None and self._speaking[0] == key[0] and self._speaking != key:
            self._end_line()
            self._write("\n")
        self._speaking = key
        self._write(safe(text))

    def _write(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            silence("stdout")
            self._reader_gone.set()
        self._at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._write("\n")

    def _tell(self, text: str) -> None:
        if self._watched:
            self._end_line()
        try:
            print(f"sidekicks: {text}", file=sys.stderr, flush=True)
        except BrokenPipeError:
            silence("stderr")
            self._reader_gone.set()

    def _title(self, name: str) -> str:
        return one_line(self._titles.get(name, name), 64)

    def _print_json(self, exchange: Exchange, name: str, raw: bytes) -> None:
        params = msgspec.json.decode(raw)
        if isinstance(params, dict) and params.get("channelId") == exchange.channel_id:
            self._write(msgspec.json.encode({"method": name, "params": params}).decode("utf-8") + "\n")


def _decoded(name: str, raw: bytes) -> Wire | None:
    """A notification we know; None for one of a newer bridge, which is not for us."""
    try:
        return decode(raw, _WANTED[name])
    except (KeyError, msgspec.ValidationError):
        return None


async def _first(*events: anyio.Event) -> None:
    """Wait until one of them is set."""
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
