"""How fast the store is, with 100,000 messages in it.

Figures: append (ms, durable, one at a time; baseline: SQLite alone with synchronous=FULL), open100k (ms from nothing
opened to the first page of a channel; baseline: a store with one message) and open100k.rss (MB it adds), search100k
(ms, the newest 50 with a word of 2 % of the messages; baseline: SQLite looking at each) and search100k.rare.
"""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from scripts.bench.harness import ROOT, figure
from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.types import Author, Message
from sidekicks_bridge.store import search
from sidekicks_bridge.store.changes import operation
from sidekicks_bridge.store.contract import PutChannel, PutMessage, StoredChannel
from sidekicks_bridge.store.open import DATABASE, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.bench.harness import Figure

MESSAGES = 100_000
CHANNELS = 50
COMMON = "pelican"
"""Stands in 2 % of the messages."""
RARE = "zyqxwv"
"""Stands in one message, in the middle."""
APPENDS = 300
CONFIG = Path("/bench/config.yaml")


def words(seed: int = 1) -> Iterator[str]:
    """Texts, in turns of 100 letters (a user's) and 1 KB (an agent's); 5,000 words, a few of them frequent."""
    dice = random.Random(seed)  # noqa: S311  the same texts each time
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvw" for vowel in "aeiou"]
    vocabulary = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(5_000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    pieces = [" ".join(dice.choices(vocabulary, weights, k=40))[:99] for _ in range(4_000)]
    for count in itertools.cycle((1, 10)):
        yield " ".join(dice.choices(pieces, k=count))


def message(number: int, text: str, channel: int, seq: int) -> Message:
    """A finished message; every other one is an agent's."""
    author = Author(kind="agent", name="scout") if number % 2 else Author(kind="user")
    return Message(
        id=f"M{number:025d}",
        seq=seq,
        channel_id=f"C{channel:025d}",
        author=author,
        parts=[TextPart(text=text)],
        created_at="2026-11-30T12:00:00.000Z",
        state="finished",
    )


async def build(folder: Path, count: int = MESSAGES) -> None:
    """A store of ``count`` messages in 50 channels, indexed: the store's own operations in one transaction."""
    store = await open_store(CONFIG, folder=folder)
    at = "2026-11-30T12:00:00.000Z"
    for number in range(CHANNELS):
        channel = StoredChannel(id=f"C{number:025d}", kind="named", name=f"c{number}", created_at=at, updated_at=at)
        await store.write(PutChannel(channel))
    await store.close()
    database = sqlite3.connect(folder / DATABASE, isolation_level=None)
    texts = words()
    database.execute("BEGIN")
    for number in range(count):
        mark = f" {COMMON}" if number % 50 == 7 else f" {RARE}" if number == count // 2 else ""
        put = PutMessage(message(number, next(texts) + mark, number % CHANNELS, number // CHANNELS + 1))
        operation(put)(database)
    database.execute("COMMIT")
    while search.index_some(database, 20_000):
        pass
    database.close()


async def append(folder: Path) -> list[Figure]:
    """A durable append through the store, and the same message by SQLite alone with synchronous=FULL, in turns."""
    store = await open_store(CONFIG, folder=folder / "append")
    raw = sqlite3.connect(folder / "raw.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, data BLOB)")
    texts = words(2)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(APPENDS):
        next(texts)  # a short one
        item = message(number, next(texts), 0, number + 1)
        started = time.perf_counter()
        await store.write(PutMessage(item))
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        raw.execute("INSERT INTO messages VALUES (?, ?)", (item.id, encode(item)))
        theirs.append(time.perf_counter() - started)
    raw.close()
    await store.close()
    return [figure("append", statistics.median(ours) * 1e3, "ms", statistics.median(theirs) * 1e3)]


def opening(folder: Path) -> list[Figure]:
    """Open a store and read the first page, in fresh processes: ms and MB added, beside a store with one message."""
    small = folder / "small"
    anyio.run(build, small, 1)
    big = [_open_once(folder / "big") for _ in range(5)]
    least = [_open_once(small) for _ in range(5)]
    return [
        figure("open100k", statistics.median(ms for ms, _ in big), "ms", statistics.median(ms for ms, _ in least)),
        figure("open100k.rss", statistics.median(mb for _, mb in big), "MB", statistics.median(mb for _, mb in least)),
    ]


def _open_once(folder: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "scripts.bench.store", str(folder)]
    ms, mb = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    return ms, mb


async def open_once(folder: Path) -> tuple[float, float]:
    """In a process of its own: ms and MB from nothing opened to the first page."""
    before = _rss()
    started = time.perf_counter()
    store = await open_store(CONFIG, folder=folder)
    page = await store.page(f"C{0:025d}")
    took = time.perf_counter() - started
    assert page.messages
    added = _rss() - before
    await store.close()
    return took * 1e3, added


def _rss() -> float:
    """This process's memory, MB; its peak where /proc does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6
    except FileNotFoundError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


async def searching(folder: Path) -> list[Figure]:
    """The newest 50 with a word of 2 % of the messages, and a word of one message, beside reading them all."""
    store = await open_store(CONFIG, folder=folder / "big")
    figures = []
    for name, word, least in (("search100k", COMMON, 50), ("search100k.rare", RARE, 1)):
        times = []
        for _ in range(7):
            started = time.perf_counter()
            hits = await store.search(word, channel_id=None, author=None, limit=50)
            times.append(time.perf_counter() - started)
            assert len(hits) == least, (word, len(hits))
        figures.append(figure(name, statistics.median(times) * 1e3, "ms", _scan(folder / "big", word)))
    await store.close()
    return figures


def _scan(folder: Path, word: str) -> float:
    """ms that SQLite takes to look at every message for the word."""
    with sqlite3.connect(folder / DATABASE) as database:
        started = time.perf_counter()
        database.execute("SELECT count(*) FROM messages WHERE instr(data, ?)", (word.encode(),)).fetchone()
        took = time.perf_counter() - started
    database.close()
    return took * 1e3


def run() -> Iterator[Figure]:
    """All figures of the store: append, open100k, open100k.rss, search100k (and a rare word). About half a minute."""
    with tempfile.TemporaryDirectory(prefix="sidekicks-bench-") as name:
        folder = Path(name)
        yield from anyio.run(append, folder)
        anyio.run(build, folder / "big")
        yield from opening(folder)
        yield from anyio.run(searching, folder)


if __name__ == "__main__":
    print(json.dumps(anyio.run(open_once, Path(sys.argv[1]))))
