"""A change → what it does to the tables, inside the writer's transaction. Encodes at once: later edits change nothing.

Knows the tables and the contract's changes; opens, commits and catches nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.parts import ToolCallPart
from sidekicks_bridge.store import search
from sidekicks_bridge.store.contract import (
    Change,
    DeleteChannel,
    DeleteMember,
    EndTurn,
    PutChannel,
    PutMember,
    PutMessage,
    PutPrompt,
    PutTurn,
    PutValue,
    RemoveMessage,
)
from sidekicks_bridge.store.parts import shorten

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import Message

Operation = Callable[[sqlite3.Connection], object]
Columns = dict[str, str | int | bytes | None]


def operation(change: Change) -> Operation:
    """What the change does. Raises (TypeError, UnicodeEncodeError) here, not in the writer, if it is no JSON."""
    match change:
        case PutMessage(message):
            return _put_message(message)
        case RemoveMessage(message_id):
            return _run("DELETE FROM queued WHERE id = ?", message_id)
        case PutTurn(turn):
            return _put("turns", "id", {"id": turn.id, "channel_id": turn.channel_id, "data": encode(turn)})
        case EndTurn(turn_id):
            return _run("DELETE FROM turns WHERE id = ?", turn_id)
        case PutPrompt(message_id, at, prompt):
            return _put("prompts", "message_id", {"message_id": message_id, "at": at, "data": encode(prompt)})
        case PutChannel(channel):
            return _put("channels", "id", {"id": channel.id, "data": encode(channel)})
        case DeleteChannel(channel_id):
            return partial(_delete_channel, channel_id)
        case PutMember(member):
            columns: Columns = {"channel_id": member.channel_id, "name": member.name, "data": encode(member)}
            return _put("members", "channel_id, name", columns)
        case DeleteMember(channel_id, name):
            return _run("DELETE FROM members WHERE channel_id = ? AND name = ?", channel_id, name)
        case PutValue(key, None):
            return _run("DELETE FROM key_values WHERE key = ?", key)
        case PutValue(key, value):
            return _put("key_values", "key", {"key": key, "data": encode(value)})


def _run(statement: str, *values: str | int | bytes | None) -> Operation:
    return lambda connection: connection.execute(statement, values)


def _put(table: str, unique: str, columns: Columns) -> Operation:
    """Insert a row, or replace its columns in place so that it keeps its position."""
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return _insert(table, columns, f"ON CONFLICT ({unique}) DO UPDATE SET {updates}")


def _insert(table: str, columns: Columns, otherwise: str) -> Callable[[sqlite3.Connection], sqlite3.Cursor]:
    names = ", ".join(columns)
    values = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table} ({names}) VALUES ({values}) {otherwise}"  # noqa: S608  our own names
    return lambda connection: connection.execute(statement, tuple(columns.values()))


def _put_message(message: Message) -> Operation:
    short_parts, cut = zip(*map(shorten, message.parts), strict=True) if message.parts else ((), ())
    short = msgspec.structs.replace(message, parts=list(short_parts)) if any(cut) else message
    data = encode(short)
    whole = [(message.id, index, encode(message.parts[index])) for index, is_cut in enumerate(cut) if is_cut]
    # A part that is short already came from a page; its whole form stays.
    kept = [index for index, part in enumerate(message.parts) if isinstance(part, ToolCallPart) and part.truncated]

    def put(connection: sqlite3.Connection) -> None:
        is_new = (
            _put_queued(connection, message, data) if message.seq is None else _put_finished(connection, short, data)
        )
        if whole or not is_new:
            connection.execute(
                "DELETE FROM whole_parts WHERE message_id = ? AND part NOT IN (SELECT value FROM json_each(?))",
                (message.id, encode(kept).decode()),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO whole_parts (message_id, part, data) VALUES (?, ?, ?)", whole
            )

    return put


def _put_queued(connection: sqlite3.Connection, message: Message, data: bytes) -> bool:
    """Insert or replace. False: there may have been something of the message before."""
    _drop_finished(connection, message.id)
    columns: Columns = {"id": message.id, "channel_id": message.channel_id, "data": data}
    _put("queued", "id", columns)(connection)
    return False


def _put_finished(connection: sqlite3.Connection, message: Message, data: bytes) -> bool:
    """Insert at the end, or replace in place: a message keeps its position among all messages. Whether it is new.

    Most are new: then two statements do.
    """
    columns: Columns = {
        "id": message.id,
        "channel_id": message.channel_id,
        "seq": message.seq,
        "author_kind": message.author.kind,
        "author_name": message.author.name,
        "data": data,
    }
    was_queued = connection.execute("DELETE FROM queued WHERE id = ?", (message.id,)).rowcount
    if _insert("messages", columns, "ON CONFLICT (id) DO NOTHING")(connection).rowcount:
        return not was_queued
    position, old_data = connection.execute(
        "SELECT position, data FROM messages WHERE id = ?", (message.id,)
    ).fetchone()
    search.replace(connection, position, old_data, message)
    _put("messages", "id", columns)(connection)
    return False


def _drop_finished(connection: sqlite3.Connection, message_id: str) -> None:
    search.forget(connection, "id = ?", message_id)
    connection.execute("DELETE FROM messages WHERE id = ?", (message_id,))


def _delete_channel(channel_id: str, connection: sqlite3.Connection) -> None:
    search.forget(connection, "channel_id = ?", channel_id)
    for statement in (
        "DELETE FROM whole_parts WHERE message_id IN (SELECT id FROM messages WHERE channel_id = :id)",
        "DELETE FROM whole_parts WHERE message_id IN (SELECT id FROM queued WHERE channel_id = :id)",
        "DELETE FROM prompts WHERE message_id IN (SELECT id FROM messages WHERE channel_id = :id)",
        "DELETE FROM messages WHERE channel_id = :id",
        "DELETE FROM queued WHERE channel_id = :id",
        "DELETE FROM turns WHERE channel_id = :id",
        "DELETE FROM members WHERE channel_id = :id",
        "DELETE FROM channels WHERE id = :id",
    ):
        connection.execute(statement, {"id": channel_id})
