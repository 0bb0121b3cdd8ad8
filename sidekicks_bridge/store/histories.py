"""The histories of all configurations, and taking one over for a configuration that moved (design: Storage).

Renames folders, whole and under their locks; opens no store, deletes and overwrites nothing.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from sidekicks_bridge import lock, paths
from sidekicks_bridge.private_files import write_whole
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.open import CONFIG_PATH, DATABASE


class History(msgspec.Struct, frozen=True, rename="camel"):
    """One history: its folder, whose it is, its size in bytes, how many messages (None: it cannot be read)."""

    folder: str
    config_path: str
    bytes: int
    messages: int | None
    orphan: bool
    """Whether the configuration file is gone."""


def histories(data: Path) -> list[History]:
    """All that lie in the folder ``data``. Blocks; what cannot be looked at is left out."""
    found = []
    for note in sorted(data.glob(f"*/{CONFIG_PATH}")):
        try:
            config = os.fsdecode(note.read_bytes().rstrip(b"\n"))
            if (note.parent / DATABASE).exists():
                gone = not Path(config).exists()
                found.append(History(str(note.parent), config, folder_size(note.parent), count(note.parent), gone))
        except OSError:
            continue
    return found


def folder_size(folder: Path) -> int:
    """The bytes of all files in it."""
    return sum(entry.stat().st_size for entry in folder.rglob("*") if entry.is_file())


def count(folder: Path) -> int | None:
    """How many messages a data folder holds; None: its database cannot be read."""
    try:
        connection = sqlite3.connect(f"{(folder / DATABASE).as_uri()}?mode=ro", uri=True, timeout=2)
        try:
            (messages,) = connection.execute("SELECT count(*) FROM messages").fetchone()
        finally:
            connection.close()
    except sqlite3.Error:
        return None
    return int(messages)


def adopt(folder: Path, config_path: Path) -> Path | None:
    """Make the history in ``folder`` that of the configuration at the absolute ``config_path``.

    What that configuration had is kept under a new name, which is returned. Raises SidekicksError storeUnavailable:
    there is no history, a bridge has one of the two open, or the folders cannot be renamed.
    """
    target = paths.data_dir(config_path)
    if not (folder / DATABASE).exists():
        raise SidekicksError("storeUnavailable", f"There is no history in {folder}; `sidekicks data` lists them all.")
    if folder.resolve() == target.resolve():
        raise SidekicksError("storeUnavailable", f"{folder} is the history of {config_path} already.")
    with ExitStack() as locks:
        _lock(folder, locks)
        if target.exists():
            _lock(target, locks)
        try:
            return _take_over(folder, target, config_path)
        except OSError as problem:
            raise SidekicksError(
                "storeUnavailable", f"{folder} cannot be renamed to {target}: {problem.strerror or problem}."
            ) from problem


def _lock(folder: Path, locks: ExitStack) -> None:
    try:
        locks.callback(lock.take(paths.lock_path(folder)).release)
    except lock.LockTakenError as taken:
        raise SidekicksError(
            "storeUnavailable", f"A bridge has {folder} open ({taken}). `sidekicks stop` ends it; then try again."
        ) from taken
    except OSError as problem:
        raise SidekicksError("storeUnavailable", f"{folder} cannot be locked: {problem.strerror}.") from problem


def _take_over(folder: Path, target: Path, config_path: Path) -> Path | None:
    aside = None
    if target.exists():
        aside = target.with_name(f"{target.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        target.rename(aside)
    folder.rename(target)
    write_whole(target / CONFIG_PATH, os.fsencode(config_path) + b"\n")
    return aside
