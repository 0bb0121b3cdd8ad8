"""Attaching the command line to the running bridge, or to a hub started for it.

Owns the way there (lock, socket, hub on demand) and the order of the goodbye; what is said is `client`'s.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute

from sidekicks_bridge import endpoint, ownership
from sidekicks_bridge.cli.client import BridgeClient, BridgeGone
from sidekicks_bridge.cli.spawn import bridge, bridge_command, config_options, only
from sidekicks_bridge.config.locate import ensure, locate
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from anyio.abc import SocketStream

PATIENCE = 30.0
_STEP = 0.02


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
        location = locate(config, trusted_workspace=Path.cwd())
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
            way = _Way()
            tasks.start_soon(way.find, config_path, start)
            meanwhile()
            client, stream = await way.client(on_event)
            tasks.start_soon(_converse, client)
            try:
                await client.initialize(options, folder)
                yield client
                await client.shut_down()
            finally:
                with anyio.CancelScope(shield=True):
                    await stream.aclose()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise only(group) from None


class _Way:
    """Where the owner listens, once that is known."""

    def __init__(self) -> None:
        self.found = anyio.Event()
        self.place: str | None = None
        self.problem: BridgeGone | None = None

    async def find(self, config_path: Path, start: bool) -> None:
        try:
            self.place = await anyio.to_thread.run_sync(reach, config_path, start, abandon_on_cancel=True)
        except BridgeGone as problem:
            self.problem = problem
        self.found.set()

    async def client(self, on_event: Callable[[str, bytes], None]) -> tuple[BridgeClient, SocketStream]:
        """Connect as soon as the owner is found. Raises BridgeGone."""
        await self.found.wait()
        if self.problem is not None:
            raise self.problem
        assert self.place is not None
        try:
            stream = await anyio.connect_unix(self.place)
            endpoint.check_peer(stream.extra(SocketAttribute.raw_socket))  # noqa: S610  # no Django here
        except OSError as problem:
            raise BridgeGone(f"The bridge cannot be reached: {problem}") from problem
        return BridgeClient(stream, on_event), stream


def reach(config_path: Path, start: bool) -> str:
    """The socket of the owner, started if need be; waits until it listens. Raises BridgeGone."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        holder = ownership.running(config_path)
        if holder is None:
            if not start:
                raise BridgeGone("No bridge is running for this configuration.")
            from sidekicks_bridge.cli.hub import HubFailed, start_hub

            try:
                start_hub(config_path)
            except HubFailed as failed:
                raise BridgeGone(str(failed)) from failed
        elif problem := ownership.other_version(holder):
            raise BridgeGone(problem)
        elif holder.socket is not None and _listens(holder.socket):
            return holder.socket
        time.sleep(_STEP)
    raise BridgeGone(
        f"No bridge came up within {PATIENCE:.0f} seconds. `sidekicks hub --config {config_path}` shows why."
    )


def _listens(place: str) -> bool:
    try:
        endpoint.connect(place).close()
    except OSError:
        return False
    return True


async def _converse(client: BridgeClient) -> None:
    wrong = await client.run()
    client.hang_up(wrong or "The bridge has ended; nothing finished is lost.")
