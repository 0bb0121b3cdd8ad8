"""Attaching the command line to the running bridge, or to a hub started for it.

Owns the way there (lock, socket, hub on demand) and the order of the goodbye; what is said is `client`'s.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute

from sidekicks_bridge import endpoint
from sidekicks_bridge.cli.client import BridgeClient
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.reach import PATIENCE, BridgeGone, reach
from sidekicks_bridge.cli.spawn import bridge, bridge_command, config_options, only
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from anyio.abc import SocketStream, TaskGroup


def connection(
    command: Sequence[str] | None,
    config: str | None,
    on_event: Callable[[str, bytes], None],
    *,
    folder: str | None,
    meanwhile: Callable[[], None] = lambda: None,
) -> AbstractAsyncContextManager[BridgeClient]:
    """A connected client: of the running bridge or a hub; of one started by ``command`` where that is given.

    Without Unix sockets a bridge of our own is started, and it says so if another one has the history open.
    """
    options = config_options(config)
    if command is not None or not endpoint.supported():
        return bridge(command or bridge_command(config), on_event, options=options, folder=folder, meanwhile=meanwhile)
    try:
        location = located(config)
        ensure(location)
    except SidekicksError as problem:
        raise BridgeGone(problem.message) from problem
    return attached(location.path, on_event, options=options, folder=folder, meanwhile=meanwhile)


@asynccontextmanager
async def attached(
    config_path: Path,
    on_event: Callable[[str, bytes], None],
    *,
    options: dict[str, Any],
    folder: str | None,
    start: bool = True,
    meanwhile: Callable[[], None] = lambda: None,
) -> AsyncIterator[BridgeClient]:
    """A connected client of the bridge that owns ``config_path``; without one, ``start`` makes a hub.

    ``meanwhile`` is run while the bridge comes up, for what the caller must load. Raises `BridgeGone`.
    """
    if not endpoint.supported():
        raise BridgeGone("This system has no Unix sockets, so the command line cannot attach to a bridge.")
    try:
        async with anyio.create_task_group() as tasks:
            way = _Way(config_path, start)
            tasks.start_soon(way.find)
            await anyio.lowlevel.checkpoint()  # so that it is on its way while the caller loads
            meanwhile()
            client, stream = await _greet(way, tasks, on_event, options, folder)
            try:
                yield client
                await client.shut_down()
            finally:
                await _close(stream)
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise only(group) from None


class _Way:
    """Where the owner listens: looked for beside whatever the caller does."""

    def __init__(self, config_path: Path, start: bool) -> None:
        self._config_path = config_path
        self._start = start
        self._found = anyio.Event()
        self._place = ""
        self._problem: BridgeGone | None = None

    async def find(self) -> None:
        """Look for the owner, or for the next one; `connect` waits for the result."""
        self._found, self._problem = anyio.Event(), None
        try:
            self._place = await anyio.to_thread.run_sync(reach, self._config_path, self._start, abandon_on_cancel=True)
        except BridgeGone as problem:
            self._problem = problem
        self._found.set()

    async def connect(self) -> SocketStream:
        """Connect as soon as the owner is found. Raises BridgeGone; OSError when the owner found is no longer there."""
        await self._found.wait()
        if self._problem is not None:
            raise self._problem
        stream = await anyio.connect_unix(self._place)
        try:
            endpoint.check_peer(stream.extra(SocketAttribute.raw_socket))  # noqa: S610  # no Django here
        except OSError as problem:
            await _close(stream)
            raise BridgeGone(str(problem)) from problem
        return stream


async def _greet(
    way: _Way,
    tasks: TaskGroup,
    on_event: Callable[[str, bytes], None],
    options: dict[str, Any],
    folder: str | None,
) -> tuple[BridgeClient, SocketStream]:
    """Connect and shake hands. An owner that ends at this very moment is followed by the next one."""
    end = anyio.current_time() + PATIENCE
    while True:
        try:
            stream = await way.connect()
        except OSError as problem:
            if anyio.current_time() > end:
                raise BridgeGone(f"The bridge cannot be reached: {problem}") from problem
            await way.find()
            continue
        client = BridgeClient(stream, on_event)
        tasks.start_soon(_converse, client)
        try:
            await client.initialize(options, folder)
        except BaseException as problem:
            await _close(stream)
            if isinstance(problem, BridgeGone) and client.ended.is_set() and anyio.current_time() < end:
                await way.find()
                continue
            raise
        return client, stream


async def _close(stream: SocketStream) -> None:
    with anyio.CancelScope(shield=True):
        await stream.aclose()


async def _converse(client: BridgeClient) -> None:
    wrong = await client.run()
    client.hang_up(wrong or "The bridge has ended; nothing finished is lost.")
