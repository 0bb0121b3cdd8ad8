"""Looking at what is kept on disk, for the doctor: whose history lies where, how large, what the system offers.

Reads only, beside a bridge that may be running; opens no store.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import msgspec

from sidekicks_bridge import paths
from sidekicks_bridge.store.open import CONFIG_PATH, DATABASE
from sidekicks_bridge.store.schema import TOKENIZER


class Orphan(msgspec.Struct, frozen=True):
    """A history whose configuration file is gone: its folder, the file it belonged to, its size in bytes."""

    folder: str
    config_path: str
    bytes: int


class Inspected(msgspec.Struct, kw_only=True):
    """The place of one configuration's history. ``problem``: why it cannot be read."""

    folder: str
    exists: bool
    bytes: int = 0
    messages: int = 0
    free: int | None = None
    """Bytes free on that disk."""
    search: bool
    """Whether this system's SQLite has the index that search uses."""
    sqlite: str
    problem: str | None = None
    orphans: list[Orphan] = []


def inspect(config_path: Path) -> Inspected:
    """What is kept for the configuration at the absolute ``config_path``. Blocks."""
    folder = paths.data_dir(config_path)
    database = folder / DATABASE
    found = Inspected(
        folder=str(folder),
        exists=database.exists(),
        free=_free(folder),
        search=_has_index(),
        sqlite=sqlite3.sqlite_version,
        orphans=_orphans(folder.parent),
    )
    if found.exists:
        found.bytes = _size(folder)
        try:
            connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=2)
            try:
                (found.messages,) = connection.execute("SELECT count(*) FROM messages").fetchone()
            finally:
                connection.close()
        except sqlite3.Error as problem:
            found.problem = str(problem)
    return found


def _free(folder: Path) -> int | None:
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def _has_index() -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE probe USING fts5(text, tokenize='{TOKENIZER}')")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def _orphans(data: Path) -> list[Orphan]:
    found = []
    for note in sorted(data.glob(f"*/{CONFIG_PATH}")):
        try:
            config = os.fsdecode(note.read_bytes().rstrip(b"\n"))
            if not Path(config).exists() and (note.parent / DATABASE).exists():
                found.append(Orphan(str(note.parent), config, _size(note.parent)))
        except OSError:
            continue
    return found


def _size(folder: Path) -> int:
    return sum(entry.stat().st_size for entry in folder.rglob("*") if entry.is_file())
