"""The store: the contract on SQLite, on disk or in memory. Writes on one thread, reads on another, nothing on the loop.

Does not decide where the database lies, nor what happens when it cannot be opened: that is `open`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.requests import Prompt, SearchHit
from sidekicks_bridge.store import schema, search
from sidekicks_bridge.store.changes import operation
from sidekicks_bridge.store.contract import Change, Page, StoredChannel, StoredMember, StoredTurn
from sidekicks_bridge.store.decode import decode_message, decode_part
from sidekicks_bridge.store.worker import Worker

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.parts import Part
    from sidekicks_bridge.protocol.types import Message

T = TypeVar("T")
Read = Callable[[sqlite3.Connection], T]

_PAGE_FORWARD = "SELECT data FROM messages WHERE channel_id = ? AND seq > ? AND seq < ? ORDER BY seq ASC LIMIT ?"
_PAGE_BACK = "SELECT data FROM messages WHERE channel_id = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?"
_UNREAD = "SELECT count(*) FROM messages WHERE channel_id = ? AND seq > ? AND author_kind IN ('agent', 'peer')"


class SqliteStore:
    """The `Store` on one or two connections, which it owns from now on.

    ``writer`` is at the newest schema. ``reader`` is a second connection to the same database; a database in memory
    has none, and the writer's thread serves both. ``place`` names it in errors. ``released`` runs once after closing.
    """

    def __init__(
        self,
        writer: sqlite3.Connection,
        reader: sqlite3.Connection | None,
        *,
        place: str,
        reason: str | None = None,
        released: Callable[[], None] = lambda: None,
        read_only: bool = False,
    ) -> None:
        self.persistent = reader is not None
        self.reason = reason
        self.search_index = schema.has_index(writer) if read_only else schema.create_index(writer)
        self._place = place
        self._closed = False
        idle = search.index_some if self.search_index and not read_only else None
        self._writer = Worker(writer, "store-writer", idle, released)
        self._reader = self._writer if reader is None else Worker(reader, "store-reader")
        self._file = _identity(place) if self.persistent else None

    async def write(self, *changes: Change) -> None:
        """Apply all changes in one transaction; durable when this returns.

        The changes are fixed when this is called. A caller that is cancelled stops waiting; they are applied still.
        """
        self._check_open()
        operations = [operation(change) for change in changes]

        def apply(connection: sqlite3.Connection) -> None:
            for change in operations:
                change(connection)

        if operations:
            await self._result(self._writer.write(apply), "write")
            self._look_for_file()

    def _look_for_file(self) -> None:
        """SQLite writes on into a file that was deleted or replaced under it, where nobody will find it again."""
        if self._file is not None and _identity(self._place) != self._file:
            self._file, self.persistent = None, False
            self.reason = (
                f"The history {self._place} was deleted or replaced while it was in use, so nothing is kept any more. "
                "Run `sidekicks stop` (or close every editor), then start again."
            )

    async def channels(self) -> list[StoredChannel]:
        """All channels, in order of creation."""
        return await self._structs(StoredChannel, "SELECT data FROM channels ORDER BY position")

    async def members(self, channel_id: str) -> list[StoredMember]:
        """The members of a channel, in the order they joined."""
        return await self._structs(
            StoredMember, "SELECT data FROM members WHERE channel_id = ? ORDER BY position", channel_id
        )

    async def page(
        self, channel_id: str, *, before: int | None = None, after: int | None = None, limit: int = 50
    ) -> Page:
        """Finished messages: the newest, or those before / after a seq (exclusive); parts in their short form."""
        forward = after is not None
        rows = await self._rows(
            _PAGE_FORWARD if forward else _PAGE_BACK,
            channel_id,
            after if after is not None else -(2**53),
            before if before is not None else 2**53,
            limit + 1,
            decode=decode_message,
        )
        messages = rows[:limit]
        return Page(messages if forward else messages[::-1], has_more=len(rows) > limit)

    async def queued(self, channel_id: str) -> list[Message]:
        """Queued user messages, in order of id."""
        return await self._rows(
            "SELECT data FROM queued WHERE channel_id = ? ORDER BY id", channel_id, decode=decode_message
        )

    async def turns(self) -> list[StoredTurn]:
        """Every unfinished turn, in order of id."""
        return await self._structs(StoredTurn, "SELECT data FROM turns ORDER BY id")

    async def message(self, message_id: str) -> Message | None:
        """One message (short form)."""
        return _only(
            await self._rows(
                "SELECT data FROM messages WHERE id = ?1 UNION ALL SELECT data FROM queued WHERE id = ?1",
                message_id,
                decode=decode_message,
            )
        )

    async def part(self, message_id: str, index: int) -> Part | None:
        """One part, whole."""
        whole = await self._rows(
            "SELECT data FROM whole_parts WHERE message_id = ? AND part = ?", message_id, index, decode=decode_part
        )
        if whole:
            return whole[0]
        message = await self.message(message_id)
        return message.parts[index] if message is not None and 0 <= index < len(message.parts) else None

    async def prompt(self, message_id: str) -> Prompt | None:
        """What was sent for an answer, if it is still kept."""
        return _only(await self._structs(Prompt, "SELECT data FROM prompts WHERE message_id = ?", message_id))

    async def last_seq(self, channel_id: str) -> int:
        """The highest seq of a channel; 0 when it has none."""
        return await self._number("SELECT coalesce(max(seq), 0) FROM messages WHERE channel_id = ?", channel_id)

    async def unread(self, channel_id: str, after: int) -> int:
        """How many finished agent and peer messages have a seq greater than ``after``."""
        return await self._number(_UNREAD, channel_id, after)

    async def search(self, query: str, *, channel_id: str | None, author: str | None, limit: int) -> list[SearchHit]:
        """Messages that contain every word of ``query`` (case-insensitive), newest first."""
        return await self._read(
            lambda connection: search.find(
                connection, query, channel_id=channel_id, author=author, limit=limit, index=self.search_index
            )
        )

    async def value(self, key: str) -> Any:
        """A value of the key-value space, or None."""
        return _only(await self._rows("SELECT data FROM key_values WHERE key = ?", key, decode=msgspec.json.decode))

    async def values(self, prefix: str) -> dict[str, Any]:
        """All values whose key begins with ``prefix``."""

        def read(connection: sqlite3.Connection) -> dict[str, Any]:
            rows = connection.execute(
                "SELECT key, data FROM key_values WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key",
                (prefix,),
            )
            return {key: msgspec.json.decode(data) for key, data in rows}

        return await self._read(read)

    async def drop_prompts(self, before: str) -> None:
        """Drop prompts kept before the given time."""
        self._check_open()

        def drop(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM prompts WHERE at < ?", (before,))

        await self._result(self._writer.write(drop), "write")

    def start_indexing(self) -> None:
        """Let the writer's spare work begin; called once what was kept has been read and found sound."""
        self._check_open()
        self._writer.start_spare_work()

    async def close(self) -> None:
        """Write what is waiting, close. Idempotent: every caller waits for the end.

        The reader closes first: the last connection merges the log into the database, and of two that close at the same
        moment neither is the last. Once begun it goes on, even if the caller is cancelled.
        """
        if not self._closed:
            self._closed = True
            self._reader.ended.add_done_callback(lambda _ended: self._writer.stop())
            self._reader.stop()
        await asyncio.shield(asyncio.wrap_future(self._writer.ended))

    async def _structs(self, kind: type[T], statement: str, *values: str | int) -> list[T]:
        return await self._rows(statement, *values, decode=msgspec.json.Decoder(kind).decode)

    async def _rows(self, statement: str, *values: str | int, decode: Callable[[bytes], T]) -> list[T]:
        return await self._read(lambda connection: [decode(data) for (data,) in connection.execute(statement, values)])

    async def _number(self, statement: str, *values: str | int) -> int:
        return await self._read(lambda connection: int(connection.execute(statement, values).fetchone()[0]))

    async def _read(self, read: Read[T]) -> T:
        self._check_open()
        return await self._result(self._reader.read(read), "read")

    async def _result(self, future: asyncio.Future[T], verb: str) -> T:
        try:
            return await future
        except (sqlite3.OperationalError, sqlite3.DatabaseError, msgspec.DecodeError) as problem:
            if isinstance(problem, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
                raise  # ours, not the disk's
            raise SidekicksError(
                "storeUnavailable",
                f"The history in {self._place} cannot be {'written' if verb == 'write' else 'read'}: {problem}."
                f" {_advice(problem)}",
                {"path": self._place, "cause": str(problem)},
            ) from problem

    def _check_open(self) -> None:
        if self._closed:
            raise SidekicksError("storeClosed", "The bridge is stopping: its history is closed.")


def _identity(place: str) -> tuple[int, int] | None:
    try:
        found = Path(place).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _only(rows: list[T]) -> T | None:
    return rows[0] if rows else None


def _advice(problem: Exception) -> str:
    """What a person can do about it."""
    match getattr(problem, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return "Free some space on the disk, then try again."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return "Make the folder and its files writable for you, then try again."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "Another program holds the database: close it, then try again."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "The file is damaged: stop the bridge, move it away, and start again."
        case _:
            return "Check the disk, then try again."
