"""What waits to be written to one client: bounded, in order, deltas merged only while something waits.

Filled on the loop, emptied by the client's writer (a thread for stdio). A client that does not read costs at most
`LIMIT` bytes: then its channels are dropped with `channel/desynced` and it opens them again.
"""

from __future__ import annotations

import sys
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
"""Bytes of memory that events may take while they wait for a client."""
HARD_LIMIT = 64 * 1024 * 1024
"""Bytes, answers included, at which a client is given up."""
_BATCH = 256 * 1024
_MOST_MERGED = 64 * 1024
"""Bytes up to which a delta grows: writing it makes copies."""
_ITEM = 400
"""What a waiting thing costs beside its content: it and its parts are objects."""
_LATEST = {"ChannelsChanged", "ConfigChanged", "StorageChanged", "AttentionChanged", "AgentStateChanged"}
"""Events that replace an earlier one of their kind that still waits: they carry a whole state."""
_NEVER_DROPPED = {"Permission", "PermissionResolved"}
"""Events about a channel that reach clients who have not opened it."""
_DROPPED_FIRST = {"AgentLog"}
"""Events that a client can do without: an agent's log is kept, and can be asked for again."""


class _Waiting:
    """One thing that waits: a finished frame, or a delta that may still grow."""

    __slots__ = ("channel_id", "data", "delta", "kind", "size", "texts")

    def __init__(self, data: bytes, channel_id: str | None, kind: str | None) -> None:
        self.data = data
        self.size = _ITEM + len(data)
        self.channel_id = channel_id
        self.kind = kind
        self.delta: MessageDelta | None = None
        self.texts: list[str] = []

    def grow(self, text: str) -> int:
        """Add to a delta's text; how many bytes that takes."""
        self.texts.append(text)
        size = sys.getsizeof(text) + 8
        self.size += size
        return size

    def encoded(self) -> bytes:
        """What is written of it; nothing if a later event has replaced it."""
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
        self._latest: dict[str, _Waiting] = {}
        self._bytes = 0
        self.overrun = False
        """Whether so much waits that the client must be given up."""

    @property
    def waiting(self) -> int:
        """About how many bytes wait."""
        return self._bytes

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
        if self._bytes > LIMIT:
            if channel_id is not None:
                return self._desync(channel_id)
            if kind in _DROPPED_FIRST:
                return True
        if self._items and isinstance(event, MessageDelta):
            self._append(_waiting_delta(event))
        elif kind in _LATEST:
            self._replace(f"{kind} {getattr(event, 'agent', '')}", self._frames.of(event))
        else:
            self._append(_Waiting(self._frames.of(event), channel_id, kind))
        return True

    def put_frame(self, data: bytes) -> None:
        """Queue an answer or a request to the client; these are never dropped."""
        with self._lock:
            was_empty = not self._items
            self._append(_Waiting(data, None, None))
        if was_empty:
            self._wake()

    def _append(self, item: _Waiting) -> None:
        self._items.append(item)
        self._bytes += item.size
        self.overrun = self.overrun or self._bytes > HARD_LIMIT

    def _merge(self, event: MessageDelta) -> bool:
        """Let the last waiting delta of the same part grow, or be replaced."""
        last = self._items[-1]
        waiting = last.delta
        if waiting is None or waiting.part != event.part or waiting.message_id != event.message_id:
            return False
        if event.text is None:
            self._bytes -= last.size
            self._items[-1] = item = _waiting_delta(event)
            self._bytes += item.size
            return True
        if waiting.value is not None and not isinstance(waiting.value, TextPart | ThoughtPart):
            return False
        if last.size > _MOST_MERGED or self._bytes > LIMIT:
            return False
        self._bytes += last.grow(event.text)
        return True

    def _replace(self, kind: str, data: bytes) -> None:
        """Append a state, in place of the earlier one of its kind if that still waits."""
        if older := self._latest.get(kind):
            self._bytes -= older.size
            older.data, older.size = b"", 0
        self._latest[kind] = item = _Waiting(data, None, kind)
        self._append(item)

    def _desync(self, channel_id: str) -> bool:
        self._items = deque(item for item in self._items if item.channel_id != channel_id)
        self._bytes = sum(item.size for item in self._items)
        self._append(_Waiting(event_frame(ChannelDesynced(channel_id=channel_id)), None, None))
        return False

    def take(self) -> bytes:
        """The next bytes to write, several frames at once; empty when nothing waits. Called by the writer."""
        with self._lock:
            chunks: list[bytes] = []
            size = 0
            while self._items and size < _BATCH:
                item = self._items.popleft()
                self._bytes -= item.size
                if item.kind is not None and self._latest.get(item.kind) is item:
                    del self._latest[item.kind]
                data = item.encoded()
                chunks.append(data)
                size += len(data)
        return b"".join(chunks)


def _waiting_delta(event: MessageDelta) -> _Waiting:
    item = _Waiting(b"", event.channel_id, "MessageDelta")
    item.delta = event
    if event.text is not None:
        item.grow(event.text)
    elif event.value is not None:
        item.size += len(encode(event.value))
    return item
