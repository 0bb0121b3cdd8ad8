"""How a running chat stays attached: when its bridge ends it goes on with the next one.

Owns when that is tried and when it is given up. What to show, and what to ask the new bridge, is the app's.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli.client import BridgeClient, BridgeGone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    Connect = Callable[[], AbstractAsyncContextManager[BridgeClient]]

_MOST_ENDS = 3
_WITHIN = 20.0
"""Seconds: a bridge that ends so often in so short a time is not started once more."""


class Attachment:
    """``client`` is the connection now; after an end, until the next one, it refuses every request."""

    def __init__(self, client: BridgeClient, connect: Connect) -> None:
        self.client = client
        self.stopping = False
        """The bridge has said that it stops: somebody wanted that, so a new one is started only for a reason."""
        self._connect = connect
        self._wanted = anyio.Event()
        self._ends: deque[float] = deque(maxlen=_MOST_ENDS)

    def want(self) -> None:
        """The person does something that needs a bridge."""
        self._wanted.set()

    async def hold(self, lost: Callable[[str], None], back: Callable[[], Awaitable[None]]) -> BridgeGone:
        """Attach again at each end: ``lost`` is told why it ended, ``back`` is awaited when there is a bridge again.

        Returns why it is given up.
        """
        await self.client.ended.wait()
        while True:
            reason = self.client.end_reason
            self._ends.append(time.monotonic())
            if len(self._ends) == _MOST_ENDS and self._ends[-1] - self._ends[0] < _WITHIN:
                return BridgeGone(reason)
            self._wanted = anyio.Event()
            lost(reason)
            if self.stopping:
                await self._wanted.wait()
            self.stopping = False
            before = self.client
            try:
                async with self._connect() as self.client:
                    await back()
                    await self.client.ended.wait()
            except BridgeGone as gone:
                if self.client is before:  # there is no new one
                    return gone
