"""Attaching the command line to the running bridge, or to a hub started for it.

Owns the way there (lock, socket, hub on demand) and the order of the goodbye; what is said is `client`'s.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from sidekicks_bridge import endpoint, ownership
from sidekicks_bridge.cli.client import BridgeClient, BridgeGone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

PATIENCE = 30.0
_STEP = 0.02


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
    async with anyio.create_task_group() as tasks:
        way = _Way()
        tasks.start_soon(way.find, config_path, start)
        meanwhile()
        await way.found.wait()
        if way.problem is not None:
            raise way.problem
        assert way.place is not None
        stream = await anyio.connect_unix(way.place)
        endpoint.check_peer(stream.extra_attributes[anyio.abc.SocketAttribute.raw_socket]())
        client = BridgeClient(stream, on_event)
        tasks.start_soon(_converse, client)
        try:
            await client.initialize(options, folder)
            yield client
            await client.shut_down()
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()
            tasks.cancel_scope.cancel()


class _Way:
    """Where the owner listens, once that is known."""

    def __init__(self) -> None:
        self.found = anyio.Event()
        self.place: str | None = None
        self.problem: BridgeGone | None = None

    async def find(self, config_path: Path, start: bool) -> None:
        try:
            self.place = await anyio.to_thread.run_sync(reach, config_path, start)
        except BridgeGone as problem:
            self.problem = problem
        self.found.set()


def reach(config_path: Path, start: bool) -> str:
    """The socket of the owner, started if need be; waits until it listens. Raises BridgeGone."""
    end = time.monotonic() + PATIENCE
    started = False
    while time.monotonic() < end:
        holder = ownership.running(config_path)
        if holder is None:
            if not start:
                raise BridgeGone("No bridge is running for this configuration.")
            if not started:
                from sidekicks_bridge.cli.hub import start_hub

                start_hub(config_path)
                started = True
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
    client.hang_up(wrong or "The bridge has ended; start again to go on (nothing finished is lost).")
