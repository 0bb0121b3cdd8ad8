"""The thread behind a connection: groups, failures, and what must not wait for what."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.store import schema
from sidekicks_bridge.store.contract import PutMessage, PutValue
from sidekicks_bridge.store.sqlite import SqliteStore
from tests.store.make import text_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.anyio


class Gate:
    """A store whose writer stands still at the first statement that begins with ``at``, until `open`."""

    def __init__(self, path: Path) -> None:
        self.statements: list[str] = []
        self.reached = threading.Event()
        self._opened = threading.Event()
        self._at: str | None = None
        self.writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.writer.execute("PRAGMA journal_mode = WAL")
        schema.migrate(self.writer)
        reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.store = SqliteStore(self.writer, reader, place=str(path))
        self.writer.set_trace_callback(self._trace)

    def close_at(self, statement: str) -> None:
        self._at = statement

    def open(self) -> None:
        self._opened.set()

    async def wait(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 5)

    def count(self, statement: str) -> int:
        return sum(each.startswith(statement) for each in self.statements)

    def _trace(self, statement: str) -> None:
        self.statements.append(statement)
        if self._at is not None and statement.startswith(self._at):
            self._at = None
            self.reached.set()
            self._opened.wait(5)


@pytest.fixture
async def gate(tmp_path: Path, anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gate]:
    monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", 3_600.0)  # no indexing in between
    gate = Gate(tmp_path / "history.db")
    yield gate
    gate.open()
    await gate.store.close()


async def test_writes_that_wait_together_commit_together(gate: Gate) -> None:
    gate.close_at("BEGIN IMMEDIATE")
    async with anyio.create_task_group() as group:
        group.start_soon(gate.store.write, PutValue("first", 0))
        await gate.wait()
        for number in range(50):
            group.start_soon(gate.store.write, PutValue(f"k{number}", number))
        await anyio.wait_all_tasks_blocked()
        gate.open()
    assert gate.count("COMMIT") == 2
    assert await gate.store.values("k") == {f"k{number}": number for number in range(50)}


async def test_one_that_fails_does_not_fail_those_beside_it(gate: Gate) -> None:
    failed: list[Exception] = []

    async def write(*changes: PutValue | PutMessage) -> None:
        try:
            await gate.store.write(*changes)
        except sqlite3.IntegrityError as problem:
            failed.append(problem)

    await gate.store.write(PutMessage(text_message("m1", seq=1)))
    gate.close_at("BEGIN IMMEDIATE")
    async with anyio.create_task_group() as group:
        group.start_soon(write, PutValue("first", 0))
        await gate.wait()
        group.start_soon(write, PutValue("before", 1))
        group.start_soon(write, PutValue("with", 1), PutMessage(text_message("m2", seq=1)))
        group.start_soon(write, PutValue("after", 1))
        await anyio.wait_all_tasks_blocked()
        gate.open()
    assert len(failed) == 1
    assert await gate.store.values("") == {"first": 0, "before": 1, "after": 1}


async def test_a_long_write_delays_no_page(gate: Gate) -> None:
    await gate.store.write(PutMessage(text_message("m1", seq=1)))
    gate.close_at("COMMIT")
    async with anyio.create_task_group() as group:
        group.start_soon(gate.store.write, PutMessage(text_message("m2", seq=2)))
        await gate.wait()
        with anyio.fail_after(4):
            page = await gate.store.page("c1")
        assert [each.seq for each in page.messages] == [1]
        gate.open()
    assert [each.seq for each in (await gate.store.page("c1")).messages] == [1, 2]


async def test_closing_finishes_what_was_asked_for(gate: Gate, tmp_path: Path) -> None:
    gate.close_at("BEGIN IMMEDIATE")
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(gate.store.write, PutValue(f"k{number}", number))
        await gate.wait()
        group.start_soon(gate.store.close)
        group.start_soon(gate.store.close)
        await anyio.wait_all_tasks_blocked()
        gate.open()
    database = sqlite3.connect(tmp_path / "history.db")
    assert database.execute("SELECT count(*) FROM key_values").fetchone() == (20,)
    database.close()


async def test_a_caller_that_is_cancelled_leaves_a_store_that_works(gate: Gate) -> None:
    gate.close_at("BEGIN IMMEDIATE")
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(gate.store.write, PutValue("first", 0))
            await gate.wait()
            group.start_soon(gate.store.write, PutValue("second", 0))
            group.start_soon(gate.store.channels)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    gate.open()
    await gate.store.write(PutValue("third", 0))
    assert list(await gate.store.values("")) == ["first", "second", "third"], "what was asked for is applied"


async def test_a_full_disk_refuses_applies_nothing_and_recovers(gate: Gate) -> None:
    (pages,) = gate.writer.execute("PRAGMA page_count").fetchone()
    gate.writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(Exception, match="Free some space on the disk, then try again") as caught:
        await gate.store.write(PutValue("small", 1), PutMessage(text_message("m1", "x" * 100_000, seq=1)))
    assert caught.value.code == "storeUnavailable"  # type: ignore[attr-defined]
    assert await gate.store.value("small") is None
    assert await gate.store.message("m1") is None
    await gate.store.write(PutValue("fits", 1))
    gate.writer.execute("PRAGMA max_page_count = 100000")
    await gate.store.write(PutMessage(text_message("m1", "x" * 100_000, seq=1)))
    assert await gate.store.message("m1") is not None
