"""Noticing that the configuration file changed, however an editor saves it. Reads no content, decides nothing.

What is watched is the folder, since a watch on the file misses saves by rename; a look at the file once a second
catches what the system does not report (network file systems, a folder that was replaced).
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the file, when nothing is reported."""
STEP_MS: Final = 50
"""How long nothing more must happen before a change is told. A fifth of it saves 40 ms and costs four times the
processor time while nothing happens (0.7 % against 0.2 % of a core)."""
DEBOUNCE_MS: Final = 200
MAX_LINKS: Final = 40

Signature = tuple[tuple[str, int, int, int, int] | None, ...]
"""Identity, size and time of the file and its folders: what differs when the file may have changed."""


def signature(path: Path) -> Signature:
    """How ``path`` stands now. Take it before reading the file, and give it to `watch`: then no change is missed."""
    links = _chain(path)
    file = _status(links[-1])
    folders = (_status(link.parent) for link in links)
    return (file, *(folder and (*folder[:3], 0, 0) for folder in folders))


def _status(path: Path) -> tuple[str, int, int, int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return str(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _chain(path: Path) -> list[Path]:
    """``path`` and, as long as it is a symbolic link, what it points to."""
    chain = [path.absolute()]
    while len(chain) < MAX_LINKS:
        try:
            chain.append(chain[-1].parent / chain[-1].readlink())
        except (OSError, ValueError):
            break
    return chain


async def watch(path: Path, on_change: Callable[[], Awaitable[None]], since: Signature | None = None) -> None:
    """Await ``on_change`` after each change of ``path`` (made, saved, replaced, removed, link moved); runs until
    cancelled. Changes during ``on_change`` lead to another call. ``since``: what the caller has already seen.
    """
    watcher = _Watcher(path, on_change, signature(path) if since is None else since)
    while True:
        await watcher.look(reported=False)
        if watcher.folders_exist():
            await watcher.follow_folders()
        else:
            await anyio.sleep(LOOK_EVERY)


class _Watcher:
    """What was seen last, and the comparison with what is there now."""

    def __init__(self, path: Path, on_change: Callable[[], Awaitable[None]], seen: Signature) -> None:
        self._path = path
        self._on_change = on_change
        self._seen = seen

    async def look(self, *, reported: bool) -> None:
        now = signature(self._path)
        if reported or now != self._seen:
            self._seen = now
            await self._on_change()

    def folders_exist(self) -> bool:
        return all(self._seen[1:])

    async def follow_folders(self) -> None:
        """Follow what the system reports, until other folders than these are the ones to watch."""
        from watchfiles import awatch

        chain = _chain(self._path)
        names = {link.name for link in chain}
        folders = self._seen[1:]
        stop = anyio.Event()
        reports = awatch(
            *{link.parent for link in chain},
            watch_filter=None,
            recursive=False,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=round(LOOK_EVERY * 1000),
            yield_on_timeout=True,
            stop_event=stop,
        )
        async with anyio.create_task_group() as group, aclosing(reports):
            group.start_soon(_set_when_cancelled, stop)
            while self._seen[1:] == folders:
                try:
                    changes = await anext(reports)
                except (StopAsyncIteration, OSError, RuntimeError):  # stopped, or the system cannot watch more
                    await anyio.sleep(LOOK_EVERY)
                    break
                await self.look(reported=any(Path(changed).name in names for _, changed in changes))
            group.cancel_scope.cancel()


async def _set_when_cancelled(event: anyio.Event) -> None:
    """watchfiles waits in a thread that a cancellation does not reach; this does."""
    try:
        await anyio.sleep_forever()
    finally:
        event.set()
