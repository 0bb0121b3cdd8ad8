"""Versions of the database: steps forward one by one, never a step half done, a newer one left alone."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.store import schema
from sidekicks_bridge.store.contract import PutChannel
from sidekicks_bridge.store.open import DATABASE, open_store
from tests.store.conftest import CONFIG
from tests.store.make import channel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


def version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def tables(database: sqlite3.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def add_colour(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE channels ADD COLUMN colour TEXT")


def fail_half_way(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE half (x)")
    raise sqlite3.OperationalError("disk I/O error")


def test_a_new_database_has_the_newest_version(database: sqlite3.Connection) -> None:
    schema.migrate(database)
    assert version(database) == len(schema.STEPS)
    assert {"channels", "messages", "queued", "whole_parts"} <= tables(database)
    schema.migrate(database)


def test_an_older_database_takes_the_missing_steps_and_keeps_its_rows(database: sqlite3.Connection) -> None:
    schema.migrate(database, schema.STEPS[:1])
    database.execute("INSERT INTO channels (id, data) VALUES ('c1', '{}')")
    schema.migrate(database, [*schema.STEPS[:1], add_colour])
    assert version(database) == 2
    assert database.execute("SELECT id, colour FROM channels").fetchall() == [("c1", None)]


def test_a_step_that_fails_leaves_the_version_before_it(database: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(database, [*schema.STEPS[:1], add_colour, fail_half_way])
    assert version(database) == 2
    assert "half" not in tables(database)
    schema.migrate(database, [*schema.STEPS[:1], add_colour, lambda _: None])
    assert version(database) == 3


@pytest.mark.anyio
async def test_a_database_of_a_newer_version_is_left_alone(folder: Path) -> None:
    store = await open_store(CONFIG, folder=folder)
    await store.write(PutChannel(channel("c1")))
    await store.close()
    with sqlite3.connect(folder / DATABASE) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    store = await open_store(CONFIG, folder=folder)
    assert not store.persistent
    assert store.reason is not None
    assert "version 99" in store.reason
    assert "update Sidekicks Bridge" in store.reason
    assert await store.channels() == []
    await store.close()
    database = sqlite3.connect(folder / DATABASE)
    assert database.execute("SELECT id FROM channels").fetchall() == [("c1",)]
    database.close()
