"""Looking at what is kept on disk, for the doctor: whose history lies where, how large, what the system offers.

Reads only, beside a bridge that may be running; opens no store.
"""

from __future__ import annotations

import shutil
import sqlite3
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge import paths
from sidekicks_bridge.private_files import cause
from sidekicks_bridge.store.histories import History, folder_size, histories
from sidekicks_bridge.store.open import DATABASE
from sidekicks_bridge.store.schema import TOKENIZER

if TYPE_CHECKING:
    from pathlib import Path


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
    orphans: list[History] = []
    """Histories whose configuration file is gone."""


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
        orphans=[one for one in histories(folder.parent) if one.orphan],
    )
    try:
        database.stat()
    except FileNotFoundError:
        pass
    except OSError as problem:
        found.problem = cause(database, problem)
    if found.exists:
        found.bytes = folder_size(folder)
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
