"""JSON-RPC 2.0 over two byte streams, one JSON object a line: the ground the built-in agents stand on.

Owns framing, request ids and the futures of our own requests. Knows no ACP method and starts no thread; any
thread may send. The ACP SDK is not used here on purpose: importing it takes half a second and 60 MB.
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """A request that failed, on either side: ``code`` and ``message`` as JSON-RPC carries them."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Reply:
    """The answer to one of our requests, once it came (or once it was given up)."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self._frame: Json | None = None

    def settle(self, frame: Json | None) -> None:
        """Hand over the response frame, or None when nobody should wait for it any longer."""
        if not self._settled.is_set():
            self._frame = frame
            self._settled.set()

    def wait(self, seconds: float | None) -> Json | None:
        """Return the response frame; None when it was given up or did not come in time."""
        self._settled.wait(seconds)
        return self._frame


class Wire:
    """Both directions of one connection; writing is serialised, so frames of several threads never mix."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._last_id = 0
        self._waiting: dict[int, Reply] = {}

    def lines(self) -> Iterator[bytes]:
        """Yield the incoming lines until the stream ends."""
        with os.fdopen(self._source, "rb", closefd=False) as stream:
            yield from stream

    def send(self, frame: Json) -> None:
        """Write one frame; once the client is gone it is dropped (whoever reads sees the end of the stream).

        Lone surrogates (undecodable file names) become ``?``: the line is always UTF-8.
        """
        text = json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False, separators=(",", ":"))
        rest = memoryview(text.encode("utf-8", errors="replace") + b"\n")
        with self._writing:
            try:
                while rest:
                    # Unbuffered: a buffered writer held by a thread would abort the interpreter at exit.
                    rest = rest[os.write(self._sink, rest) :]
            except BrokenPipeError:
                return

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def request(self, method: str, params: Json) -> Reply:
        """Send a request and return the place where its answer will be."""
        reply = Reply()
        with self._writing:
            self._last_id += 1
            request_id = self._last_id
        self._waiting[request_id] = reply
        self.send({"id": request_id, "method": method, "params": params})
        return reply

    def settle(self, frame: Json) -> None:
        """Take a response frame; one that nobody waits for is dropped."""
        request_id = frame.get("id")
        reply = self._waiting.pop(request_id, None) if isinstance(request_id, int) else None
        if reply is not None:
            reply.settle(frame)

    def respond(self, request_id: Any, result: Json) -> None:
        """Answer a request."""
        self.send({"id": request_id, "result": result})

    def refuse(self, request_id: Any, error: RpcError) -> None:
        """Answer a request, or a line that is none (then the id is None), with an error."""
        self.send({"id": request_id, "error": {"code": error.code, "message": error.message}})


def parse_line(line: bytes) -> Json:
    """Return the frame on a line; raise RpcError for what is not a JSON object."""
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"This line is not JSON: {error}") from error
    if not isinstance(frame, dict):
        raise RpcError(INVALID_REQUEST, "A frame must be a JSON object.")
    return frame


def result_of(frame: Json) -> Json:
    """Return the result in a response frame (a missing or null one is empty); raise its error as RpcError."""
    error = frame.get("error")
    if error is not None:
        known = error if isinstance(error, dict) else {"message": str(error)}
        code = known.get("code")
        raise RpcError(
            code if isinstance(code, int) else INTERNAL_ERROR, str(known.get("message") or "no reason given")
        )
    result = frame.get("result")
    return result if isinstance(result, dict) else {}
