"""What waits to be written to one client: bounded, in order, deltas merged only while something waits.

Filled on the loop, emptied by the client's writer (a thread for stdio). A client that does not read costs at most
`LIMIT` bytes: then its channels are dropped with `channel/desynced` and it opens them again.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.events import EVENT_BY_PARAMS, ChannelDesynced, MessageDelta
from sidekicks_bridge.protocol.parts import TextPart, ThoughtPart
from sidekicks_bridge.server.framing import frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.protocol.base import Wire

LIMIT = 8 * 1024 * 1024
"""Bytes of events that may wait for a client."""
HARD_LIMIT = 64 * 1024 * 1024
"""Bytes, answers included, at which a client is given up."""
_BATCH = 256 * 1024
_OVERHEAD = 160
_LATEST = {"ChannelsChanged", "ConfigChanged", "StorageChanged", "AttentionChanged", "AgentStateChanged"}
"""Events that replace an earlier one of their kind that still waits: they carry a whole state."""

_NEVER_DROPPED = {"Permission", "PermissionResolved"}
"""Events about a channel that reach clients who have not opened it."""


class _Waiting:
    """One thing that waits: a finished frame, or a delta that may still grow."""

    __slots__ = ("channel_id", "data", "delta", "kind", "size", "texts")

    def __init__(self, data: bytes, size: int, channel_id: str | None, kind: str | None) -> None:
        self.data = data
        self.size = size
        self.channel_id = channel_id
        self.kind = kind
        self.delta: MessageDelta | None = None
        self.texts: list[str] = []

    def encoded(self) -> bytes:
        if self.delta is None:
            return self.data
        text = "".join(self.texts)
        delta = self.delta
        value = delta.value
        if isinstance(value, TextPart | ThoughtPart):
            value, text_or_none = type(value)(text=value.text + text), None
        else:
            text_or_none = text if value is None else None
        merged = MessageDelta(
            channel_id=delta.channel_id,
            message_id=delta.message_id,
            part=delta.part,
            text=text_or_none,
            value=value,
        )
        return event_frame(merged)


def event_frame(event: Wire) -> bytes:
    """A notification as it goes over the wire."""
    name = EVENT_BY_PARAMS[type(event)].name
    return frame(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (name.encode(), encode(event)))


class SharedFrames:
    """Encodes an event once for all clients that are told it one after the other."""

    def __init__(self) -> None:
        self._event: Wire | None = None
        self._frame = b""

    def of(self, event: Wire) -> bytes:
        """The frame of ``event``."""
        if event is not self._event:
            self._event, self._frame = event, event_frame(event)
        return self._frame


class Outbox:
    """The queue of one client. ``wake`` is called (on the loop) whenever something was put into an empty one."""

    def __init__(self, wake: Callable[[], None], frames: SharedFrames) -> None:
        self._wake = wake
        self._frames = frames
        self._lock = threading.Lock()
        self._items: deque[_Waiting] = deque()
        self._bytes = 0
        self.overrun = False

    def put(self, event: Wire) -> bool:
        """Queue an event. False: the client is too slow, and the event's channel was dropped with a notice."""
        kind = type(event).__name__
        channel_id: str | None = None if kind in _NEVER_DROPPED else getattr(event, "channel_id", None)
        with self._lock:
            was_empty = not self._items
            fits = self._put(event, channel_id, kind)
        if was_empty:
            self._wake()
        return fits

    def _put(self, event: Wire, channel_id: str | None, kind: str) -> bool:
        if self._items and isinstance(event, MessageDelta) and self._merge(event):
            return True
        if self._bytes > LIMIT and channel_id is not None:
            return self._desync(channel_id)
        if kind in _LATEST:
            self._drop_older(kind, getattr(event, "agent", None))
        self._append(self._item(event, channel_id, kind))
        return True

    def _item(self, event: Wire, channel_id: str | None, kind: str) -> _Waiting:
        if self._items and isinstance(event, MessageDelta):
            item = _Waiting(b"", _OVERHEAD + len(event.text or ""), channel_id, kind)
            item.delta = event
            if event.text is not None:
                item.texts.append(event.text)
            elif event.value is not None:
                item.size += len(encode(event.value))
            return item
        agent = getattr(event, "agent", None) if kind in _LATEST else None
        data = self._frames.of(event)
        return _Waiting(data, len(data), channel_id, kind if agent is None else f"{kind} {agent}")

    def put_frame(self, data: bytes) -> None:
        """Queue an answer or a request to the client; these are never dropped."""
        with self._lock:
            was_empty = not self._items
            self._append(_Waiting(data, len(data), None, None))
            self.overrun = self.overrun or self._bytes > HARD_LIMIT
        if was_empty:
            self._wake()

    def _append(self, item: _Waiting) -> None:
        self._items.append(item)
        self._bytes += item.size

    def _merge(self, event: MessageDelta) -> bool:
        """Let the last waiting delta of the same part grow, or be replaced."""
        last = self._items[-1]
        waiting = last.delta
        if waiting is None or waiting.part != event.part or waiting.message_id != event.message_id:
            return False
        if event.text is not None:
            if waiting.value is not None and not isinstance(waiting.value, TextPart | ThoughtPart):
                return False
            last.texts.append(event.text)
            last.size += len(event.text)
            self._bytes += len(event.text)
            return True
        last.delta, last.texts = event, []
        self._bytes -= last.size
        last.size = _OVERHEAD + len(encode(event.value))
        self._bytes += last.size
        return True

    def _drop_older(self, kind: str, agent: str | None) -> None:
        wanted = kind if agent is None else f"{kind} {agent}"
        for item in self._items:
            if item.kind == wanted:
                self._items.remove(item)
                self._bytes -= item.size
                return

    def _desync(self, channel_id: str) -> bool:
        kept = [item for item in self._items if item.channel_id != channel_id]
        self._items = deque(kept)
        self._bytes = sum(item.size for item in kept)
        data = event_frame(ChannelDesynced(channel_id=channel_id))
        self._append(_Waiting(data, len(data), None, None))
        return False

    def take(self) -> bytes:
        """The next bytes to write, several frames at once; empty when nothing waits. Called by the writer."""
        with self._lock:
            chunks: list[bytes] = []
            size = 0
            while self._items and size < _BATCH:
                item = self._items.popleft()
                self._bytes -= item.size
                data = item.encoded()
                chunks.append(data)
                size += len(data)
        return b"".join(chunks)
