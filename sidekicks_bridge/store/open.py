"""Opening the store of a configuration: on disk if that is possible at all, else in memory with the reason.

Owns the data folder: its place and permissions, the lock, setting aside a database that cannot be read. Never raises
for what a disk can do wrong: the bridge runs on, and every client shows the reason (design rule 9).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

import anyio.to_thread

from sidekicks_bridge import lock, paths
from sidekicks_bridge.private_files import cause, private_file, private_folder, set_aside, write_whole
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store import schema
from sidekicks_bridge.store.preferences import ChannelPreferences, GlobalPreferences, Preferences
from sidekicks_bridge.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sidekicks_bridge.store.contract import Store

DATABASE = "history.db"
CONFIG_PATH = "config-path"
PREFERENCES = "preferences.json"

_BUSY_SECONDS = 5.0
_UNREADABLE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class _UnreadableError(Exception):
    """The database could not be read and was set aside; the message says so to a person."""

    def __init__(self, aside: Path, problem: sqlite3.DatabaseError) -> None:
        super().__init__(f"The history could not be read ({problem}). It was kept as {aside}, and a new one has begun.")


async def open_store(config_path: Path, *, folder: Path | None = None, held: lock.Lock | None = None) -> Store:
    """The store of the configuration at the absolute ``config_path``; ``persistent`` and ``reason`` tell how it went.

    ``folder``: where the history lies, if not in the user's data folder. ``held``: its lock, if the caller took it
    already; the store gives it back when it closes. A persistent store may have a ``reason`` too: a notice (it began
    anew, or slower).
    """
    return await anyio.to_thread.run_sync(_open, config_path, folder or paths.data_dir(config_path), held)


def memory_store(reason: str | None = None, released: Callable[[], None] = lambda: None) -> SqliteStore:
    """A store that ends with the process; ``reason`` says why it is not on disk. ``released``: as `SqliteStore`."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    schema.migrate(connection)
    return SqliteStore(connection, None, place="memory", reason=reason, released=released)


async def open_history(config_path: Path) -> Store | None:
    """The history of a configuration to read only, beside a bridge that may be running; None if there is none.

    Raises SidekicksError storeUnavailable when it cannot be read.
    """
    return await anyio.to_thread.run_sync(_open_history, paths.data_dir(config_path) / DATABASE)


def _open_history(database: Path) -> Store | None:
    try:
        database.stat()
    except FileNotFoundError:
        return None
    except OSError as problem:
        sentence = f"The history {database} cannot be read: {cause(database, problem)}."
        raise SidekicksError("storeUnavailable", sentence) from problem
    try:
        connection = sqlite3.connect(
            f"{database.as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_SECONDS,
        )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as problem:
        raise SidekicksError("storeUnavailable", f"The history {database} cannot be read: {problem}.") from problem
    if version == 0:  # a bridge is just making it
        connection.close()
        return None
    if other := schema.other_version(version):
        connection.close()
        raise SidekicksError("storeUnavailable", f"The history {database} cannot be read: {other}.")
    return SqliteStore(connection, None, place=str(database), read_only=True)


def _open(config_path: Path, folder: Path, held: lock.Lock | None) -> Store:
    try:
        private_folder(folder)
        held = held or lock.take(paths.lock_path(folder))
    except lock.LockTakenError as taken:
        who = f"process {taken.holder.pid}" if taken.holder else "another process"
        return memory_store(
            f"Another bridge ({who}) has the history of {config_path} open. Close it, then start this one again."
        )
    except OSError as problem:
        return memory_store(_unusable(folder, problem))
    try:
        _note_config_path(folder / CONFIG_PATH, config_path)
        return _open_or_set_aside(folder / DATABASE, held)
    except (OSError, sqlite3.Error, schema.NewerDatabaseError, _UnreadableError) as problem:
        # The folder stays ours: a second owner would take the socket away, and each would have a history of its own.
        return memory_store(_unusable(folder, problem), held.release)


def _unusable(folder: Path, problem: Exception) -> str:
    why = cause(folder, problem) if isinstance(problem, OSError) else str(problem)
    advice = "" if isinstance(problem, schema.NewerDatabaseError) else " Put that right, then start again."
    return f"The history in {folder} cannot be opened: {why}.{advice}"


def _note_config_path(note: Path, config_path: Path) -> None:
    """Whose history this is: a configuration that moved leaves an orphan that can be found by it."""
    content = os.fsencode(config_path) + b"\n"
    if not note.exists() or note.read_bytes() != content:
        write_whole(note, content)


def _open_or_set_aside(database: Path, held: lock.Lock) -> Store:
    try:
        return _open_database(database, held)
    except _UnreadableError as unreadable:
        return _open_database(database, held, str(unreadable))


def _open_database(database: Path, held: lock.Lock, notice: str | None = None) -> Store:
    """Raises _UnreadableError when the database was set aside, sqlite3.Error, OSError, NewerDatabaseError."""
    os.close(private_file(database))  # SQLite gives its -wal and -shm the database's permissions
    with contextlib.ExitStack() as undo:
        writer, reader = _connect(database), _connect(database)
        undo.callback(writer.close)
        undo.callback(reader.close)
        try:
            journal_notice = use_journal(writer)
            schema.migrate(writer)
            reader.execute("PRAGMA query_only = ON")
            reason = " ".join(filter(None, (notice, journal_notice))) or None
            store = SqliteStore(writer, reader, place=str(database), reason=reason, released=held.release)
        except sqlite3.DatabaseError as problem:
            if problem.sqlite_errorcode & 0xFF not in _UNREADABLE:
                raise
            # Before closing: that would merge the log into the damaged file and delete it.
            raise _UnreadableError(set_aside(database, "-wal", "-shm"), problem) from problem
        undo.pop_all()
        return store


def _connect(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(database, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)


def use_journal(connection: sqlite3.Connection) -> str | None:
    """Write-ahead log with an fsync for each commit; where it is refused (NFS), the slower journal and a notice."""
    try:
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    except sqlite3.OperationalError:
        (journal,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    if journal == "wal":
        return None
    return "The history lies on a file system without shared memory (a network folder?): saving is slower there."


async def open_global_preferences(path: Path | None = None) -> GlobalPreferences:
    """What all configurations share, by default in the user's configuration folder."""
    return GlobalPreferences(await Preferences.open(path or paths.preferences_path()))


async def open_channel_preferences(
    config_path: Path, store: Store, *, folder: Path | None = None
) -> ChannelPreferences:
    """The preferences of a configuration, beside its history; kept only where ``store`` is kept."""
    place = (folder or paths.data_dir(config_path)) / PREFERENCES if store.persistent else None
    return ChannelPreferences(await Preferences.open(place))
