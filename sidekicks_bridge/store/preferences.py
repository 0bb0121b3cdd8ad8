"""What people may want to read and edit: TinyDB files, replaced whole and atomically, written off the loop.

Values are read once and kept in memory. Writing merges what was set into the file as it is then, under a lock, because
several bridges share the global file. A file that cannot be read is set aside and reported, never overwritten.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from sidekicks_bridge import lock
from sidekicks_bridge.private_files import make_folder, set_aside
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.tables import Tables, read_tables, update_tables

if TYPE_CHECKING:
    from pathlib import Path

RECENT_LIMIT = 20
COALESCE_SECONDS = 0.2
"""How long what is set waits for more, so that typing does not write a file for each key."""
LOCK_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Preferences:
    """One file of preferences. Reading and setting is immediate; the file follows within a second.

    Every method raises SidekicksError storeClosed after `close`. ``problem`` is a sentence when the file could not be
    read or written. Without a path nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self.problem: str | None = None
        self._path = path
        self._values: Tables = {}
        self._waiting: Tables = {}
        self._guard = threading.Lock()
        self._hurry = threading.Event()
        self._scheduled = False
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="preferences")

    @classmethod
    async def open(cls, path: Path | None) -> Preferences:
        """Read the file, if there is one. Raises nothing for what is wrong with it: see ``problem``."""
        preferences = cls(path)
        await anyio.to_thread.run_sync(preferences._load)
        return preferences

    def get(self, table: str, key: str) -> Any:
        """A value, or None."""
        return self.all(table).get(key)

    def all(self, table: str) -> dict[str, Any]:
        """All values of a table, in the order in which they were first set."""
        self._check_open()
        return dict(self._values.get(table, {}))

    def put(self, table: str, key: str, value: Any) -> None:
        """Set a value; None removes it."""
        self._check_open()
        if self._values.get(table, {}).get(key) == value:
            return
        with self._guard:
            _set(self._values, table, key, value)
            self._waiting.setdefault(table, {})[key] = value
            if self._path is None or self._scheduled:
                return
            self._scheduled = True
        self._thread.submit(self._write_later)

    async def flush(self) -> None:
        """Have everything set so far written."""
        self._check_open()
        await self._flush()

    async def close(self) -> None:
        """Write what is waiting. Idempotent."""
        if not self._closed:
            self._closed = True
            await self._flush()
            self._thread.shutdown(wait=False)

    async def _flush(self) -> None:
        self._hurry.set()
        try:
            await asyncio.shield(asyncio.wrap_future(self._thread.submit(self._write)))
        finally:
            self._hurry.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise SidekicksError("storeClosed", "The bridge is stopping: its preferences are closed.")

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            self._values = read_tables(self._path)
        except (OSError, ValueError) as problem:
            self._set_aside(self._path, problem)

    def _set_aside(self, path: Path, cause: Exception) -> None:
        try:
            aside = set_aside(path)
        except OSError as problem:
            self._report(
                f"The preferences in {path} cannot be read ({cause}) nor set aside ({problem}): none are kept."
            )
            self._path = None
        else:
            self._report(f"The preferences in {path} could not be read ({cause}). They were kept as {aside}.")

    def _report(self, problem: str) -> None:
        self.problem = problem
        _log.warning("%s", problem)

    def _write_later(self) -> None:
        self._hurry.wait(COALESCE_SECONDS)
        self._write()

    def _write(self) -> None:
        """In the thread: merge what waits into the file. What cannot be written waits for the next time."""
        path = self._path
        with self._guard:
            self._scheduled = False
            waiting, self._waiting = self._waiting, {}
        if path is None or not waiting:
            return
        try:
            make_folder(path.parent)
            with lock.Held(path.with_name(path.name + ".lock"), LOCK_SECONDS):
                self._merge(path, waiting)
        except (OSError, lock.LockTakenError) as problem:
            self._report(f"The preferences in {path} cannot be written: {problem}")
            with self._guard:
                for table, values in waiting.items():
                    self._waiting[table] = values | self._waiting.get(table, {})

    def _merge(self, path: Path, waiting: Tables) -> None:
        try:
            read_tables(path)
        except ValueError as cause:
            self._set_aside(path, cause)
            with self._guard:
                waiting = {table: dict(values) for table, values in self._values.items()}
        if self._path is not None:
            update_tables(path, waiting)


def _set(tables: Tables, table: str, key: str, value: Any) -> None:
    if value is None:
        tables.get(table, {}).pop(key, None)
    else:
        tables.setdefault(table, {})[key] = value


class _Kept:
    """Preferences with names; ``file`` is where they are."""

    def __init__(self, file: Preferences) -> None:
        self.file = file

    async def close(self) -> None:
        """Write what is waiting. Idempotent."""
        await self.file.close()


class GlobalPreferences(_Kept):
    """What all configurations share: which ones were used."""

    def recent(self) -> list[str]:
        """Paths of configurations used before, the newest first."""
        used = self.file.all("recent")
        return sorted(used, key=lambda path: str(used[path]), reverse=True)

    def note_recent(self, path: str, at: str) -> None:
        """The configuration was opened at that time; the oldest beyond 20 are forgotten."""
        self.file.put("recent", path, at)
        for old in self.recent()[RECENT_LIMIT:]:
            self.file.put("recent", old, None)


class ChannelPreferences(_Kept):
    """What one configuration keeps for each channel: the draft in its composer, and how far the user has read."""

    def draft(self, channel_id: str) -> str | None:
        """The text that waits in the channel's composer, or None."""
        value = self.file.get("drafts", channel_id)
        return value if isinstance(value, str) else None

    def set_draft(self, channel_id: str, text: str) -> None:
        """Keep the composer's text; empty forgets it."""
        self.file.put("drafts", channel_id, text or None)

    def read_mark(self, channel_id: str) -> int:
        """The seq up to which the user has read; 0 at first."""
        value = self.file.get("read", channel_id)
        return value if isinstance(value, int) else 0

    def set_read_mark(self, channel_id: str, seq: int) -> None:
        """The user has read up to ``seq``."""
        self.file.put("read", channel_id, seq)

    def forget(self, channel_id: str) -> None:
        """The channel was deleted."""
        self.file.put("drafts", channel_id, None)
        self.file.put("read", channel_id, None)
