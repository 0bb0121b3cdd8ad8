"""Finding messages: the trigram index, kept up beside the writing, and the reading of what is not in it (yet).

Indexing a message costs more than writing it, so the writer does it when it has nothing else to do; ``upto`` in
``search_state`` says how far it got, and a search reads the few messages after that one by one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.parts import NoticePart, TextPart, ToolCallPart
from sidekicks_bridge.protocol.requests import SearchHit
from sidekicks_bridge.store.decode import decode_message

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from sidekicks_bridge.protocol.types import Message

INDEX_STEP = 16
"""Messages indexed at once: a write that arrives meanwhile waits some milliseconds at most."""
SCAN_ROWS = 20_000
"""How many of the newest messages are read for words that the index cannot find (under three characters)."""
TEXT_LIMIT = 256 * 1024
"""How much of one message can be found, in code points: indexing is slow, and a message can be huge."""
GRAM = 3

_SNIPPET_BEFORE = 40
_SNIPPET_LENGTH = 160


def search_text(message: Message) -> str:
    """What is found of a message: its texts, notices and titles of tool calls; not thoughts, not tool output."""
    texts = [
        part.title if isinstance(part, ToolCallPart) else part.text
        for part in message.parts
        if isinstance(part, TextPart | NoticePart | ToolCallPart)
    ]
    return "\n".join(texts)[:TEXT_LIMIT]


def find(
    connection: sqlite3.Connection, query: str, *, channel_id: str | None, author: str | None, limit: int, index: bool
) -> list[SearchHit]:
    """The newest ``limit`` messages that contain every word of ``query``, in any case; no word finds nothing."""
    words = query.encode(errors="replace").decode().replace("\0", " ").split()
    hits: list[SearchHit] = []
    if not words or limit < 1:
        return hits
    folded = [word.casefold() for word in words]
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    for (data,) in _candidates(connection, words, *_filter(channel_id, author), index=index):
        message = decode_message(data)
        text = search_text(message)
        searched = text.casefold()
        if all(word in searched for word in folded):
            hits.append(SearchHit(message=message, channel_id=message.channel_id, snippet=_snippet(text, pattern)))
            if len(hits) == limit:
                break
    return hits


def _filter(channel_id: str | None, author: str | None) -> tuple[str, dict[str, str | int]]:
    """SQL conditions (each after an AND) and their parameters. `user` and `system` are kinds, no agent's name."""
    conditions = ""
    values: dict[str, str | int] = {}
    if channel_id is not None:
        conditions += " AND m.channel_id = :channel"
        values["channel"] = channel_id
    if author is not None:
        conditions += f" AND m.author_{'kind' if author in {'user', 'system'} else 'name'} = :author"
        values["author"] = author
    return conditions, values


def _candidates(
    connection: sqlite3.Connection, words: list[str], conditions: str, values: dict[str, str | int], *, index: bool
) -> Iterator[tuple[bytes]]:
    """The data of messages that may match, newest first: those not indexed, then what the index (or a scan) gives."""
    (upto,) = connection.execute("SELECT upto FROM search_state").fetchone() if index else (0,)
    long_words = [word for word in words if len(word) >= GRAM]
    if not (upto and long_words):
        order = f"m.seq DESC LIMIT {SCAN_ROWS}" if "channel" in values else f"m.position DESC LIMIT {SCAN_ROWS}"
        inner = "m.channel_id = :channel" if "channel" in values else "TRUE"
        newest = f"SELECT * FROM messages AS m WHERE {inner} ORDER BY {order}"  # noqa: S608  our own words
        yield from connection.execute(f"SELECT data FROM ({newest}) AS m WHERE TRUE{conditions}", values)  # noqa: S608
        return
    match = " ".join('"' + word.replace('"', '""') + '"' for word in long_words)
    for source in (
        "messages AS m WHERE m.position > :upto",
        "found CROSS JOIN messages AS m ON m.position = found.rowid WHERE found MATCH :match AND found.rowid <= :upto",
    ):
        order = "found.rowid" if source.startswith("found") else "m.position"
        statement = f"SELECT m.data FROM {source}{conditions} ORDER BY {order} DESC"  # noqa: S608  our own words
        yield from connection.execute(statement, values | {"upto": upto, "match": match})


def _snippet(text: str, pattern: re.Pattern[str]) -> str:
    """One line of plain text around the first match, `…` where it was cut."""
    match = pattern.search(text)
    start = max(0, (match.start() if match else 0) - _SNIPPET_BEFORE)
    end = start + _SNIPPET_LENGTH
    line = " ".join(text[start:end].split())
    return ("…" if start else "") + line + ("…" if end < len(text) else "")


def index_some(connection: sqlite3.Connection, count: int = INDEX_STEP) -> bool:
    """Index the next ``count`` messages in one transaction; whether there may be more."""
    (upto,) = connection.execute("SELECT upto FROM search_state").fetchone()
    rows = connection.execute(
        "SELECT position, data FROM messages WHERE position > ? ORDER BY position LIMIT ?", (upto, count)
    ).fetchall()
    if not rows:
        return False
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(
            "INSERT INTO found (rowid, text) VALUES (?, ?)",
            [(position, search_text(decode_message(data))) for position, data in rows],
        )
        connection.execute("UPDATE search_state SET upto = ?", (rows[-1][0],))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return len(rows) == count


def forget(connection: sqlite3.Connection, position: int, data: bytes) -> bool:
    """Take a message out of the index, in the caller's transaction; False if it is not in it (yet)."""
    (upto,) = connection.execute("SELECT upto FROM search_state").fetchone()
    if position > upto:
        return False
    connection.execute(
        "INSERT INTO found (found, rowid, text) VALUES ('delete', ?, ?)", (position, search_text(decode_message(data)))
    )
    return True


def reindex(connection: sqlite3.Connection, position: int, old: bytes, new: Message) -> None:
    """A message was replaced: bring the index up, in the caller's transaction, if it is there and its text differs."""
    text = search_text(new)
    if text != search_text(decode_message(old)) and forget(connection, position, old):
        connection.execute("INSERT INTO found (rowid, text) VALUES (?, ?)", (position, text))
