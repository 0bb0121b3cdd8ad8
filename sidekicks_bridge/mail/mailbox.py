"""Reading mail: who waits where, waking them, the end of a wait. A message is consumed only by the channel's task.

A wait never holds a message: it looks, sleeps until something was written, and looks once more when its time is up.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio

from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")
ANY = "*"
"""A place that stands for all channels of the caller."""


def with_peer(name: str) -> str:
    """The place where mail of a peer arrives, be there a channel yet or not."""
    return f"@{fold(name)}"


class Wait:
    """Somebody who waits at a place: `ANY`, `with_peer`, or the id of a room's channel."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self.news = anyio.Event()
        self.closed: str | None = None

    def wake(self) -> None:
        """Something was written, or the wait is void."""
        self.news.set()


class Waits:
    """Everybody who waits for mail."""

    def __init__(self) -> None:
        self._waits: dict[str, list[Wait]] = {}

    def all(self) -> list[Wait]:
        """The waits, in no order."""
        return [wait for waits in self._waits.values() for wait in waits]

    @contextmanager
    def waiting(self, name: str, place: str) -> Iterator[Wait]:
        """Be known as one who waits; raises readPending when the caller does already, there or everywhere."""
        mine = self._waits.setdefault(fold(name), [])
        if any(ANY in (place, other.place) or other.place == place for other in mine):
            raise SidekicksError(
                "readPending",
                f"@{name} already waits for a message there. Let that read end first, or read without waiting "
                "(timeout 0).",
                {"name": name},
            )
        wait = Wait(name, place)
        mine.append(wait)
        try:
            yield wait
        finally:
            mine.remove(wait)
            if not mine:
                self._waits.pop(fold(name), None)

    def arrived(self, name: str, place: str) -> None:
        """There is mail for ``name`` at a place."""
        for wait in self._waits.get(fold(name), ()):
            if wait.place in (ANY, place):
                wait.wake()

    def close(self, wait: Wait, reason: str) -> None:
        """End a wait: what it waited for cannot come any more."""
        wait.closed = reason
        wait.wake()

    def close_all(self, name: str, reason: str) -> None:
        """End every wait of a participant."""
        for wait in self._waits.get(fold(name), ()):
            self.close(wait, reason)


async def wait_for(wait: Wait, patience: float, look: Callable[[], Awaitable[T | None]]) -> T | None:
    """What ``look`` finds now or within ``patience`` seconds, else None. Raises closed."""
    end = anyio.current_time() + patience
    while True:
        if wait.closed is not None:
            raise SidekicksError("closed", wait.closed, {"name": wait.name})
        wait.news = anyio.Event()
        found = await look()
        if found is not None:
            return found
        if anyio.current_time() >= end:
            return None
        with anyio.move_on_at(end):
            await wait.news.wait()
