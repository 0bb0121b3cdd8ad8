"""The command line's side of the protocol: one connection to a bridge, requests with replies, events to a callback.

Owns framing and matching of replies. It knows neither terminals nor what events mean, and imports no LSP or ACP
library. Any byte stream will do: today the pipes of a process it starts (`cli.spawn`), later a socket.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import msgspec

from sidekicks_bridge.cli.reach import BridgeGone as BridgeGone  # said by those who talk as by those who connect
from sidekicks_bridge.cli.tolerant import decode
from sidekicks_bridge.protocol import PROTOCOL_VERSION
from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.errors import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import ByteStream

    from sidekicks_bridge.protocol.base import Wire

T = TypeVar("T")

_MAX_HEADER = 4096


class ReplyError(msgspec.Struct):
    """A JSON-RPC error as it arrives."""

    code: int
    message: str
    data: Any = None


class _Frame(msgspec.Struct):
    """A JSON-RPC message, its payloads still encoded."""

    id: Any = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: ReplyError | None = None


class BridgeError(Exception):
    """The bridge refused a request. ``code`` is one of the protocol's string codes, or ``bug``."""

    def __init__(self, code: str, message: str, details: dict[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class _Waiting:
    """A request on its way. ``take`` runs where the reply stands among the events: a snapshot is applied in order."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self.take = take
        self.done = anyio.Event()
        self.failure: Exception | None = None

    def resolve(self, frame: _Frame) -> None:
        if frame.error is not None:
            self.failure = _refusal(frame.error)
        else:
            try:
                self.take(bytes(frame.result))
            except msgspec.ValidationError as problem:
                self.failure = BridgeError("bug", f"The bridge's answer is not as agreed: {problem}", {})
        self.done.set()


class BridgeClient:
    """A connection to a bridge. `run` must run in a task group for as long as it is used.

    ``on_event(name, params)`` gets every notification, in order, params as JSON bytes; it must not block.
    """

    def __init__(self, stream: ByteStream, on_event: Callable[[str, bytes], None]) -> None:
        self._stream = stream
        self._on_event = on_event
        self._waiting: dict[int, _Waiting] = {}
        self._last_id = 0
        self._sending = anyio.Lock()
        self._frames = msgspec.json.Decoder(_Frame)
        self.ended = anyio.Event()
        self.end_reason = ""

    async def run(self) -> str | None:
        """Read until the connection ends; answers what was wrong if the other side does not speak the protocol."""
        try:
            await self._read()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # the other end hung up in the middle of something
        except BridgeGone as problem:
            return str(problem)
        except msgspec.DecodeError as problem:
            return f"The bridge wrote something that is not the protocol: {problem}"
        return None

    def hang_up(self, reason: str) -> None:
        """The connection is over: every waiting and every later request raises `BridgeGone` with ``reason``."""
        self.end_reason = reason
        self.ended.set()
        for waiting in self._waiting.values():
            waiting.failure = BridgeGone(reason)
            waiting.done.set()

    async def initialize(self, options: dict[str, Any], folder: str | None) -> None:
        """Shake hands; ``folder`` becomes this client's root. Raises `BridgeGone` for another protocol version."""
        folders = [{"uri": _folder_uri(folder), "name": Path(folder).name or folder}] if folder else None
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": "sidekicks"},
            "rootUri": folders[0]["uri"] if folders else None,
            "workspaceFolders": folders,
            "capabilities": {"general": {"positionEncodings": ["utf-16"]}},
            "initializationOptions": {"sidekicks": {"protocolVersion": PROTOCOL_VERSION, **options}},
        }
        try:
            answer = await self._call("initialize", encode(params), msgspec.json.decode)
        except BridgeError as refused:
            raise BridgeGone(f"The bridge refused to talk to this client: {refused.message}") from refused
        spoken = _spoken_version(answer)
        if spoken != PROTOCOL_VERSION:
            raise BridgeGone(
                f"This client speaks protocol version {PROTOCOL_VERSION}, the bridge {spoken or 'none that it names'}. "
                "Install the same version of Sidekicks Bridge for both."
            )
        await self._send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    async def request(self, method: str, params: Wire, result: type[T], apply: Callable[[T], None] | None = None) -> T:
        """Ask the bridge; raises `BridgeError` if it refuses, `BridgeGone` if it ends before it answered.

        ``apply`` gets the result before any event that follows it: how a snapshot is put in place.
        """

        def read(raw: bytes) -> T:
            value = decode(raw, result)
            if apply is not None:
                apply(value)
            return value

        return await self._call(method, encode(params), read)

    async def shut_down(self) -> None:
        """Say goodbye as LSP wants it, as far as the bridge still listens; raises nothing."""
        try:
            await self._call("shutdown", b"null", bytes)
            await self._send({"jsonrpc": "2.0", "method": "exit"})
        except (BridgeGone, BridgeError):
            pass  # it is gone already, or goes in its own way

    async def _call(self, method: str, params: bytes, read: Callable[[bytes], T]) -> T:
        if self.ended.is_set():
            raise BridgeGone(self.end_reason)
        answer: list[T] = []
        self._last_id += 1
        number = self._last_id
        waiting = self._waiting[number] = _Waiting(lambda raw: answer.append(read(raw)))
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": msgspec.Raw(params)})
            await waiting.done.wait()
        finally:
            del self._waiting[number]
        if waiting.failure is not None:
            raise waiting.failure
        return answer[0]

    async def _send(self, message: dict[str, Any]) -> None:
        body = encode(message)
        try:
            async with self._sending:
                await self._stream.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as problem:
            await self.ended.wait()
            raise BridgeGone(self.end_reason) from problem

    async def _read(self) -> None:
        buffer = bytearray()
        async for chunk in self._stream:
            buffer += chunk
            start = 0
            while (found := _next_frame(buffer, start)) is not None:
                body, start = found
                await self._take(body)
            del buffer[:start]

    async def _take(self, body: bytes) -> None:
        frame = self._frames.decode(body)
        if frame.method is None:
            waiting = self._waiting.get(frame.id)
            if waiting is not None:
                waiting.resolve(frame)
        elif frame.id is None:
            self._on_event(frame.method, bytes(frame.params))
        else:
            await self._answer(frame)

    async def _answer(self, frame: _Frame) -> None:
        """Answer what a bridge asks of an editor: unsaved buffers we have none, everything else we do not know."""
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": frame.id}
        if frame.method == "sidekicks/document/read":
            reply["result"] = {}
        elif frame.method in ("client/registerCapability", "window/workDoneProgress/create"):
            reply["result"] = None
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"Unknown method {frame.method}"}
        await self._send(reply)


def _next_frame(buffer: bytearray, start: int) -> tuple[bytes, int] | None:
    """The body of the frame at ``start`` and where the next begins; None while it is incomplete."""
    end = buffer.find(b"\r\n\r\n", start)
    if end < 0:
        if len(buffer) - start > _MAX_HEADER:
            raise BridgeGone("The bridge wrote something that is not the protocol; is another program named like it?")
        return None
    length = math.inf
    for header in bytes(buffer[start:end]).split(b"\r\n"):
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
    if length == math.inf:
        raise BridgeGone("The bridge wrote a frame without a length; it does not speak this protocol.")
    stop = end + 4 + int(length)
    return (bytes(buffer[end + 4 : stop]), stop) if len(buffer) >= stop else None


def _refusal(error: ReplyError) -> BridgeError:
    data = error.data if isinstance(error.data, dict) else {}
    if "errorId" in data:
        return BridgeError("bug", f"{error.message} (a bug in the bridge; its log has {data['errorId']})", {})
    details = data.get("details")
    return BridgeError(str(data.get("code", error.code)), error.message, details if isinstance(details, dict) else {})


def _spoken_version(answer: Any) -> object:
    try:
        return answer["capabilities"]["experimental"]["sidekicks"]["protocolVersion"]
    except (KeyError, TypeError):
        return None


def _folder_uri(folder: str) -> str:
    from urllib.parse import quote

    path = folder.replace(os.sep, "/")
    return "file://" + quote(os.fsencode(path if path.startswith("/") else "/" + path))
