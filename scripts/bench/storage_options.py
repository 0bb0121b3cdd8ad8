"""Why messages are kept in SQLite and preferences in TinyDB on our own storage: both measured, about a minute.

Prints one JSON object a line. Inserts and opens are of 1 KB messages, durable, one at a time; a kill is SIGKILL at a
random moment of writing one document that is alternately large and small.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinydb import TinyDB
from tinydb.storages import JSONStorage
from tinydb.table import Document

from sidekicks_bridge.store.tables import AtomicStorage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = {1_000: 20, 10_000: 5, 100_000: 2}
"""Messages already there → inserts measured."""
TRIALS = 40
TEXT = "x" * 1_000
STORAGES = {"tinydb": JSONStorage, "tinydb-atomic": AtomicStorage}


def document(number: int) -> dict[str, Any]:
    """A message of about 1 KB in one of 50 channels."""
    return {"channel": number % 50, "seq": number, "text": TEXT}


def fill_tinydb(path: Path, count: int) -> None:
    """Written at once, in the form TinyDB would have given it."""
    path.write_text(json.dumps({"_default": {str(n): document(n) for n in range(1, count + 1)}}), encoding="utf-8")


def open_sqlite(path: Path) -> sqlite3.Connection:
    """With a write-ahead log and an fsync for each commit."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE IF NOT EXISTS messages (channel INTEGER, seq INTEGER, text TEXT)")
    database.execute("CREATE INDEX IF NOT EXISTS in_channel ON messages (channel, seq)")
    return database


def timed(work: Callable[[], object]) -> float:
    """How long it took, ms."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e3


def insert_and_open(folder: Path) -> Iterator[dict[str, Any]]:
    """One insert, and opening with the last 50 messages of a channel, by how much there is already."""
    for count, times in SIZES.items():
        for kind, measure in (("tinydb", measure_tinydb), ("sqlite", measure_sqlite)):
            insert, first_page = measure(folder / f"{kind}-{count}", count, times)
            yield {"name": f"{kind}.insert.{count}", "value": round(insert, 2), "unit": "ms"}
            yield {"name": f"{kind}.open.{count}", "value": round(first_page, 2), "unit": "ms"}


def measure_tinydb(path: Path, count: int, times: int) -> tuple[float, float]:
    """ms of an insert, ms of opening."""
    fill_tinydb(path, count)
    with TinyDB(path) as database:
        insert = partial(database.insert, document(count))
        inserts = [timed(insert) for _ in range(times)]
    return statistics.median(inserts), timed(partial(first_page_tinydb, path))


def measure_sqlite(path: Path, count: int, times: int) -> tuple[float, float]:
    """ms of an insert, ms of opening."""
    statement = "INSERT INTO messages VALUES (:channel, :seq, :text)"
    with closing(open_sqlite(path)) as database:
        database.execute("BEGIN")
        database.executemany(statement, map(document, range(count)))
        database.execute("COMMIT")
        insert = partial(database.execute, statement, document(count))
        inserts = [timed(insert) for _ in range(times * 10)]
    return statistics.median(inserts), timed(partial(first_page_sqlite, path))


def first_page_tinydb(path: Path) -> None:
    """Open and read the last 50 messages of a channel."""
    with TinyDB(path) as database:
        page = [entry for entry in database if entry["channel"] == 7][-50:]
    assert page


def first_page_sqlite(path: Path) -> None:
    """Open and read the last 50 messages of a channel."""
    with closing(open_sqlite(path)) as database:
        query = "SELECT * FROM messages WHERE channel = 7 ORDER BY seq DESC LIMIT 50"
        assert database.execute(query).fetchall()


def rewrite(kind: str, path: Path) -> None:
    """In a process of its own: write the same document again and again, until killed."""
    sizes = itertools.cycle([200_000, 10])
    if kind == "sqlite":
        database = open_sqlite(path)
        for size in sizes:
            database.execute("INSERT OR REPLACE INTO messages (rowid, seq, text) VALUES (1, 1, ?)", ("x" * size,))
            print(flush=True)
    tiny = TinyDB(path, storage=STORAGES[kind])
    for size in sizes:
        tiny.upsert(Document({"text": "x" * size}, doc_id=1))
        print(flush=True)


def kills(folder: Path) -> Iterator[dict[str, Any]]:
    """How many of the trials left a file that cannot be opened."""
    for kind in (*STORAGES, "sqlite"):
        unopenable = sum(not survives(kind, folder / f"{kind}-{trial}") for trial in range(TRIALS))
        yield {"name": f"{kind}.kill.unopenable", "value": unopenable, "unit": f"of {TRIALS}"}


def survives(kind: str, path: Path) -> bool:
    """Write, kill at a random moment, open."""
    command = [sys.executable, __file__, "--rewrite", kind, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.uniform(0.0, 0.05))  # noqa: S311  any moment will do
        os.kill(process.pid, signal.SIGKILL)
    try:
        if kind == "sqlite":
            with closing(open_sqlite(path)) as database:
                database.execute("PRAGMA integrity_check").fetchall()
        else:
            with TinyDB(path, storage=STORAGES[kind]) as tiny:
                tiny.all()
    except (ValueError, sqlite3.Error):
        return False
    return True


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rewrite"]:
        rewrite(sys.argv[2], Path(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory(prefix="sidekicks-bench-") as name:
            for line in itertools.chain(insert_and_open(Path(name)), kills(Path(name))):
                print(json.dumps(line), flush=True)
