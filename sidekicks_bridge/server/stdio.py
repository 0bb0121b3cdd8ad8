"""The client on standard input and output, read and written on the loop as far as that cannot block it.

What is readable is read at once, and a small frame is written at once if the pipe has room: a hop to a thread and back
costs more than all the rest of a chunk's way. What does not fit is written by a thread, so that a client that stops
reading blocks only that. The descriptors stay blocking: their flags may be shared with whoever started us.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from sidekicks_bridge.server.outbox import Outbox

_READ = 1 << 16
_AT_ONCE: int = getattr(select, "PIPE_BUF", 0)
"""Bytes that a pipe takes whole without blocking once it is writable (POSIX); 0 where nobody can tell."""
_log = logging.getLogger(__name__)


class StdinReader:
    """Hands what comes on a descriptor to ``take``, on the loop and in order; None is the end."""

    def __init__(self, loop: AbstractEventLoop, descriptor: int, take: Callable[[bytes | None], None]) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._take = take
        self._watched = True
        try:
            loop.add_reader(descriptor, self._readable)
        except (NotImplementedError, OSError):  # Windows; a file, which nobody can wait for
            self._watched = False
            threading.Thread(target=self._read_on_thread, name="stdin", daemon=True).start()

    def close(self) -> None:
        """Take no more."""
        if self._watched:
            self._watched = False
            self._loop.remove_reader(self._descriptor)

    def _readable(self) -> None:
        try:
            data = self._read()
        except BlockingIOError:
            return  # others share the descriptor: it does not block, and what was there is gone
        if data is None:
            self.close()
        self._take(data)

    def _read_on_thread(self) -> None:
        data: bytes | None = b""
        while data is not None:
            data = self._read()
            try:
                self._loop.call_soon_threadsafe(self._take, data)
            except RuntimeError:
                return  # the loop has ended

    def _read(self) -> bytes | None:
        try:
            return os.read(self._descriptor, _READ) or None
        except BlockingIOError:
            raise
        except OSError as problem:
            _log.info("standard input failed: %s", problem)
            return None


class StdoutWriter:
    """Empties an outbox into a descriptor: what is small at once, the rest on a thread of its own."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._ready = threading.Event()
        self._writing = threading.Lock()
        self._closing = False
        self._thread = threading.Thread(target=self._write_on_thread, name="stdout", daemon=True)
        self._outbox: Outbox
        self._poll = select.poll() if _AT_ONCE else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)

    def start(self, outbox: Outbox) -> None:
        """Begin to write what is in ``outbox``."""
        self._outbox = outbox
        self._thread.start()

    def wake(self) -> None:
        """Something was put into the empty outbox: write it, or have it written."""
        if self._writing.acquire(blocking=False):
            try:
                if self._outbox.waiting <= _AT_ONCE and self._has_room():
                    self._write()
                    return
            finally:
                self._writing.release()
        self._ready.set()

    def close(self, seconds: float) -> None:
        """Write what waits, at most for so long, then stop."""
        self._closing = True
        self._ready.set()
        self._thread.join(seconds)

    def _has_room(self) -> bool:
        return self._poll is not None and self._poll.poll(0) == [(self._descriptor, select.POLLOUT)]

    def _write_on_thread(self) -> None:
        closing = False
        while not closing:
            self._ready.wait()
            self._ready.clear()
            closing = self._closing  # what was put before is written now
            with self._writing:
                while self._write():
                    pass

    def _write(self) -> bool:
        """Write the next batch; False when nothing waits, or nobody will read it."""
        view = memoryview(self._outbox.take())
        if not view:
            return False
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as problem:
            _log.info("standard output failed: %s", problem)
            self._on_broken()
            return False
        return True
