"""When clients are told the list of channels: at once, then at most every few hundredths of a second.

A flood of mail changes the list with each message, and the list costs as much as there are channels. Decides when, not
what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable

GAP_SECONDS = 0.05


class Overview:
    """``tell`` is called, on the loop, after `changed` was."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._changed = anyio.Event()

    def changed(self) -> None:
        """Something in the list is new."""
        self._changed.set()

    def flush(self) -> None:
        """Tell at once what has not been told yet: before an answer, which may show it."""
        if self._changed.is_set():
            self._changed = anyio.Event()
            self._tell()

    async def run(self) -> None:
        """Tell what changed; runs until cancelled."""
        while True:
            await self._changed.wait()
            self.flush()
            await anyio.sleep(GAP_SECONDS)
