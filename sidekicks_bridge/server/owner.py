"""The owner: one event loop, one root task group, the bridge, and every connection to it.

Owns the order of life: answer `initialize` first, start the bridge behind it, and end only after its agents. With a
client of its own on stdio it ends when that one and all others have left; as a hub, when nobody was attached and
nothing ran for a while.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge import endpoint, paths
from sidekicks_bridge.bridge.bridge import Bridge
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.lock import Holder
from sidekicks_bridge.ownership import NOWHERE
from sidekicks_bridge.protocol.events import BridgeStopping
from sidekicks_bridge.server.connection import Connection
from sidekicks_bridge.server.features import Handler, handlers
from sidekicks_bridge.server.framing import FrameReader, FramingError
from sidekicks_bridge.server.listener import Listener, SocketClient
from sidekicks_bridge.server.outbox import SharedFrames
from sidekicks_bridge.server.stdio import StdinReader, StdoutWriter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from anyio.abc import TaskGroup

    from sidekicks_bridge.lock import Lock

_log = logging.getLogger(__name__)
FLUSH_SECONDS = 0.5
"""How long the last answers may take to be written when a connection ends."""
_SOCKET_LOOK = 2.0
"""Seconds between two looks whether the socket is still where clients look for it."""
_LOOKS = 20
"""How often within its idle time a hub looks whether something runs."""


class Owner:
    """The process that holds the state. ``held``: the lock, or None with the reason why history is not kept."""

    def __init__(self, config_path: Path, held: Lock | None, reason: str | None = None) -> None:
        self._config_path = config_path
        self._held = held
        self._reason = reason
        self.ids = Ulids()
        self.ready = anyio.Event()
        self.frames = SharedFrames()
        self.bridge: Bridge
        self.handlers: dict[str, Handler] = {}
        self._connections: set[Connection] = set()
        self._left = anyio.Event()
        self._stop = anyio.Event()
        self._active = 0.0
        self._said_goodbye = False
        self._listener: Listener | None = None
        self._group: TaskGroup
        self._loop: asyncio.AbstractEventLoop

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def serve_stdio(self, first: bytes, rest: bytes, stdin: int, stdout: int) -> int:
        """Serve the client on a pair of descriptors whose first message and following bytes were already read."""
        code = 1

        async def live() -> None:
            nonlocal code
            async with anyio.create_task_group() as own:
                own.start_soon(self._start)
                code = await self._serve_descriptors(first, rest, stdin, stdout)
            while self._connections and not self._stop.is_set():
                await self._somebody_left()

        await self._run(live)
        return code

    async def serve_hub(self, idle: float, ready: Callable[[], None]) -> int:
        """Serve whoever attaches, until nobody was attached and nothing ran or waited for ``idle`` seconds.

        ``ready`` is called once it can be attached to. 1 when that is impossible; one that was stopped before it began
        has ended in order.
        """
        code = 1

        async def live() -> None:
            nonlocal code
            if self._listener is not None:
                ready()
                code = 0
                self.bridge.kind = "hub"
                await self._start()
                await self._until_idle(idle)

        await self._run(live)
        return 0 if self._stop.is_set() else code

    async def _until_idle(self, idle: float) -> None:
        """An open permission question is a turn that waits: it keeps the hub for whoever attaches next."""
        self._active = anyio.current_time()
        while (left := self._active + idle - anyio.current_time()) > 0:
            await anyio.sleep(min(left, idle / _LOOKS))
            if self._connections or self.bridge.busy:
                self._active = anyio.current_time()

    async def _run(self, live: Callable[[], Awaitable[None]]) -> None:
        self._loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as root:
            self.bridge = Bridge(root, self._config_path, self._held, self._reason)
            root.start_soon(self._end_on_signal)
            async with anyio.create_task_group() as self._group:
                self._listener = await self._listen()
                async with anyio.create_task_group() as lives:
                    lives.start_soon(self._until_stopped, lives.cancel_scope)
                    lives.start_soon(self._stay_reachable)
                    await live()
                    lives.cancel_scope.cancel()
                self._say_goodbye()
                if self._listener is not None:
                    self._listener.close()
                for connection in list(self._connections):
                    connection.ended.set()
            with anyio.CancelScope(shield=True):
                if self.ready.is_set():
                    await self.bridge.stop()
            root.cancel_scope.cancel()

    async def _until_stopped(self, scope: anyio.CancelScope) -> None:
        """Tell every client that it was `stop` before its connection ends."""
        await self._stop.wait()
        self._say_goodbye()
        scope.cancel()

    def _say_goodbye(self) -> None:
        """Tell every client, once, that this is the end of the owner and not only of its connection."""
        if not self._said_goodbye:
            self._said_goodbye = True
            self.bridge.clients.to_all(BridgeStopping())

    async def _start(self) -> None:
        """Start the bridge; a connection that waits for it already has its answer to `initialize`."""
        await anyio.lowlevel.checkpoint()
        self.handlers = handlers(self.bridge)
        with anyio.CancelScope(shield=True):
            await self.bridge.start()
        self.bridge.on_stop = self.stop
        self.bridge.run_in_background()
        gc.freeze()  # what has been loaded stays: looking through all of it now and then would hold the loop up
        self.ready.set()

    def stop(self) -> None:
        """End: clients are told, what streams is kept."""
        self._stop.set()

    async def _end_on_signal(self) -> None:
        """SIGTERM, SIGINT and SIGHUP end the owner as `stop` does."""
        if sys.platform == "win32":
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                self.stop()

    async def _somebody_left(self) -> None:
        await self._left.wait()
        self._left = anyio.Event()

    # ── connections ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _listen(self) -> Listener | None:
        """Listen for further clients, if we own and the system can; where is written into the lock."""
        if self._held is None or not endpoint.supported():
            return None
        place = endpoint.socket_path(paths.data_dir(self._config_path))
        if place is None:
            _log.warning("no private folder with a short enough path for a socket: further clients cannot attach")
            self._announce(NOWHERE)
            return None
        try:
            listener = await Listener.open(place, self._welcome)
        except OSError as problem:
            _log.warning("cannot listen at %s (%s): further clients cannot attach", place, problem)
            self._announce(NOWHERE)
            return None
        self._announce(str(place))
        self.bridge.mail_tools.socket = str(place)
        return listener

    async def _stay_reachable(self) -> None:
        """Listen anew when the socket was taken away (a log-out ends XDG_RUNTIME_DIR, a hub outlives it)."""
        while self._listener is not None:
            await anyio.sleep(_SOCKET_LOOK)
            if not self._listener.reachable:
                _log.warning("the socket %s is gone: listening anew", self._listener.path)
                self._listener.close()
                self._listener = await self._listen()

    def _announce(self, socket: str) -> None:
        """Write into the lock where further clients find us."""
        assert self._held is not None
        try:
            self._held.announce(Holder(socket=socket))
        except OSError as problem:
            _log.warning("the lock cannot be written (%s): further clients cannot attach", problem)

    def _welcome(self, client: SocketClient) -> None:
        self._group.start_soon(self._serve_socket, client)

    async def _serve_socket(self, client: SocketClient) -> None:
        async with anyio.create_task_group() as tasks:
            connection = Connection(self, tasks, client.wake, self.frames)
            self._connections.add(connection)
            client.attach(connection)
            if client.lost:
                connection.ended.set()
            await self._until_ended(connection, tasks)
        client.wake()  # only now: what was being written is finished, and answered
        client.close()

    async def _serve_descriptors(self, first: bytes, rest: bytes, stdin: int, stdout: int) -> int:
        async with anyio.create_task_group() as tasks:
            writer = StdoutWriter(stdout, lambda: self._broken(connection))
            connection = Connection(self, tasks, writer.wake, self.frames)
            self._connections.add(connection)
            writer.start(connection.outbox)
            connection.accept(first)
            take = _feed(connection)
            take(rest)
            reader = StdinReader(self._loop, stdin, take)
            try:
                await self._until_ended(connection, tasks)
            finally:
                reader.close()
                with anyio.CancelScope(shield=True):  # a client that does not read must not keep the others waiting
                    await anyio.to_thread.run_sync(writer.close, FLUSH_SECONDS)
                _leave(stdin, stdout)
        return 0 if connection.orderly else 1

    def _broken(self, connection: Connection) -> None:
        """The client closed our standard output (called on the writer's thread)."""
        try:
            self._loop.call_soon_threadsafe(connection.ended.set)
        except RuntimeError:
            pass  # the loop has ended

    async def _until_ended(self, connection: Connection, tasks: TaskGroup) -> None:
        """Wait for the end of one client; whatever it had asked is dropped, the others notice nothing."""
        try:
            await connection.ended.wait()
        finally:
            if self.ready.is_set():
                self.bridge.detach(connection)
            self._connections.discard(connection)
            self._active = anyio.current_time()
            self._left.set()
            tasks.cancel_scope.cancel()


def _feed(connection: Connection) -> Callable[[bytes | None], None]:
    """What takes the bytes of a client on a descriptor; None is their end."""
    frames = FrameReader()

    def take(data: bytes | None) -> None:
        try:
            for body in frames.feed(data or b""):
                connection.accept(body)
        except FramingError as problem:
            _log.error("the client does not speak LSP: %s", problem)
            connection.ended.set()
        if data is None:
            connection.ended.set()

    return take


def _leave(stdin: int, stdout: int) -> None:
    """Let go of the client's pipes: an owner that goes on for others must not keep its editor waiting."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, stdout)
    os.dup2(nothing, stdin)
    os.close(nothing)
