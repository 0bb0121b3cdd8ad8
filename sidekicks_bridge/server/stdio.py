"""The client on standard input and output: a reading and a writing thread, so that no pipe ever blocks the loop."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from sidekicks_bridge.server.outbox import Outbox

_READ = 1 << 16
_log = logging.getLogger(__name__)


class StdinReader:
    """Reads a file descriptor on a thread of its own and hands what comes to the loop, in order."""

    def __init__(self, loop: AbstractEventLoop, descriptor: int) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._send, self._receive = anyio.create_memory_object_stream[bytes](float("inf"))
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._descriptor, _READ)
            except OSError as problem:
                _log.info("standard input failed: %s", problem)
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._arrived, data)
            except RuntimeError:
                return  # the loop has ended
            if not data:
                return

    def _arrived(self, data: bytes) -> None:
        if data:
            self._send.send_nowait(data)
        else:
            self._send.close()

    async def receive(self) -> bytes:
        """The next bytes; empty at the end."""
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            return b""


class StdoutWriter:
    """Empties an outbox into a file descriptor on a thread of its own. A client that stops reading blocks only it."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._ready = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._outbox: Outbox | None = None

    def start(self, outbox: Outbox) -> None:
        """Begin to write what is in ``outbox``."""
        self._outbox = outbox
        self._thread.start()

    def wake(self) -> None:
        """Something was put into the outbox."""
        self._ready.set()

    def close(self, seconds: float) -> None:
        """Write what waits, at most for so long, then stop."""
        self._closing = True
        self._ready.set()
        self._thread.join(seconds)

    def _write(self) -> None:
        assert self._outbox is not None
        while True:
            self._ready.wait()
            self._ready.clear()
            while data := self._outbox.take():
                try:
                    _write_all(self._descriptor, data)
                except OSError as problem:
                    _log.info("standard output failed: %s", problem)
                    self._on_broken()
                    return
            if self._closing:
                return


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
