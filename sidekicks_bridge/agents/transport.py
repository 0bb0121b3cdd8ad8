"""The tolerant reader and writer of NDJSON under the SDK's connection.

The SDK's own reader dies of a JSON scalar, loses frames behind an escape sequence and runs every update as a task,
which costs order. So each frame is decoded here, once, and dealt with in the order it came: updates, requests and
notifications go straight to a `FrameHandler`, only responses are handed to the SDK, mended so that it cannot stumble.
Knows JSON-RPC frames, not what they mean.
"""

from __future__ import annotations

import json
import logging
import math
from collections import deque
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVarTuple

import anyio
import msgspec

from sidekicks_bridge.agents.raw import ESCAPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import ByteReceiveStream, ByteSendStream

logger = logging.getLogger(__name__)

BLOCK_BYTES = 1 << 20
MAX_LINE_BYTES = 64 << 20
"""A longer line is dropped: it can only be noise, and it must not fill the memory."""

_INTERNAL_ERROR = -32603
_NOISE_BYTES = 64 * 1024
_NO_NEWLINE_SECONDS = 0.5
"""A whole frame whose line does not end is taken for one after so long."""

Args = TypeVarTuple("Args")
RequestId = int | float | str
ChunkKind = Literal["agent_message_chunk", "agent_thought_chunk"]


class FrameHandler(Protocol):
    """Who understands the frames. Called on the loop, in order; must not block."""

    def on_chunk(self, session_id: str, kind: ChunkKind, text: str, message_id: str | None) -> None:
        """Text of a message or thought; adjacent pieces of one block come joined."""
        ...

    def on_update(self, params: dict[str, Any]) -> None:
        """Any other ``session/update``, raw."""
        ...

    def on_request(self, request_id: RequestId, method: str, params: Any) -> None:
        """A request, raw; it must be answered in the end."""
        ...

    def on_notification(self, method: str, params: Any) -> None:
        """A notification other than ``session/update``, raw."""
        ...

    def on_noise(self, line: bytes) -> None:
        """A line that is no frame."""
        ...


class _Text(msgspec.Struct, tag="text", tag_field="type"):
    text: str


class _MessageChunk(msgspec.Struct, tag="agent_message_chunk", tag_field="sessionUpdate"):
    content: _Text
    message_id: str | None = msgspec.field(default=None, name="messageId")


class _ThoughtChunk(msgspec.Struct, tag="agent_thought_chunk", tag_field="sessionUpdate"):
    content: _Text
    message_id: str | None = msgspec.field(default=None, name="messageId")


class _ChunkParams(msgspec.Struct):
    update: _MessageChunk | _ThoughtChunk
    session_id: str = msgspec.field(name="sessionId")


class _ChunkFrame(msgspec.Struct):
    method: Literal["session/update"]
    params: _ChunkParams
    id: None = None
    """A frame with an id wants an answer, and goes the way of requests."""


_decode_chunk = msgspec.json.Decoder(_ChunkFrame).decode
_decode_any = msgspec.json.Decoder().decode


class TolerantTransport:
    """What `acp.core.Connection` takes as its transport: ``send``, ``receive``, ``close``."""

    def __init__(self, stdin: ByteSendStream, stdout: ByteReceiveStream, handler: FrameHandler) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._handler = handler
        self._outbox: deque[bytes] = deque()
        self._written = anyio.Event()
        self._closed = False
        self._lines: list[bytes] = []
        self._rest = bytearray()
        self._overlong = False
        self._looked_at = 0
        self._chunk: _Joined | None = None
        self._numbers: dict[int, RequestId] = {}

    # Writing: frames go to an outbox, so that they can be sent from synchronous code and never interleave.

    def post(self, message: dict[str, Any]) -> None:
        """Send one frame, in order, without waiting; lost if the agent is gone."""
        if not self._closed:
            self._outbox.append(msgspec.json.encode(message) + b"\n")
            self._written.set()

    async def send(self, message: dict[str, Any]) -> None:
        """`post`, as the SDK calls it, which numbers requests."""
        if "method" in message:
            self._numbers[id(message.get("params"))] = message["id"]
        self.post(message)

    def number_of(self, params: dict[str, Any]) -> RequestId | None:
        """The id under which the request with these very parameters was sent; told once."""
        return self._numbers.pop(id(params), None)

    async def write_loop(self) -> None:
        """Write the outbox to the agent until `close`, or until the agent stops reading for good."""
        while not self._closed:
            while self._outbox:
                try:
                    await self._stdin.send(self._outbox.popleft())
                except (OSError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._closed = True  # its exit is noticed where its output ends
                    return
            self._written = anyio.Event()
            await self._written.wait()

    async def close(self) -> None:
        """Nothing more will be sent."""
        self._closed = True
        self._written.set()

    # Reading

    async def receive(self) -> dict[str, Any] | None:
        """The next response (mended); everything before it has been handled. None at the end of the output."""
        while True:
            while self._lines:
                response = self._handle(self._lines.pop())
                if response is not None:
                    self._flush()
                    return response
            self._flush()
            block = None
            try:
                with anyio.move_on_after(self._patience()):
                    block = await self._stdout.receive(BLOCK_BYTES)
            except (OSError, anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return self._last_line()
            if block is not None:
                self._split(block)
            else:
                self._looked_at = len(self._rest)
                if _is_whole(self._rest):
                    self._split(b"\n")

    def _patience(self) -> float:
        """How long to wait for more: an agent may forget the end of a line, and then wait for an answer."""
        unfinished = self._rest.endswith(b"}") and len(self._rest) != self._looked_at
        return _NO_NEWLINE_SECONDS if unfinished else math.inf

    def _split(self, block: bytes) -> None:
        *whole, rest = block.split(b"\n")
        if whole:
            whole[0] = b"" if self._overlong else bytes(self._rest) + whole[0]
            self._overlong, self._rest, self._looked_at = False, bytearray(), 0
            whole.reverse()
            self._lines = whole
        if not self._overlong:
            self._rest += rest
            if len(self._rest) > MAX_LINE_BYTES:
                self._handler.on_noise(b"[a line of more than 64 MiB was dropped]")
                self._overlong = True
                self._rest = bytearray()

    def _last_line(self) -> dict[str, Any] | None:
        line, self._rest = bytes(self._rest), bytearray()
        response = self._handle(line)
        self._flush()
        return response

    def _handle(self, line: bytes) -> dict[str, Any] | None:
        """Deal with one line; what is a response is returned."""
        try:
            params = _decode_chunk(line).params
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        else:
            self._add_chunk(params)
            return None
        self._flush()
        responses = [response for frame in _frames(line, self._handler) if (response := self._dispatch(frame))]
        if not responses:
            return None
        self._lines.extend(msgspec.json.encode(response) for response in reversed(responses[1:]))
        return responses[0]

    def _dispatch(self, frame: dict[str, Any]) -> dict[str, Any] | None:
        method = frame.get("method")
        if method is None:
            return mend_response(frame)
        if not isinstance(method, str):
            self._handler.on_noise(msgspec.json.encode(frame)[:_NOISE_BYTES])
            return None
        request_id, params = frame.get("id"), frame.get("params")
        if method == "session/update":
            _contain(self._handler.on_update, params if isinstance(params, dict) else {})
        elif not isinstance(request_id, RequestId):
            _contain(self._handler.on_notification, method, params)
        if isinstance(request_id, RequestId):
            _contain(self._handler.on_request, request_id, method, params)
        return None

    # Joining: pieces of one text found in one block go up as one; a lone piece waits for nothing.

    def _add_chunk(self, params: _ChunkParams) -> None:
        update, chunk = params.update, self._chunk
        if (
            chunk is not None
            and chunk.update.message_id == update.message_id
            and type(chunk.update) is type(update)
            and chunk.session_id == params.session_id
        ):
            chunk.texts.append(update.content.text)
            return
        self._flush()
        self._chunk = _Joined(params.session_id, update, [update.content.text])

    def _flush(self) -> None:
        chunk, self._chunk = self._chunk, None
        if chunk is None:
            return
        kind: ChunkKind = "agent_message_chunk" if type(chunk.update) is _MessageChunk else "agent_thought_chunk"
        _contain(self._handler.on_chunk, chunk.session_id, kind, "".join(chunk.texts), chunk.update.message_id)


def _contain(handle: Callable[[*Args], None], *args: *Args) -> None:
    """One frame that trips over a bug must not end the connection."""
    try:
        handle(*args)
    except Exception:
        logger.exception("A frame of an agent could not be handled")


class _Joined(msgspec.Struct):
    session_id: str
    update: _MessageChunk | _ThoughtChunk
    texts: list[str]


def _frames(line: bytes, handler: FrameHandler) -> list[dict[str, Any]]:
    """The JSON objects in ``line``; what is none is noise."""
    if not line or line.isspace():
        return []
    try:
        value = _decode_any(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        frames = salvage(line)
    else:
        frames = [one for one in (value if isinstance(value, list) else [value]) if _is_frame(one)]
    if not frames:
        handler.on_noise(line)
    return frames


def _is_frame(value: object) -> bool:
    """Whether it is of JSON-RPC; a line of a log may be an object too, and even have an id."""
    if not isinstance(value, dict):
        return False
    return "method" in value or ("id" in value and not value.keys().isdisjoint(("result", "error", "jsonrpc")))


def _is_whole(line: bytearray) -> bool:
    try:
        return _is_frame(_decode_any(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def salvage(line: bytes) -> list[dict[str, Any]]:
    """The JSON-RPC objects in a line that is not clean JSON.

    Drops escape sequences and text around the objects, and mends what Python can read but cannot encode: bad UTF-8,
    lone surrogates, NaN.
    """
    text = ESCAPES.sub("", line.decode("utf-8", "replace"))
    frames: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _lenient.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = text.find('{"', at + 1) if not frames else -1
            if end < 0 or end - at > _NOISE_BYTES:
                break
            at = end
            continue
        if _is_frame(value):
            clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            frames.append(_decode_any(clean))
        at = text.find("{", end)
    return frames


_lenient = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def mend_response(frame: dict[str, Any]) -> dict[str, Any] | None:
    """A response as the SDK expects it: integer id, error an object with integer code and text; None: unusable."""
    request_id = _integer(frame.get("id"))
    if request_id is None:
        return None
    if frame.get("error") is None:
        return {"id": request_id, "result": frame.get("result")}
    error = frame["error"]
    if not isinstance(error, dict):
        error = {"message": error if isinstance(error, str) else msgspec.json.encode(error).decode()}
    code, message = _integer(error.get("code")), error.get("message")
    mended = {
        "code": _INTERNAL_ERROR if code is None else code,
        "message": message if isinstance(message, str) and message else "Error",
        "data": error.get("data"),
    }
    return {"id": request_id, "error": mended}


def _integer(value: object) -> int | None:
    """An integer, also one written as a text or with a decimal point."""
    if isinstance(value, str) and value.strip().removeprefix("-").isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
