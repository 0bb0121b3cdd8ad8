"""Newline-delimited JSON-RPC on standard input and output, for one agent process.

It owns framing, the ids of the agent's own requests and the log of what came in. It must not know ACP, and
it never "repairs" anything: `Wire.raw` is how the bad behaviours reach the client untouched.
"""

from __future__ import annotations

import json
import os
import sys
import threading

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tests.fake_agent.log import Recorder

    JSON = dict[str, Any]
    Id = int | str | None

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


class RefusedError(Exception):
    """A request is answered with this JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def body(self) -> JSON:
        """The error as JSON-RPC has it."""
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **data}


def encode(message: JSON) -> bytes:
    """One frame, its newline included."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Asked:
    """A request of the agent that the client has not answered yet."""

    def __init__(self, ask_id: int | str) -> None:
        self.id = ask_id
        self._answered = threading.Event()
        self._reply: JSON = {}

    def settle(self, reply: JSON) -> None:
        self._reply = reply
        self._answered.set()

    def wait(self) -> JSON:
        """The client's whole reply. No time limit: a client that never answers hangs its agent."""
        self._answered.wait()
        return self._reply


class Wire:
    """The two streams. ``string_ids`` makes the agent's own requests carry strings, ``prefix`` precedes each
    frame."""

    def __init__(self, recorder: Recorder, *, string_ids: bool = False, prefix: bytes = b"") -> None:
        self._recorder = recorder
        self._string_ids = string_ids
        self._prefix = prefix
        self._out = sys.stdout.buffer
        self._lock = threading.Lock()
        self._asked: dict[int | str, Asked] = {}
        self._count = 0

    def messages(self) -> Iterator[JSON]:
        """Every JSON object on standard input, logged; ends with the input."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                self._recorder.write("received", message=message)
                yield message
            else:
                self._recorder.write("unreadable", line=line[:200].decode(errors="replace"))
        self._recorder.write("eof")

    def raw(self, data: bytes) -> None:
        """Write bytes as they are. A client that is gone is no error: the end of input ends the process."""
        with self._lock:
            try:
                self._out.write(data)
                self._out.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(self, message: JSON) -> None:
        self.raw(self._prefix + encode(message))

    def notify(self, method: str, params: JSON) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, request_id: Id, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def refuse(self, request_id: Id, error: RefusedError) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "error": error.body()})

    def ask(self, method: str, params: JSON) -> Asked:
        """Send a request to the client; `Asked.wait` gives the reply."""
        with self._lock:
            self._count += 1
            asked = Asked(f"ask-{self._count}" if self._string_ids else self._count)
            self._asked[asked.id] = asked
        self.send({"jsonrpc": "2.0", "id": asked.id, "method": method, "params": params})
        return asked

    def settle(self, reply: JSON) -> None:
        """Hand a reply of the client to whoever asked; one that nobody asked for is only in the log."""
        asked = self._asked.pop(reply.get("id", ""), None)
        if asked:
            asked.settle(reply)


def outcome(reply: JSON) -> str:
    """A reply in words: its result as JSON, or ``error CODE MESSAGE``."""
    error = reply.get("error")
    if error:
        return f"error {error.get('code')} {error.get('message')}"
    return json.dumps(reply.get("result"), ensure_ascii=False)
