"""One turn of a built-in agent: the prompt it got, and everything it may do to the client while it answers.

Owns the cancel flag of the turn and the shapes of the updates it sends. Runs on the turn's own thread; only
`Turn.cancel` is called from the thread that reads.
"""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from sidekicks_bridge.builtin.rpc import Json, RpcError, Wire, result_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

CHUNK_LENGTH = 24  # characters a streamed piece has at least; small enough to be seen growing
_WORD = re.compile(r"\S*\s+|\S+")


class TurnCancelledError(Exception):
    """Raised on the turn's thread as soon as it notices that the client cancelled."""


class ClientFiles(NamedTuple):
    """Which file methods the client offers, from its capabilities."""

    reads: bool
    writes: bool


class Turn:
    """A prompt being answered. Every method may raise TurnCancelledError once the turn is cancelled."""

    def __init__(self, wire: Wire, session_id: str, prompt: list[Json], files: ClientFiles) -> None:
        self._wire = wire
        self._session_id = session_id
        self._cancelled = threading.Event()
        self._on_cancel: Callable[[], None] | None = None
        self.files = files
        self.text = "\n".join(block["text"] for block in prompt if isinstance(block.get("text"), str))
        self.attached = [_path_of(block) for block in prompt if isinstance(block.get("uri"), str)]

    def cancel(self) -> None:
        """Stop the turn: its waits end at once, its thread at the next `check`."""
        self._cancelled.set()
        stop = self._on_cancel
        if stop is not None:
            stop()

    @property
    def cancelled(self) -> bool:
        """Whether the client cancelled."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise TurnCancelledError if the turn was cancelled; called in every loop that may be long."""
        if self._cancelled.is_set():
            raise TurnCancelledError

    def when_cancelled(self, stop: Callable[[], None] | None) -> None:
        """Have ``stop`` called (on the reading thread) at a cancel, or nothing any more."""
        self._on_cancel = stop
        if stop is not None and self._cancelled.is_set():
            stop()

    def say(self, text: str) -> None:
        """Stream Markdown to the client in small pieces."""
        piece = ""
        for word in _WORD.findall(text):
            piece += word
            if len(piece) >= CHUNK_LENGTH or "\n" in word:
                self._say_piece(piece)
                piece = ""
        if piece:
            self._say_piece(piece)

    def _say_piece(self, piece: str) -> None:
        self.check()
        self.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": piece}})

    def update(self, update: Json) -> None:
        """Send one session/update."""
        self._wire.notify("session/update", {"sessionId": self._session_id, "update": update})

    def request(self, method: str, params: Json, *, patience: float | None = None) -> Json:
        """Ask the client for something and return its result; raise RpcError when it refuses.

        A cancel ends the wait, unless ``patience`` (seconds) is given: then the answer is awaited through a
        cancel too, for what must not be left in doubt, and its absence is an RpcError.
        """
        self.check()
        reply = self._wire.request(method, {"sessionId": self._session_id, **params})
        if patience is None:
            self.when_cancelled(lambda: reply.settle(None))
        frame = reply.wait(patience)
        self.when_cancelled(None)
        if frame is not None:
            return result_of(frame)
        self.check()
        raise RpcError(0, f"the editor did not answer {method} within {patience or 0:.0f} s")

    def tool(self, title: str, kind: str, raw_input: Json, locations: list[Json] | None = None) -> ToolCall:
        """Announce a tool call (pending) and return it, to be used in a ``with`` block."""
        return ToolCall(self, f"call-{os.urandom(4).hex()}", title, kind, raw_input, locations or [])


class ToolCall:
    """A tool call: in progress inside its ``with`` block, failed if that is left before `complete`."""

    def __init__(self, turn: Turn, call_id: str, title: str, kind: str, raw_input: Json, locations: list[Json]) -> None:
        self._turn = turn
        self._open = True
        self.announced: Json = {
            "toolCallId": call_id,
            "title": " ".join(title.split()),
            "kind": kind,
            "status": "pending",
            "locations": locations,
            "rawInput": raw_input,
        }
        turn.update({"sessionUpdate": "tool_call", **self.announced})

    def __enter__(self) -> ToolCall:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open:
            self.fail(str(error) or "cancelled")

    def begin(self) -> None:
        """Say that the work started."""
        self._send({"status": "in_progress"})

    def complete(self, content: list[Json], locations: list[Json] | None = None) -> None:
        """Say that the work is done, with what it produced."""
        self._open = False
        changed: Json = {"status": "completed", "content": content}
        self._send(changed if locations is None else {**changed, "locations": locations})

    def fail(self, reason: str) -> None:
        """Say that nothing came of it, and why."""
        self._open = False
        self._send({"status": "failed", "content": [text_content(reason)]})

    def _send(self, changed: Json) -> None:
        self._turn.update({"sessionUpdate": "tool_call_update", "toolCallId": self.announced["toolCallId"], **changed})


def text_content(text: str) -> Json:
    """Return tool call content that is a text."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def _path_of(block: Json) -> str:
    uri: str = block["uri"]
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
