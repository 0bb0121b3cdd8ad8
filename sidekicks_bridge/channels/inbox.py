"""The inbox of an owner: the only way to change what its task owns. Order of arrival is order of handling."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Inbox:
    """Commands for one owner. `call` waits for the result, `cast` does not; both keep the order of arrival.

    Plain futures and one event: every letter and every chunk of an answer comes this way, and anyio's cost more.
    """

    def __init__(self) -> None:
        self._items: deque[tuple[Callable[..., Any], tuple[Any, ...], asyncio.Future[Any] | None]] = deque()
        self._arrived = asyncio.Event()
        self._end: SidekicksError | None = None

    @property
    def closed(self) -> bool:
        """Whether it takes no more."""
        return self._end is not None

    def cast(self, handler: Callable[..., None], *args: object) -> None:
        """Have the owner run a synchronous handler; nothing is answered. After `close` nothing happens."""
        if not self.closed:
            self._items.append((handler, args, None))
            self._arrived.set()

    async def call(self, handler: Callable[..., Awaitable[T]], *args: object) -> T:
        """Have the owner run an asynchronous handler and wait for its result. After `close` raises why."""
        if self._end is not None:
            raise self._end
        reply: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._items.append((handler, args, reply))
        self._arrived.set()
        return await reply

    async def call_if_open(self, handler: Callable[..., Awaitable[None]], *args: object) -> None:
        """As `call`, but once it is closed nothing happens."""
        try:
            await self.call(handler, *args)
        except SidekicksError:
            if not self.closed:
                raise

    def close(self, why: SidekicksError) -> None:
        """Take no more; calls that still wait fail with ``why``, as later ones do."""
        self._end = why
        for _, _, reply in self._items:
            if reply is not None:
                _fail(reply, why)
        self._items.clear()
        self._arrived.set()

    async def serve(self, idle: Callable[[], float | None], on_idle: Callable[[], Awaitable[None]]) -> None:
        """Handle commands, one at a time, until closed. After ``idle()`` seconds without any, run ``on_idle``."""
        while not self.closed:
            if not self._items:
                self._arrived.clear()
                if not await _within(idle(), self._arrived):
                    await on_idle()
                continue
            handler, args, reply = self._items.popleft()
            if reply is None:
                _contained(handler, args)
            else:
                await _answer(reply, handler, args)


def _contained(handler: Callable[..., None], args: tuple[Any, ...]) -> None:
    try:
        handler(*args)
    except Exception:  # one command's failure is contained: the owner lives on
        _log.exception("a command failed: %s", getattr(handler, "__qualname__", handler))


async def _within(seconds: float | None, event: asyncio.Event) -> bool:
    """Wait for the event; False: it took longer. No limit costs nothing, as between the chunks of an answer."""
    if seconds is None:
        await event.wait()
        return True
    with anyio.move_on_after(seconds):
        await event.wait()
    return event.is_set()


async def _answer(reply: asyncio.Future[Any], handler: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
    try:
        result = await handler(*args)
    except anyio.get_cancelled_exc_class():
        _fail(reply, SidekicksError("shuttingDown", "The bridge is stopping."))
        raise
    except Exception as error:  # the caller gets it and maps it; the owner lives on
        _fail(reply, error)
    else:
        if not reply.done():
            reply.set_result(result)


def _fail(reply: asyncio.Future[Any], error: Exception) -> None:
    if not reply.done():  # whoever called may have been cancelled, now or before it hears of this
        reply.set_exception(error)
        reply.exception()
