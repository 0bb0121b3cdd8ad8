"""Finding messages: with the index, before the index knows them, and without one."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.protocol.parts import NoticePart, TextPart, ThoughtPart, ToolCallPart
from sidekicks_bridge.store import schema, search
from sidekicks_bridge.store.contract import DeleteChannel, PutMessage
from sidekicks_bridge.store.open import DATABASE, memory_store, open_store
from tests.store.conftest import CONFIG
from tests.store.make import message, text_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from sidekicks_bridge.protocol.parts import Part
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

NEVER = 3_600.0


@pytest.fixture(params=["indexed", "not yet indexed", "no index"])
async def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> AsyncIterator[SqliteStore]:
    """A store that indexes at once, one that never comes to it, and one whose SQLite has no trigrams."""
    if request.param == "not yet indexed":
        monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", NEVER)
    elif request.param == "indexed":
        monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", 0.0)
    else:
        monkeypatch.setattr(schema, "TOKENIZER", "no_such_tokenizer")
    opened = memory_store()
    assert opened.search_index == (request.param != "no index")
    yield opened
    await opened.close()


async def put(store: SqliteStore, *messages: Message) -> None:
    """Write, and wait for the index if it follows at once (a read in memory is served between its steps)."""
    await store.write(*map(PutMessage, messages))
    await indexed(store)


async def indexed(store: SqliteStore) -> None:
    """Ends when the index knows everything; at once where it never will."""
    from sidekicks_bridge.store import worker

    if not store.search_index or worker.IDLE_SECONDS == NEVER:
        return
    behind = "SELECT coalesce((SELECT max(position) FROM messages), 0) > upto FROM search_state"
    with anyio.fail_after(5):
        while await store._number(behind):
            pass


async def found(
    store: SqliteStore, query: str, *, channel: str | None = None, author: str | None = None, limit: int = 50
) -> list[str]:
    hits = await store.search(query, channel_id=channel, author=author, limit=limit)
    assert all(hit.channel_id == hit.message.channel_id for hit in hits)
    return [hit.message.id for hit in hits]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The Routing table", "routing"),
        ("The Routing table", "TABLE the"),
        ("a subroutine", "routin"),
        ("Größe in Zürich", "GRÖßE zürich"),
        ("请处理这个文件", "处理这"),
        ("请处理这个文件", "处理"),
        ("请处理这个文件", "件"),
        ("東京タワー", "京タワ"),
        ("see src/app/main.py:12", "app/main.py:12"),
        ('say "hello" now', '"hello"'),
        ("a* OR b NEAR c", "a* near OR"),
        ("it's -minus (paren) ^caret", "it's -minus (paren) ^caret"),
        ("column: text:abc", "text:abc"),
        ("50% of a_b", "% a_b"),
        ("back\\slash {brace}", "back\\slash {brace}"),
        ("emoji 👩‍👩‍👧 family", "👩‍👩‍👧"),
        ("x" * 5_000 + " needle", "needle"),
        ("word at\nthe line's end", "at the"),
    ],
)
async def test_every_word_must_occur_in_any_case(store: SqliteStore, text: str, query: str) -> None:
    await put(store, text_message("m1", text, seq=1), text_message("m2", "something else", seq=2))
    assert await found(store, query) == ["m1"]
    assert await found(store, query + " absent") == []
    assert await found(store, query + " zz") == []


ODD = ["", "   ", "\0", '"', "*", "\ud800", 'AND "', "a" * 100_000, "plain " * 3_000 + "absent", "pl " * 3_000 + "zz"]


@pytest.mark.parametrize("query", ODD)
async def test_odd_queries_find_nothing_and_break_nothing(store: SqliteStore, query: str) -> None:
    await put(store, text_message("m1", "plain text", seq=1))
    assert await found(store, query) == []


async def test_newest_first_over_all_channels(store: SqliteStore) -> None:
    """By the order in which they were finished: a queued message is as new as its seq, not as its id."""
    await store.write(PutMessage(text_message("a", "apple pie")))
    await put(store, text_message("b", "apple", channel="c2", seq=1), text_message("c", "apple", channel="c3", seq=1))
    assert await found(store, "apple") == ["c", "b"], "queued messages are seen by nobody"
    await put(store, text_message("a", "apple pie", seq=1), text_message("d", "apple", channel="c2", seq=2))
    assert await found(store, "apple") == ["d", "a", "c", "b"]
    assert await found(store, "apple", limit=2) == ["d", "a"]
    assert await found(store, "ap") == ["d", "a", "c", "b"]
    assert await found(store, "apple", limit=0) == []


async def test_in_one_channel_and_by_one_author(store: SqliteStore) -> None:
    await put(
        store,
        text_message("m1", "apple", seq=1),
        text_message("m2", "apple", seq=2, author="Alice"),
        text_message("m3", "apple", seq=3, author="bob"),
        text_message("m4", "apple", seq=4, author="system"),
        text_message("m5", "apple", channel="c2", seq=1, author="Alice"),
    )
    for query in ("apple", "ap"):
        assert await found(store, query, channel="c1") == ["m4", "m3", "m2", "m1"]
        assert await found(store, query, author="alice") == ["m5", "m2"]
        assert await found(store, query, author="alice", channel="c1") == ["m2"]
        assert await found(store, query, author="user") == ["m1"]
        assert await found(store, query, author="system") == ["m4"]
        assert await found(store, query, author="nobody") == []


async def test_what_is_searched(store: SqliteStore) -> None:
    call = ToolCallPart(
        id="t",
        kind="read",
        title="Read settings.toml",
        status="completed",
        output="outputword",
        content=[],
        locations=[],
    )
    parts: list[Part] = [
        TextPart(text="first"),
        ThoughtPart(text="pondering"),
        call,
        NoticePart(code="invited", text="Bob joined"),
    ]
    await put(store, message("m1", parts, seq=1))
    for word in ("first", "settings.toml", "joined"):
        assert await found(store, word) == ["m1"]
    for word in ("pondering", "outputword", "invited", "completed"):
        assert await found(store, word) == []


async def test_a_replaced_message_is_found_by_its_new_text_only(store: SqliteStore) -> None:
    await put(store, text_message("m1", "first wording", seq=1), text_message("m2", "other", seq=2))
    await put(store, text_message("m1", "second version", seq=1))
    assert await found(store, "wording") == []
    assert await found(store, "version") == ["m1"]


async def test_after_a_deletion_new_messages_are_found(store: SqliteStore) -> None:
    await put(store, text_message("m1", "apple", seq=1), text_message("m2", "apple", channel="c2", seq=1))
    await store.write(DeleteChannel("c2"))
    await put(store, text_message("m3", "apple tree", channel="c2", seq=1))
    assert await found(store, "apple") == ["m3", "m1"]
    assert await found(store, "tree") == ["m3"]


async def test_snippets_are_one_line_of_plain_text_around_the_match(store: SqliteStore) -> None:
    await put(
        store,
        text_message("m1", "short **Needle** text", seq=1),
        text_message("m2", "before " * 30 + "\n\nthe NEEDLE\n<b>is</b> here\n" + " after" * 60, seq=2),
    )
    long, short = [hit.snippet for hit in await store.search("needle", channel_id=None, author=None, limit=9)]
    assert short == "short **Needle** text"
    assert long.startswith("…")
    assert long.endswith("…")
    assert "the NEEDLE <b>is</b> here after" in long
    assert len(long) <= 170


async def test_the_index_survives_and_goes_on_after_opening_without_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python without trigrams opens the database in between: it empties nothing it cannot read, and loses nothing."""
    monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", 0.0)
    first = await open_sqlite(folder)
    await put(first, *(text_message(f"m{seq}", f"apple {seq}", seq=seq) for seq in range(1, 40)))
    await first.close()
    with monkeypatch.context() as without:
        without.setattr(schema, "create_index", no_index)
        second = await open_sqlite(folder)
        await second.write(
            PutMessage(text_message("m1", "pear", seq=1)), PutMessage(text_message("n", "apple", seq=40))
        )
        assert (await found(second, "apple"))[:2] == ["n", "m39"]
        await second.close()
    third = await open_sqlite(folder)
    third.start_indexing()
    await indexed(third)
    assert await found(third, "apple") == ["n", *(f"m{seq}" for seq in range(39, 1, -1))]
    assert await found(third, "pear") == ["m1"]
    await third.close()
    with sqlite3.connect(folder / DATABASE) as database:
        assert database.execute("SELECT count(*) FROM found WHERE found MATCH 'apple'").fetchone() == (39,)
        database.execute("INSERT INTO found (found) VALUES ('integrity-check')")
    database.close()


async def test_opening_alone_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether what was kept is sound is known only when it has been read: the index waits for that."""
    monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", NEVER)
    first = await open_sqlite(folder)
    await put(first, text_message("m1", "apple", seq=1))
    await first.close()
    kept = (folder / DATABASE).read_bytes()
    monkeypatch.setattr("sidekicks_bridge.store.worker.IDLE_SECONDS", 0.0)
    second = await open_sqlite(folder)
    assert await found(second, "apple") == ["m1"]
    await second.close()
    assert (folder / DATABASE).read_bytes() == kept
    third = await open_sqlite(folder)
    third.start_indexing()
    await indexed(third)
    await third.close()
    assert (folder / DATABASE).read_bytes() != kept


async def open_sqlite(folder: Path) -> SqliteStore:
    from sidekicks_bridge.store.sqlite import SqliteStore

    store = await open_store(CONFIG, folder=folder)
    assert isinstance(store, SqliteStore)
    return store


def no_index(connection: sqlite3.Connection) -> bool:
    connection.execute("UPDATE search_state SET upto = 0")
    return False


async def test_a_huge_message_is_indexed_by_its_head(folder: Path) -> None:
    assert len(search.search_text(text_message("m1", "x" * 1_000_000, seq=1))) == search.TEXT_LIMIT
