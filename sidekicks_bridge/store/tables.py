"""A TinyDB file that is replaced whole and atomically: its storage, reading its tables, changing some values.

Knows the file's form (table → document → key and value), not what is kept in it. Everything here blocks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.private_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

Tables = dict[str, dict[str, Any]]
"""Table name → key → JSON value."""


class AtomicStorage:
    """A TinyDB storage that replaces its file by a rename: a kill leaves the old or the new content, whole.

    (TinyDB's own truncates after its fsync; killed between the two, it leaves a file that cannot be read.)
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, dict[str, Any]] | None:
        """The content; None if there is no file. Raises ValueError, OSError if it cannot be read."""
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        if not isinstance(content, dict) or not all(isinstance(table, dict) for table in content.values()):
            raise ValueError("it is not an object of objects")
        for table in content.values():
            if not all(number.isdecimal() and isinstance(entry, dict) for number, entry in table.items()):
                raise ValueError("its entries are not numbered objects")
        return content

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace the content."""
        write_whole(self._path, json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n")

    def close(self) -> None:
        """Nothing is held open."""


def read_tables(path: Path) -> Tables:
    """All values of a file; none if it does not exist. Raises ValueError if it holds something else, OSError.

    Read without TinyDB: every start reads, and importing it would cost more than all the rest.
    """
    content = AtomicStorage(path).read() or {}
    return {
        name: {str(entry["key"]): entry["value"] for entry in table.values() if entry.keys() >= {"key", "value"}}
        for name, table in content.items()
    }


def update_tables(path: Path, changed: Tables) -> None:
    """Set (None: remove) the values in the file, in one replacement; whatever else is in it stays as it is."""
    from tinydb import TinyDB, where
    from tinydb.middlewares import CachingMiddleware

    whole = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]  # one write for all, on closing
    with TinyDB(path, storage=whole) as database:
        for name, values in changed.items():
            table = database.table(name)
            for key, value in values.items():
                if value is None:
                    table.remove(where("key") == key)
                else:
                    table.upsert({"key": key, "value": value}, where("key") == key)
