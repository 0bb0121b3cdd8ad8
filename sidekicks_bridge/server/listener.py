"""Further clients, on the owner's Unix socket: accepting them, checking whose they are, moving their bytes.

Bytes are written at once when the socket takes them; what it does not take waits in the client's outbox, where deltas
merge. A client that stops reading therefore delays nobody.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sidekicks_bridge import endpoint
from sidekicks_bridge.server.framing import FrameReader, FramingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sidekicks_bridge.server.connection import Connection

_log = logging.getLogger(__name__)
_WRITE_BUFFER = 64 * 1024


class SocketClient(asyncio.Protocol):
    """The bytes of one client on the socket. ``serve`` starts its connection; `wake` writes what its outbox holds."""

    def __init__(self, serve: Callable[[SocketClient], None]) -> None:
        self._serve = serve
        self._frames = FrameReader()
        self._paused = False
        self._early: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None
        self.connection: Connection | None = None
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected: another user's is turned away before a byte of it is read."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        try:
            endpoint.check_peer(transport.get_extra_info("socket")._sock)
        except OSError as refusal:
            _log.warning("a client was refused: %s", refusal)
            transport.abort()
            return
        transport.set_write_buffer_limits(high=_WRITE_BUFFER)
        self._serve(self)

    def attach(self, connection: Connection) -> None:
        """The connection is there: hand it what came meanwhile."""
        self.connection = connection
        for data in self._early:
            self.data_received(data)
        self._early.clear()

    def data_received(self, data: bytes) -> None:
        """Cut what comes into messages."""
        if self.connection is None:
            self._early.append(data)
            return
        try:
            for body in self._frames.feed(data):
                self.connection.accept(body)
        except FramingError as problem:
            _log.warning("a client does not speak LSP: %s", problem)
            self.connection.ended.set()

    def eof_received(self) -> bool:
        """The client has nothing more to say: it is gone."""
        self._end()
        return False

    def connection_lost(self, _problem: Exception | None) -> None:
        """The socket is closed."""
        self._end()

    def _end(self) -> None:
        self.lost = True
        if self.connection is not None:
            self.connection.ended.set()

    def pause_writing(self) -> None:
        """The client does not read: let its outbox fill."""
        self._paused = True

    def resume_writing(self) -> None:
        """It reads again."""
        self._paused = False
        self.wake()

    def wake(self) -> None:
        """Write what waits, as far as the socket takes it."""
        if self.connection is None or self._transport is None or self._transport.is_closing():
            return
        while not self._paused and (data := self.connection.outbox.take()):
            self._transport.write(data)

    def close(self) -> None:
        """Close once what was written has gone out."""
        if self._transport is not None:
            self._transport.close()


class Listener:
    """The owner's socket."""

    def __init__(self, path: Path, server: asyncio.Server) -> None:
        self.path = path
        self._server = server
        self._file = endpoint.identity(path)

    @property
    def reachable(self) -> bool:
        """Whether the socket still lies where clients look for it: what tidies temporary folders takes sockets, too."""
        return self._file is not None and endpoint.identity(self.path) == self._file

    @classmethod
    async def open(cls, path: Path, serve: Callable[[SocketClient], None]) -> Listener:
        """Listen at ``path``. Raises OSError."""
        listening = endpoint.listen(path)
        server = await asyncio.get_running_loop().create_unix_server(lambda: SocketClient(serve), sock=listening)
        return cls(path, server)

    def close(self) -> None:
        """Take no more clients."""
        mine = self.reachable
        self._server.close()
        if mine:
            self.path.unlink(missing_ok=True)
