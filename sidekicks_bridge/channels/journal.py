"""Writes what happens to the store. Owns what the disk refused: it waits here and is tried again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import Message, StorageState
from sidekicks_bridge.store.contract import Change, PutMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.store.contract import Store

RETRY_SECONDS = 5.0
_log = logging.getLogger(__name__)


class Journal:
    """The one way to write history. `write` refuses when the disk does; `keep` never does."""

    def __init__(self, store: Store, on_state: Callable[[StorageState], None]) -> None:
        self._store = store
        self._on_state = on_state
        self._waiting: list[Change] = []
        self._refused = anyio.Event()
        self._reason: str | None = None

    @property
    def state(self) -> StorageState:
        """Whether history is being kept, and why not."""
        if self._waiting:
            return StorageState(persistent=False, reason=self._reason)
        return StorageState(persistent=self._store.persistent, reason=self._store.reason)

    def unsaved(self, channel_id: str) -> list[Message]:
        """Messages of a channel that wait for the disk."""
        return [
            change.message
            for change in self._waiting
            if isinstance(change, PutMessage) and change.message.channel_id == channel_id
        ]

    async def write(self, *changes: Change) -> None:
        """Write now; raises storeUnavailable (and keeps nothing) when the disk refuses."""
        waiting, kept = list(self._waiting), self._store.persistent
        await self._store.write(*waiting, *changes)
        if waiting:
            written = {id(change) for change in waiting}  # others may have written or added some meanwhile
            self._waiting = [change for change in self._waiting if id(change) not in written]
        if waiting or self._store.persistent != kept:
            self._on_state(self.state)

    async def keep(self, *changes: Change) -> None:
        """Write now, or as soon as the disk takes it: for what has already happened."""
        try:
            await self.write(*changes)
        except SidekicksError as error:
            if error.code != "storeUnavailable":
                raise
            _log.warning("history waits for the disk: %s", error.message)
            self._reason = f"{error.message} What was said since is kept in memory and written when the disk allows."
            self._waiting += changes
            self._on_state(self.state)
            self._refused.set()

    async def retry(self) -> None:
        """Try again what was refused, every few seconds; runs until cancelled."""
        while True:
            await self._refused.wait()
            self._refused = anyio.Event()
            while self._waiting:
                await anyio.sleep(RETRY_SECONDS)
                try:
                    await self.write()
                except SidekicksError as error:
                    _log.warning("history still waits for the disk: %s", error.message)
