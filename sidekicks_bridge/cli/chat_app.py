"""`sidekicks chat` in a terminal: joins the bridge, the model and the screen, and does what keys ask for.

Owns the life of the conversation: opening channels, sending, previews, drawing in frames. Rules live in the bridge.
"""

from __future__ import annotations

import signal
import time
from pathlib import PurePath
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli import render, status
from sidekicks_bridge.cli.channel_ref import UnknownChannel, default_channel, find_channel, slug
from sidekicks_bridge.cli.chat_agents import ChatAgents
from sidekicks_bridge.cli.chat_keys import HELP, bindings
from sidekicks_bridge.cli.chat_questions import ChatQuestions
from sidekicks_bridge.cli.chat_screen import Screen
from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.composer import BridgeCompleter, Composer
from sidekicks_bridge.cli.picker import Picker, Question
from sidekicks_bridge.cli.style import BOLD, DIM, ERROR, Line, indented
from sidekicks_bridge.cli.text import safe
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import (
    Accepted,
    AnswerPermission,
    CancelTurn,
    ChannelRef,
    ChannelText,
    Empty,
    ListMessages,
    MarkRead,
    MessagePage,
    OpenChannel,
    OpenedChannel,
    PreparedCommands,
    SendMessage,
    SentMessage,
)
from sidekicks_bridge.protocol.requests import State as BridgeState
from sidekicks_bridge.protocol.types import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from sidekicks_bridge.cli.chat_model import ChatModel
    from sidekicks_bridge.protocol.types import Channel

_FRAME = 0.04
_TICK = 0.25
_PAUSE_IN_TYPING = 0.08
_TWICE = 1.0
_ROWS_BELOW = 10
"""Rows kept free for what stands below the live area: composer, completions, toolbar."""
_ROWS_OF_LIST = 16


class ChatApp:
    """One run of the terminal client. Its methods without ``async`` are what keys call: they return at once."""

    def __init__(self, client: BridgeClient, model: ChatModel, history: int) -> None:
        self.client = client
        self.model = model
        self.picker = Picker()
        self.composer = Composer(BridgeCompleter(client, self.channel_id), self._typed)
        self.questions = ChatQuestions(self)
        self.agents = ChatAgents(self)
        self.screen = Screen(self.composer, self.picker, bindings(self), self._placeholder)
        self._history = history
        self._route: Route | None = None
        self._wake = anyio.Event()
        self._retype = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._interrupted = -_TWICE
        self._prepared: set[str] = set()
        self._read: dict[str, int] = {}

    async def run(self, ref: str | None) -> None:
        """Talk until the person leaves; raises `BridgeGone` if the bridge leaves first."""
        self.model.columns = self.screen.columns
        state = await self.client.request("sidekicks/state/get", Empty(), BridgeState, self.model.know)
        if PurePath(state.config.path).parent == PurePath(self.model.folder):
            self.model.say(f"This folder's own configuration is in use: {state.config.path}", DIM)
        first = await self._first_channel(state, ref)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._draw)
            tasks.start_soon(self._preview)
            tasks.start_soon(self._watch_bridge)
            tasks.start_soon(self._watch_signals)
            if first is not None:
                self.do(self.open, first)
            elif self.picker.question is None:
                self.new_channel()
            await self.screen.app.run_async(handle_sigint=False)
            if self.model.channel is not None and not self.client.ended.is_set():
                await self._keep_draft(self.model.channel.id)
            tasks.cancel_scope.cancel()
        if self.client.ended.is_set():
            raise BridgeGone(self.client.end_reason + self._unsent())

    def channel_id(self) -> str | None:
        """The channel on screen."""
        return self.model.channel.id if self.model.channel is not None else None

    def do(self, act: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Start ``act``; what the bridge refuses is said on the screen."""
        assert self._tasks is not None
        self._tasks.start_soon(self._guarded, act, *arguments)

    def changed(self) -> None:
        """Something is to be drawn, with the next frame."""
        self._wake.set()

    def event(self, name: str, raw: bytes) -> None:
        """The client's callback: one notification of the bridge."""
        self.model.event(name, raw)
        if name in ("sidekicks/permission/requested", "sidekicks/auth/required", "sidekicks/elicitation/requested"):
            self.screen.app.output.bell()
        self.changed()

    def ask(self, question: Question) -> None:
        """Show a list to pick from instead of the composer."""
        self.picker.show(question)
        self.screen.focus(picker=True)
        self.changed()

    async def open(self, channel: Channel, *, carry: bool = False) -> None:
        """Bring ``channel`` on screen; what stands in the composer stays where it was, or comes along (``carry``)."""
        before = self.channel_id()
        if before is not None and before != channel.id:
            if not carry:
                await self._keep_draft(before)
                self.composer.put("")
            await self.client.request("sidekicks/channel/close", ChannelRef(channel_id=before), Empty)
        asked = OpenChannel(channel_id=channel.id, limit=self._history)
        snapshot = await self.client.request("sidekicks/channel/open", asked, OpenedChannel, self.model.opened)
        self.composer.remember(_typed_texts(snapshot))
        if snapshot.draft and not self.composer.text:
            self.composer.put(snapshot.draft)
        self.questions.root = snapshot.other_root
        if snapshot.other_root is not None:
            self.questions.other_root()
        self._retype.set()
        self.changed()

    def send(self) -> None:
        """Send what stands in the composer."""
        if self.model.channel is None or not self.composer.text.strip():
            return
        if self.questions.root is not None:
            self.questions.other_root()
            return
        self._route, self.screen.route = None, []
        self.do(self._send, self.model.channel.id, self.composer.take())

    def cancel_or_leave(self) -> None:
        """Ctrl-C: cancel the running turn; leave when nothing runs, or the second time within a second.

        What stands in the composer goes first."""
        if self.composer.text:
            self.composer.put("")
            return
        now = time.monotonic()
        again = now - self._interrupted < _TWICE
        self._interrupted = now
        channel_id = self.channel_id()
        if again:
            self.leave()
        elif self.model.busy and channel_id is not None:
            self.do(self.client.request, "sidekicks/turn/cancel", CancelTurn(channel_id=channel_id), Empty)
        else:
            self.leave()

    def leave(self) -> None:
        """End the conversation."""
        if self.screen.app.is_running and not self.screen.app.is_done:
            self.screen.app.exit()

    def accept_suggestion(self) -> bool:
        """Put the route's suggestion in place; False if there is none."""
        return self.composer.accept(self._route.problem if self._route is not None else None)

    def pick_channel(self) -> None:
        """Ctrl-O."""
        self.questions.pick_channel()

    def new_channel(self) -> None:
        """Ctrl-N."""
        self.questions.new_channel()

    def members(self) -> None:
        """Ctrl-T."""
        self.questions.members()

    def unqueue(self) -> None:
        """Ctrl-Q."""
        self.questions.unqueue()

    def picked(self) -> None:
        """Enter in a list."""
        item = self.picker.chosen()
        if item is not None:
            self.close_picker()
            self.do(item.pick)

    def close_picker(self) -> None:
        """Esc in a list."""
        self.picker.close()
        self.screen.focus(picker=False)
        self.changed()

    def earlier(self) -> None:
        """PageUp: print the page of messages before the first one that was printed."""
        self.do(self._earlier)

    def help(self) -> None:
        """F1: print what the keys do."""
        rows: list[Line] = [[(BOLD, f"{key:<20}"), ("", what)] for key, what in HELP]
        self.model.show([[], *indented(rows, [("", "  ")])])
        self.changed()

    def question_open(self) -> bool:
        """Whether a permission question stands in this channel."""
        return self.model.desk.current(self.channel_id()) is not None

    def answer(self, digit: int) -> bool:
        """Answer the question by its digit (0 prints all of it); False if the digit means nothing now."""
        question = self.model.desk.current(self.channel_id())
        if question is None or self.model.desk.postponed(question):
            return False
        if digit == 0:
            root = self.model.channel.root if self.model.channel else None
            lines = render.subject_lines(question.tool_call, root, self.model.columns - 4, None)
            self.model.show([[], *indented(lines, [("", "    ")])])
            self.changed()
            return True
        option = self.model.desk.chosen(question, digit, time.monotonic())
        if option is None:
            return False
        self.do(self._answer, question.request_id, option.option_id)
        return True

    def question_later(self) -> None:
        """Esc: leave the question open, or take it up again."""
        question = self.model.desk.current(self.channel_id())
        if question is not None:
            self.model.desk.toggle(question, time.monotonic())
            self.changed()

    async def _answer(self, request_id: str, option_id: str) -> None:
        answer = AnswerPermission(request_id=request_id, option_id=option_id)
        counted = await self.client.request("sidekicks/permission/answer", answer, Accepted)
        if not counted.accepted:
            self.model.say("That question was answered or cancelled already.", DIM)
        self.model.desk.close(request_id)

    async def _send(self, channel_id: str, text: str) -> None:
        try:
            await self.client.request(
                "sidekicks/message/send", SendMessage(channel_id=channel_id, text=text), SentMessage
            )
        except (BridgeError, BridgeGone):
            if not self.composer.text:
                self.composer.put(text)  # nothing typed is lost
            raise

    async def _earlier(self) -> None:
        channel_id, before = self.channel_id(), self.model.earliest
        if channel_id is None or before is None:
            return
        asked = ListMessages(channel_id=channel_id, before=before, limit=self._history)
        await self.client.request(
            "sidekicks/message/list", asked, MessagePage, lambda page: self.model.earlier(page.messages)
        )

    async def _guarded(self, act: Callable[..., Awaitable[None]], *arguments: object) -> None:
        try:
            await act(*arguments)
        except BridgeError as refused:
            self.model.say(refused.message, ERROR)
        except BridgeGone:
            return  # `_watch_bridge` ends the conversation and says why
        self.changed()

    async def _first_channel(self, state: BridgeState, ref: str | None) -> Channel | None:
        if ref is None:
            return default_channel(state, self.model.folder)
        try:
            return await find_channel(self.client, state, ref)
        except UnknownChannel as unknown:
            if ref.startswith("@"):
                raise
            self.model.say(str(unknown), ERROR)
            self.ask(self.questions.unknown_channel(unknown.name))
            return None

    async def _keep_draft(self, channel_id: str) -> None:
        draft = ChannelText(channel_id=channel_id, text=self.composer.text)
        await self.client.request("sidekicks/draft/set", draft, Empty)

    def _unsent(self) -> str:
        return f"\nNot sent: {safe(self.composer.text)}" if self.composer.text.strip() else ""

    def _placeholder(self) -> str:
        channel = self.model.channel
        return f"message {slug(channel)} · @ agents · / commands · F1 keys" if channel else "Ctrl-O picks a channel"

    def _typed(self) -> None:
        self._retype.set()

    async def _draw(self) -> None:
        """Draw at most one frame in 40 ms, and a slow tick while something runs."""
        while True:
            with anyio.move_on_after(_TICK if self.model.busy else None):
                await self._wake.wait()
            self._wake = anyio.Event()
            self._frame()
            if self.model.desynced and self.model.channel is not None:
                self.model.desynced = False
                self.do(self.open, self.model.channel)
            await anyio.sleep(_FRAME)

    def _frame(self) -> None:
        model, screen = self.model, self.screen
        model.resize(screen.columns)
        final = model.printable()
        room = screen.rows - (_ROWS_BELOW if self.picker.question is None else _ROWS_OF_LIST)
        screen.live = model.live(max(room, 4))
        screen.footer = model.footer()
        screen.draw(final)
        if final:
            self._retype.set()
        channel_id = self.channel_id()
        seq = model.read_up_to.get(channel_id or "", 0)
        if channel_id is not None and seq > self._read.get(channel_id, 0):
            self._read[channel_id] = seq
            self.do(self.client.request, "sidekicks/channel/markRead", MarkRead(channel_id=channel_id, seq=seq), Empty)

    async def _preview(self) -> None:
        """Ask where the text would go, after each pause in typing, one question at a time."""
        while True:
            await self._retype.wait()
            await anyio.sleep(_PAUSE_IN_TYPING)
            self._retype = anyio.Event()
            channel_id, text = self.channel_id(), self.composer.text
            route: Route | None = None
            if channel_id is not None and text.strip():
                await self._prepare(channel_id, text)
                asked = ChannelText(channel_id=channel_id, text=text)
                try:
                    route = await self.client.request("sidekicks/message/preview", asked, Route)
                except (BridgeError, BridgeGone):
                    route = None
            self._route = route
            line = status.route_line(route, self.model.names, self.model.channels, self.model.columns) if route else []
            self.screen.route = line
            self.screen.app.invalidate()

    async def _prepare(self, channel_id: str, text: str) -> None:
        """The first `/` in a conversation lets the members announce their commands (design rule 8)."""
        if text.lstrip().startswith("/") and channel_id not in self._prepared:
            self._prepared.add(channel_id)
            self.do(
                self.client.request, "sidekicks/channel/prepare", ChannelRef(channel_id=channel_id), PreparedCommands
            )

    async def _watch_bridge(self) -> None:
        await self.client.ended.wait()
        self.leave()

    async def _watch_signals(self) -> None:
        """Leave in order when the terminal closes or somebody ends us."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
            async for _ in signals:
                self.leave()


def _typed_texts(snapshot: OpenedChannel) -> list[str]:
    """What the user sent here, oldest first."""
    return [
        "".join(part.text for part in message.parts if isinstance(part, TextPart))
        for message in snapshot.messages
        if message.author.kind == "user"
    ]
