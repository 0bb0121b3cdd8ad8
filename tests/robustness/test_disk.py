"""A disk that is full, and folders that cannot be written: said in words, nothing finished is lost, the rest goes on.

The disk is filled for the bridge alone, by the size its files may have: that needs no rights and no file system.
"""

from __future__ import annotations

import resource
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.conditions import happened, streaming
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

ALL = resource.RLIM_INFINITY


def fill_disk(client: Client) -> None:
    """From now on the bridge's files cannot grow, nor be begun. Agents that run already are not concerned."""
    hard = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (0, hard))


def free_disk(client: Client) -> None:
    hard = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (hard, hard))


async def fill_while_answering(client: Client, box: BridgeSandbox) -> tuple[Room, JSON]:
    """An answer is finished while nothing can be written any more; the channel and what storage became."""
    room = await client.open("general")
    await room.ask("@alice !say before", by="alice")
    sent = await room.send("@alice !say during !hold gate !say , after")
    await client.until(streaming("alice", "during"))
    since = len(client.events)
    fill_disk(client)
    box.gates.open("gate")
    answer = await room.answer(sent, by="alice")
    assert text_of(answer) == "during, after"
    changed = await client.until(happened("storage/changed", since=since))
    return room, changed


async def test_an_answer_is_finished_on_a_full_disk(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room, changed = await fill_while_answering(client, box)
        assert changed["persistent"] is False
        assert str(box.data) in changed["reason"]
        assert "kept in memory" in changed["reason"]
        assert (await client.state())["storage"] == changed
        since = len(client.events)
        free_disk(client)
        assert await client.until(happened("storage/changed", since=since)) == {"persistent": True}
        await client.kill()
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.said()[-2:] == ["user: @alice !say during !hold gate !say , after", "alice: during, after"]


async def test_everything_else_goes_on(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room, _ = await fill_while_answering(client, box)
        refusal = await client.refused("message/send", channelId=room.id, text="@alice more")
        assert (refusal.code, refusal.kind) == (-32803, "storeUnavailable")
        assert str(box.data) in refusal.message
        assert "again" in refusal.message
        page = await room.request("message/list")
        assert text_of(page["messages"][-1]) == "during, after"
        assert [target["agent"] for target in (await room.preview("@bob hi"))["to"]] == ["bob"]
        await room.request("draft/set", text="what I wrote")
        await room.request("channel/markRead", seq=2)
        await client.request("message/search", query="before")
        await client.request("message/complete", channelId=room.id, text="@", offset=1)
        await client.refused("channel/create", name="new")
        await client.request("channel/update", channelId=room.id, name="other")  # kept like an answer
        free_disk(client)
        await room.ask("@alice !say at last", by="alice")
        assert (await client.state())["storage"] == {"persistent": True}
        await client.request("channel/create", name="new")
    async with box.bridge() as client:
        room = await client.open("other")
        assert [line for line in room.said() if line.startswith("alice")] == [
            "alice: before",
            "alice: during, after",
            "alice: at last",
        ]
        assert room.snapshot["draft"] == "what I wrote"


# ── at the start ─────────────────────────────────────────────────────────────────────────────────────────────────


def data_is_a_file(box: BridgeSandbox) -> None:
    box.data.parent.mkdir(parents=True)
    box.data.write_text("not a folder", encoding="utf-8")


def database_is_a_folder(box: BridgeSandbox) -> None:
    (box.data / "history.db").mkdir(parents=True)
    (box.data / "preferences.json").mkdir()


def user_folder_is_a_file(box: BridgeSandbox) -> None:
    box.config_home.rmdir()
    box.config_home.write_text("not a folder", encoding="utf-8")


UNUSABLE = [data_is_a_file, database_is_a_folder, user_folder_is_a_file]


@pytest.mark.parametrize("spoil", UNUSABLE, ids=lambda spoil: spoil.__name__)
async def test_without_a_usable_folder_it_runs_in_memory(
    tmp_path: Path, spoil: Callable[[BridgeSandbox], None]
) -> None:
    """What root may write, too: nothing of this depends on permissions."""
    box = BridgeSandbox(tmp_path)
    spoil(box)
    async with box.bridge() as client:
        storage = (await client.state())["storage"]
        assert storage["persistent"] is False
        assert str(box.data) in storage["reason"]
        assert "usable" in storage["reason"]
        room = await client.open("general")
        await room.ask("@alice hello", by="alice")
        await room.request("draft/set", text="x")
        await room.request("channel/markRead", seq=1)
        await client.request("channel/create", name="new")
        assert len((await room.request("message/list"))["messages"]) == 2


async def test_a_start_on_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@alice hello", by="alice")
        said = room.said()
    full = ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"']
    async with serving(box, through=full) as wire:
        await wire.shake_hands()
        storage = (await wire.result("sidekicks/state/get", {}))["storage"]
        assert storage["persistent"] is False
        assert str(box.data) in storage["reason"]
        await wire.result("shutdown", None)
    assert "Traceback" not in (tmp_path / "serve.err").read_text(encoding="utf-8")
    async with box.bridge() as client:
        assert (await client.open("general")).said() == said


async def test_a_damaged_history_is_left_alone_and_everything_runs_in_memory(tmp_path: Path) -> None:
    """The damage lies where only loading the channels meets it."""
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        for _ in range(3):
            await room.ask("@alice !big 20000", by="alice")
    database = box.data / "history.db"
    with closing(sqlite3.connect(database)) as connection:
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'members'").fetchone()
    damaged = bytearray(database.read_bytes())
    damaged[(root - 1) * page : root * page] = b"\xff" * page
    database.write_bytes(damaged)
    async with box.bridge() as client:
        storage = (await client.state())["storage"]
        assert storage["persistent"] is False
        assert "damaged" in storage["reason"]
        assert str(database) in storage["reason"]
        room = await client.open("general")
        await room.ask("@alice hello", by="alice")
    assert database.read_bytes() == damaged


# ── while it runs ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_history_that_was_deleted_under_the_bridge_is_said_aloud(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@alice hello", by="alice")
        for file in box.data.glob("history.db*"):
            file.unlink()
        since = len(client.events)
        await room.ask("@alice and now?", by="alice")
        changed = await client.until(happened("storage/changed", since=since))
        assert changed["persistent"] is False
        assert "deleted or replaced" in changed["reason"]
        assert len((await room.request("message/list"))["messages"]) == 4
