"""The owner: one event loop, one root task group, the bridge, and the connections to it.

Owns the order of life: answer `initialize` first, start the bridge behind it, and end only after its agents.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.bridge.bridge import Bridge
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.server.connection import Connection
from sidekicks_bridge.server.features import Handler, handlers
from sidekicks_bridge.server.framing import FrameReader, FramingError
from sidekicks_bridge.server.outbox import SharedFrames
from sidekicks_bridge.server.stdio import StdinReader, StdoutWriter

if TYPE_CHECKING:
    from pathlib import Path

    from anyio.abc import TaskGroup

_log = logging.getLogger(__name__)
FLUSH_SECONDS = 0.5
"""How long the last answers may take to be written when the owner ends."""


class Owner:
    """The process that holds the state."""

    def __init__(self, config_path: Path) -> None:
        self._config_path = config_path
        self.ids = Ulids()
        self.ready = anyio.Event()
        self.frames = SharedFrames()
        self.bridge: Bridge
        self.handlers: dict[str, Handler] = {}

    async def serve_stdio(self, first: bytes, rest: bytes, stdin: int, stdout: int) -> int:
        """Serve the client on a pair of descriptors whose first message and following bytes were already read."""
        async with anyio.create_task_group() as root:
            self.bridge = Bridge(root, self._config_path)
            root.start_soon(self._end_on_signal, root)
            orderly = False
            async with anyio.create_task_group() as connections:
                writer = StdoutWriter(stdout, lambda: None)
                connection = Connection(self, connections, writer.wake, self.frames)
                writer.start(connection.outbox)
                connection.accept(first)
                connections.start_soon(self._start)
                reader = StdinReader(asyncio.get_running_loop(), stdin)
                connections.start_soon(self._read, connection, reader, rest)
                await connection.ended.wait()
                connections.cancel_scope.cancel()
                orderly = connection.orderly
            await self._stop()
            writer.close(FLUSH_SECONDS)
            root.cancel_scope.cancel()
        return 0 if orderly else 1

    async def _start(self) -> None:
        """Start the bridge; the connection already has its answer to `initialize`."""
        await anyio.lowlevel.checkpoint()
        self.handlers = handlers(self.bridge)
        with anyio.CancelScope(shield=True):
            await self.bridge.start()
        self.ready.set()
        self.bridge.run_in_background()
        gc.unfreeze()

    async def _stop(self) -> None:
        if self.ready.is_set():
            await self.bridge.stop()

    async def _read(self, connection: Connection, reader: StdinReader, rest: bytes) -> None:
        frames = FrameReader()
        data = rest
        try:
            while True:
                for body in frames.feed(data):
                    connection.accept(body)
                data = await reader.receive()
                if not data:
                    break
        except FramingError as problem:
            _log.error("the client does not speak LSP: %s", problem)
        connection.ended.set()

    async def _end_on_signal(self, root: TaskGroup) -> None:
        """SIGTERM, SIGINT and SIGHUP end the owner as `exit` does: what streams is kept, agents are stopped."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                with anyio.CancelScope(shield=True):
                    await self._stop()
                root.cancel_scope.cancel()
                return
