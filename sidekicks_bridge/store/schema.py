"""The tables and how an older database becomes a present one. Knows SQL, reads no message.

A database is always opened at the newest version: each step is a function, run in its own transaction with the
`user_version` it leads to, so a kill between two steps loses nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

Step = Callable[[sqlite3.Connection], None]

TOKENIZER = "trigram"
"""Substrings of three code points: unicode61 does not split CJK. Needs SQLite 3.34."""


class NewerDatabaseError(Exception):
    """The database was written by a newer version of the bridge; the message says what to do."""


_VERSION_1 = """
CREATE TABLE channels (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE members (
    position INTEGER PRIMARY KEY,
    channel_id TEXT NOT NULL,
    name TEXT NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (channel_id, name)
);
CREATE TABLE messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    channel_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    author_kind TEXT NOT NULL,
    author_name TEXT COLLATE NOCASE,
    data BLOB NOT NULL,
    UNIQUE (channel_id, seq)
);
CREATE TABLE queued (id TEXT PRIMARY KEY, channel_id TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE whole_parts (
    message_id TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (message_id, part)
);
CREATE TABLE turns (id TEXT PRIMARY KEY, channel_id TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE prompts (message_id TEXT PRIMARY KEY, at TEXT NOT NULL, data BLOB NOT NULL);
CREATE INDEX prompts_by_time ON prompts (at);
CREATE TABLE key_values (key TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE search_state (upto INTEGER NOT NULL);
INSERT INTO search_state (upto) VALUES (0);
CREATE TABLE forgotten (position INTEGER PRIMARY KEY, data BLOB NOT NULL)
"""


def _create(connection: sqlite3.Connection) -> None:
    """Version 1. ``messages.position`` grows in the order in which messages got their seq, over all channels.

    ``queued`` holds the user's messages that have no seq yet; ``whole_parts`` what pages never read.
    ``search_state.upto`` is the position up to which messages are in the search index, ``forgotten`` what has been
    deleted since and is in it still.
    """
    for statement in _VERSION_1.split(";"):
        connection.execute(statement)


STEPS: Sequence[Step] = (_create,)
"""Step n leads from version n to n + 1."""


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Bring the database to the newest version. Raises NewerDatabaseError, sqlite3.Error (nothing half done)."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps) and (problem := other_version(version, steps)):
        raise NewerDatabaseError(problem)
    for number, step in enumerate(steps[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            step(connection)
            connection.execute(f"PRAGMA user_version = {number:d}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def other_version(version: int, steps: Sequence[Step] = STEPS) -> str | None:
    """Why a database of that version cannot be read as it is, and what to do; None: it is of the present version."""
    if version > len(steps):
        return f"its database has version {version}, this bridge knows up to {len(steps)}: update Sidekicks Bridge"
    if version < len(steps):
        return f"its database has version {version}; a bridge that starts brings it to {len(steps)}: `sidekicks chat`"
    return None


def has_index(connection: sqlite3.Connection) -> bool:
    """Whether a search index is there to read."""
    try:
        connection.execute("SELECT rowid FROM found LIMIT 0")
    except sqlite3.DatabaseError:
        return False
    return True


def create_index(connection: sqlite3.Connection) -> bool:
    """Make the search index if this SQLite can; False: search reads the messages instead.

    Contentless: the text stands in ``messages`` already. An index of which nothing counts (``upto`` 0) is emptied.
    """
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS found"
            f" USING fts5(text, content='', columnsize=0, tokenize='{TOKENIZER}')"
        )
        (upto,) = connection.execute("SELECT upto FROM search_state").fetchone()
        if upto == 0:
            connection.execute("INSERT INTO found (found) VALUES ('delete-all')")
            connection.execute("DELETE FROM forgotten")
        else:
            connection.execute("SELECT rowid FROM found LIMIT 0")
    except sqlite3.DatabaseError:  # no FTS5, no trigrams, or the index is damaged
        connection.execute("UPDATE search_state SET upto = 0 WHERE upto > 0")
        return False
    return True
