"""Finding messages: the trigram index, kept up beside the writing, and the reading of what is not in it (yet).

Indexing a message costs more than writing it, so the writer does it when it has nothing else to do; ``upto`` in
``search_state`` says how far it got, and a search reads the few messages after that one by one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.base import encode
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
ASKED_WORDS, ASKED_LENGTH = 32, 1_000
"""What SQLite is asked for of a query; it refuses expressions that grow without end. All words are checked after."""

_PUT_IN = "INSERT INTO found (rowid, text) VALUES (?, ?)"
_TAKE_OUT = "INSERT INTO found (found, rowid, text) VALUES ('delete', ?, ?)"
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
    asked = [word for word in words if len(word) <= ASKED_LENGTH][:ASKED_WORDS]
    for (data,) in _candidates(connection, asked, *_filter(channel_id, author), index=index):
        message = decode_message(data)
        text = search_text(message)
        searched = text.casefold()
        if all(word in searched for word in folded):
            # Folding may change lengths (ß), and with them where the match lies.
            place = searched.find(folded[0]) if len(searched) == len(text) else _place(text, words[0])
            hits.append(SearchHit(message=message, channel_id=message.channel_id, snippet=_snippet(text, place)))
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
        yield from _scan(connection, words, conditions, values)
        return
    match = " ".join('"' + word.replace('"', '""') + '"' for word in long_words)
    for source in (
        "messages AS m WHERE m.position > :upto",
        "found CROSS JOIN messages AS m ON m.position = found.rowid WHERE found MATCH :match AND found.rowid <= :upto",
    ):
        order = "found.rowid" if source.startswith("found") else "m.position"
        statement = f"SELECT m.data FROM {source}{conditions} ORDER BY {order} DESC"  # noqa: S608  our own words
        yield from connection.execute(statement, values | {"upto": upto, "match": match})


def _scan(
    connection: sqlite3.Connection, words: list[str], conditions: str, values: dict[str, str | int]
) -> Iterator[tuple[bytes]]:
    """The newest messages (of the channel) that may match, found by SQLite in the JSON as it is stored."""
    newest = "SELECT * FROM messages AS m"
    newest += " WHERE m.channel_id = :channel ORDER BY m.seq" if "channel" in values else " ORDER BY m.position"
    found: dict[str, str | int | bytes] = {**values, "rows": SCAN_ROWS}
    for number, word in enumerate(words):
        stored = encode(word)[1:-1]
        if word.isascii():
            found[f"word{number}"] = "%" + re.sub(r"([%_\\])", r"\\\1", stored.decode()) + "%"
            conditions += f" AND CAST(m.data AS TEXT) LIKE :word{number} ESCAPE '\\'"
        elif word.upper() == word.casefold():
            found[f"word{number}"] = stored
            conditions += f" AND instr(m.data, :word{number})"
    statement = f"SELECT data FROM ({newest} DESC LIMIT :rows) AS m WHERE TRUE{conditions}"  # noqa: S608  our own words
    yield from connection.execute(statement, found)


def _place(text: str, word: str) -> int:
    match = re.search(re.escape(word), text, re.IGNORECASE)
    return match.start() if match else 0


def _snippet(text: str, place: int) -> str:
    """One line of plain text around ``place``, `…` where it was cut."""
    start = max(0, place - _SNIPPET_BEFORE)
    end = start + _SNIPPET_LENGTH
    line = " ".join(text[start:end].split())
    return ("…" if start else "") + line + ("…" if end < len(text) else "")


def index_some(connection: sqlite3.Connection, count: int = INDEX_STEP) -> bool:
    """Bring the index up by ``count`` messages at most, in one transaction; whether there may be more."""
    gone = connection.execute("SELECT position, data FROM forgotten LIMIT ?", (count,)).fetchall()
    new = connection.execute(
        "SELECT position, data FROM messages WHERE position > (SELECT upto FROM search_state)"
        " ORDER BY position LIMIT ?",
        (count - len(gone),),
    ).fetchall()
    if not (gone or new):
        return False
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(_TAKE_OUT, _texts(gone))
        connection.executemany("DELETE FROM forgotten WHERE position = ?", [(position,) for position, _ in gone])
        connection.executemany(_PUT_IN, _texts(new))
        if new:
            connection.execute("UPDATE search_state SET upto = ?", (new[-1][0],))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return len(gone) + len(new) == count


def _texts(rows: list[tuple[int, bytes]]) -> list[tuple[int, str]]:
    return [(position, search_text(decode_message(data))) for position, data in rows]


def replace(connection: sqlite3.Connection, position: int, old: bytes, new: Message) -> None:
    """A message was replaced: bring the index up, in the caller's transaction, if it is there and its text differs."""
    (upto,) = connection.execute("SELECT upto FROM search_state").fetchone()
    text = search_text(new)
    if position <= upto and text != search_text(decode_message(old)):
        connection.executemany(_TAKE_OUT, _texts([(position, old)]))
        connection.execute(_PUT_IN, (position, text))


def forget(connection: sqlite3.Connection, condition: str, value: str) -> None:
    """Messages are about to be deleted: have them taken out of the index when there is time.

    Taking them out costs as much as putting them in. Until then nothing finds them: a hit counts only with its message.
    """
    connection.execute(
        "INSERT INTO forgotten (position, data) SELECT position, data FROM messages"  # noqa: S608  our own words
        f" WHERE {condition} AND position <= (SELECT upto FROM search_state)",
        (value,),
    )
