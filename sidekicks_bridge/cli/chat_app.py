"""`sidekicks chat` in a terminal: joins the bridge, the model and the screen, and does what keys ask for.

Owns the life of the conversation: opening channels, sending, previews, drawing in frames. Rules live in the bridge.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import PurePath
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli import render
from sidekicks_bridge.cli.channel_ref import UnknownChannel, default_channel, find_channel, slug
from sidekicks_bridge.cli.chat_agents import ChatAgents
from sidekicks_bridge.cli.chat_draft import Draft
from sidekicks_bridge.cli.chat_files import ChatFiles
from sidekicks_bridge.cli.chat_keys import bindings, help_lines
from sidekicks_bridge.cli.chat_preview import Preview
from sidekicks_bridge.cli.chat_prompts import ChatPrompts
from sidekicks_bridge.cli.chat_questions import ChatQuestions
from sidekicks_bridge.cli.chat_screen import Screen
from sidekicks_bridge.cli.chat_send import Sender, typed_texts
from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.composer import BridgeCompleter, Composer
from sidekicks_bridge.cli.config import check_usable
from sidekicks_bridge.cli.picker import Picker, Question
from sidekicks_bridge.cli.style import DIM, ERROR, indented
from sidekicks_bridge.cli.text import safe
from sidekicks_bridge.protocol.events import (
    BridgeStopping,
    ChannelsChanged,
    ConfigChanged,
    DraftChanged,
    MessageUpdated,
)
from sidekicks_bridge.protocol.requests import (
    Accepted,
    AnswerPermission,
    CancelTurn,
    ChannelRef,
    Empty,
    ListMessages,
    MarkRead,
    MessagePage,
    OpenChannel,
    OpenedChannel,
)
from sidekicks_bridge.protocol.requests import State as BridgeState
from sidekicks_bridge.protocol.types import Elicitation, Permission, SignIn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from sidekicks_bridge.cli.chat_attachment import Attachment
    from sidekicks_bridge.cli.chat_model import ChatModel
    from sidekicks_bridge.protocol.types import Channel

_FRAME = 0.04
_TICK = 0.25
_TWICE = 1.0
_ROWS_BELOW = 10
"""Rows kept free for what stands below the live area: composer, completions, toolbar."""
_ROWS_OF_LIST = 16
_MOST_MESSAGES = 500
"""How many messages a snapshot may hold: after a gap, all that may have come in it."""


class ChatApp:
    """One run of the terminal client. Its methods without ``async`` are what keys call: they return at once."""

    def __init__(self, attachment: Attachment, model: ChatModel, history: int) -> None:
        self.attachment = attachment
        self.model = model
        self.picker = Picker()
        self.composer = Composer(BridgeCompleter(lambda: self.client, self.channel_id), self._typed)
        self.draft = Draft(self.composer)
        self.preview = Preview(self)
        self.questions = ChatQuestions(self)
        self.agents = ChatAgents(self)
        self.prompts = ChatPrompts(self)
        self.files = ChatFiles(self)
        self.screen = Screen(self.composer, self.picker, bindings(self), self._placeholder)
        self._history = history
        self._sender = Sender(self.composer, self.files)
        self._gone: BridgeGone | None = None
        self._wake = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._interrupted = -_TWICE
        self._read: dict[str, int] = {}

    @property
    def client(self) -> BridgeClient:
        """The connection to the bridge of now."""
        return self.attachment.client

    async def run(self, ref: str | None) -> None:
        """Talk until the person leaves; raises `BridgeGone` when the bridge is gone and no other one comes up."""
        self.model.columns = self.screen.columns
        state = await self.client.request("sidekicks/state/get", Empty(), BridgeState, self.model.know)
        check_usable(state)
        if PurePath(state.config.path).parent == PurePath(self.model.folder):
            self.model.say(f"This folder's own configuration is in use: {state.config.path}", DIM)
        first = await self._first_channel(state, ref)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._draw)
            tasks.start_soon(self.preview.run)
            tasks.start_soon(self._stay_attached)
            tasks.start_soon(self._watch_signals)
            if first is not None:
                self.do(self.open, first)
            elif self.picker.question is None:
                self.questions.new_channel()
            await self.screen.app.run_async(handle_sigint=False)
            await self.keep_draft()
            tasks.cancel_scope.cancel()
        if self._gone is not None:
            raise BridgeGone(str(self._gone) + self._unsent())

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
        event = self.model.event(name, raw)
        if isinstance(event, Permission | SignIn | Elicitation):
            self.screen.app.output.bell()
        if isinstance(event, Permission):
            if event.channel_id == self.channel_id():
                self.draft.make_room()
        elif isinstance(event, ChannelsChanged | ConfigChanged) and self.model.channel is None:
            self.draft.deleted()
        elif isinstance(event, DraftChanged):
            self.draft.changed(event.channel_id, event.text, asked=self.question_open())
        elif isinstance(event, MessageUpdated) and event.client_token is not None:
            self._sender.arrived(event.client_token)
        elif isinstance(event, BridgeStopping):
            self.attachment.stopping = True
        self.changed()

    def ask(self, question: Question) -> None:
        """Show a list to pick from instead of the composer."""
        self.picker.show(question)
        self.screen.focus(picker=True)
        self.changed()

    async def open(self, channel: Channel, *, carry: bool = False) -> None:
        """Bring ``channel`` on screen; what stands in the composer stays where it was, or comes along (``carry``)."""
        before = self.channel_id()
        again = before == channel.id
        if before is not None and not again:
            await self.draft.leave(self.client, carry=carry)
            await self.client.request("sidekicks/channel/close", ChannelRef(channel_id=before), Empty)
        asked = OpenChannel(channel_id=channel.id, limit=_MOST_MESSAGES if again else self._history)
        snapshot = await self.client.request("sidekicks/channel/open", asked, OpenedChannel, self.model.opened)
        self.composer.remember(typed_texts(snapshot))
        self.draft.opened(channel.id, snapshot.draft or "")
        if not again:
            self.questions.root = snapshot.other_root
            if snapshot.other_root is not None:
                self.questions.tell_other_root()
        self.preview.ask()
        self.changed()

    def send(self) -> None:
        """Send what stands in the composer."""
        self.attachment.want()
        if self.model.channel is None or not (self.composer.text.strip() or self.files.waiting):
            return
        if self.questions.root is not None:
            self.questions.other_root()
            return
        self.preview.clear()
        text = self.composer.take().rstrip()
        self.do(self.keep_draft)
        self.do(self._sender.send, self.client, self.model.channel.id, text, self.files.take())

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
        return self.preview.accept()

    def picked(self) -> None:
        """Enter in a list."""
        item = self.picker.chosen()
        if item is None or item.pick is None or self.picker.busy:
            return
        self.attachment.want()
        if item.stays:
            self.do(self._pick, item.pick)
        else:
            self.close_picker()
            self.do(item.pick)

    async def _pick(self, pick: Callable[[], Awaitable[None]]) -> None:
        """Do what was picked, the list staying open until it is done; what is typed meanwhile is for the composer."""
        picker, question, typed = self.picker, self.picker.question, self.picker.buffer.text
        picker.busy = True
        try:
            await pick()
        except BridgeError as refused:
            if picker.question is not question:
                raise
            picker.problem = refused.message
        else:
            if picker.question is question:
                more = picker.buffer.text.removeprefix(typed)
                self.close_picker()
                self.composer.buffer.insert_text(more)
        finally:
            picker.busy = False
        self.changed()

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
        self.model.show([[], *indented(help_lines(self.model.columns - 2), [("", "  ")])])
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
            return  # `_stay_attached` sees to it
        self.changed()

    async def keep_draft(self) -> None:
        """Tell the bridge what stands in the composer; without one it is told later."""
        if not self.client.ended.is_set():
            await self._guarded(self.draft.keep, self.client)

    async def _first_channel(self, state: BridgeState, ref: str | None) -> Channel | None:
        if ref is None:
            return default_channel(state, self.model.folder)
        try:
            return await find_channel(self.client, state, ref)
        except UnknownChannel as unknown:
            if ref.startswith("@"):
                raise
            self.model.say(str(unknown), ERROR)
            self.ask(self.questions.unknown_channel(unknown))
            return None

    def _unsent(self) -> str:
        return f"\nNot sent: {safe(self.composer.text)}" if self.composer.text.strip() else ""

    def _placeholder(self) -> str:
        channel = self.model.channel
        return f"message {slug(channel)} · @ agents · / commands · F1 keys" if channel else "Ctrl-O picks a channel"

    def _typed(self) -> None:
        self.preview.ask()
        self.attachment.want()

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
        screen.footer = [*self.files.lines(), *model.footer()]
        screen.draw(final)
        if final:
            self.preview.ask()
        channel_id = self.channel_id()
        seq = model.read_up_to.get(channel_id or "", 0)
        if channel_id is not None and seq > self._read.get(channel_id, 0):
            self._read[channel_id] = seq
            self.do(self.client.request, "sidekicks/channel/markRead", MarkRead(channel_id=channel_id, seq=seq), Empty)

    async def _stay_attached(self) -> None:
        self._gone = await self.attachment.hold(self._lost, self._back)
        self.leave()

    def _lost(self, reason: str) -> None:
        if self.attachment.stopping:
            self.model.lost("The bridge was stopped.", "The bridge was stopped. Type, and it is started anew.")
        else:
            self.model.lost(reason, "The bridge has ended. Attaching again…")
        self.preview.clear()
        self.changed()

    async def _back(self) -> None:
        """There is a bridge again: show what became of the channel meanwhile. What is being typed stays."""
        await self.client.request("sidekicks/state/get", Empty(), BridgeState, self.model.know)
        if self.model.channel is not None:
            await self._guarded(self.open, self.model.channel)

    async def _watch_signals(self) -> None:
        """Leave in order when the terminal closes or somebody ends us."""
        if sys.platform == "win32":
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
            async for _ in signals:
                self.leave()
