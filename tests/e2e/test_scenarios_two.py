"""Two editors on one configuration: what each may do, and what becomes of one when the other leaves or is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.robustness.process import gone
from tests.support.client import RefusedError
from tests.support.conditions import permission, posted, streaming
from tests.support.law import comparable
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bed import Bed

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio


async def test_the_second_sees_what_the_first_began(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("@alice @bob !for alice !say one !hold two-1 !say \\stwo !permit x !for bob !say three")
    await bed.client.until(streaming("alice", "one"))
    async with bed.box.bridge() as other:
        there = await other.open_id(room.id)
        assert there.said()[-1] == "alice: one (streaming)"
        assert [turn["agent"] for turn in there.turns] == ["alice", "bob"]
        bed.box.gates.open("two-1")
        asked = await other.until(permission())
        await other.request("permission/answer", requestId=asked["requestId"], optionId="allow")
        await there.answer(sent, by="bob")
        await room.answer(sent, by="bob")
        assert comparable(there.snapshot) == comparable(room.snapshot)
        queued = await there.send("@alice !say from the other side")
        await bed.client.until(posted("alice", "from the other side"))
        await room.answer(queued, by="alice")
        await there.quiet()
    await room.ask("@alice !say alone again", by="alice")


async def test_each_is_told_only_what_it_opened(bed: Bed) -> None:
    mine, theirs = await bed.room("alice"), await bed.room("bob")
    async with bed.box.bridge() as other:
        there = await other.open_id(theirs.id)
        await theirs.close()
        await mine.ask("!say one", by="alice")
        await there.ask("!say two", by="bob")
        told = {params["channelId"] for params in other.of("message/updated")}
        assert told == {theirs.id}
        heard = {params["channelId"] for params in bed.client.of("message/delta")}
        assert heard == {mine.id}


async def test_both_delete_a_channel_at_once(bed: Bed) -> None:
    room = await bed.room("alice", name="doomed-twice")
    await room.send("!say working !hang")
    await bed.client.until(streaming("alice", "working"))
    async with bed.box.bridge() as other:
        asked = [
            (client, await client.ask("channel/delete", channelId=room.id, confirm="doomed-twice"))
            for client in (bed.client, other, bed.client, other)
        ]
        refused = []
        for client, reply in asked:
            try:
                await client.result(reply)
            except RefusedError as error:
                refused.append(error.kind)
        assert refused == ["channelNotFound"] * 3
    bed.client.rooms.pop(room.id)


async def test_an_agent_is_stopped_while_channels_come_and_go(bed: Bed) -> None:
    rooms = [await bed.room("bob") for _ in range(7)]
    asked = []
    for number in range(6):
        for room in rooms[number:]:  # each has something to write when its turns are looked at
            asked.append(await bed.client.ask("message/send", channelId=room.id, text="@bbo"))
        asked.append(await bed.client.ask("agent/stop", agent="alice"))
        asked.append(await bed.client.ask("channel/create", name=f"coming-{number}"))
        gone = rooms[number]
        asked.append(await bed.client.ask("channel/delete", channelId=gone.id, confirm=gone.channel["name"]))
        bed.client.rooms.pop(gone.id)
    for reply in asked:
        await bed.client.result(reply)


async def test_the_first_may_leave(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as first:
        room = await first.open("general")
        await room.ask("@alice !say one", by="alice")
        async with box.bridge() as second:
            there = await second.open("general")
            sent = await there.send("@alice !say two !hold leave-1")
            await second.until(streaming("alice", "two"))
            await first.leave()
            box.gates.open("leave-1")
            assert text_of(await there.answer(sent, by="alice")) == "two"
            await there.ask("@bob !say three", by="bob")
            async with box.bridge() as third:
                seen = await third.open("general")
                assert seen.said() == there.said()
    assert box.starts("alice") == 1
    async with box.bridge() as client:
        assert (await client.open("general")).said() == there.said()


async def test_the_first_is_killed(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as first, box.bridge(check=False) as second:
        await first.open("general")
        room = await second.open("general")
        await room.send("@alice !say partial !hang")
        await second.until(streaming("alice", "partial"))
        await first.kill()
        await second.until(lambda client: client.gone)
        with anyio.fail_after(10):
            await second.process.wait()
        assert second.process.returncode == 1
        pid = box.pids("alice")[0]
        async with box.bridge() as third:
            room = await third.open("general")
            assert room.messages[-1]["turn"]["stopReason"] == "interrupted"
            await room.ask("@alice !say back", by="alice")
        await gone([pid])
    assert box.starts("alice") == 2


async def test_two_that_start_at_once(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    answers: list[str] = []

    async def editor(text: str) -> None:
        async with box.bridge() as client:
            room = await client.open("general")
            answers.append(text_of(await room.ask(text, by="alice")))
            for said in ("alice: alice heard: one", "alice: alice heard: two"):
                await client.until(lambda _, said=said: said in room.said())
            await room.quiet()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(editor, "one")
        tasks.start_soon(editor, "two")
    assert sorted(answers) == ["alice heard: one", "alice heard: two"]
    assert box.starts("alice") == 1


async def test_the_first_of_two_folders_is_the_channels(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with box.bridge() as first, box.bridge(root="other") as second, box.bridge(root=None) as third:
        channel = (await first.channel("general"))["id"]
        replies = [await client.ask("channel/open", channelId=channel) for client in (first, second)]
        opened = [await client.result(reply) for client, reply in zip((first, second), replies, strict=True)]
        roots = [one["channel"]["root"] for one in opened]
        assert roots[0] == roots[1], "whoever came first"
        assert sum("otherRoot" in one for one in opened) == 1
        await first.request("channel/direct", agent="alice")
        rootless = await third.request("channel/direct", agent="alice")
        await first.open_id(rootless["id"])
        directs = [one.get("root") for one in (await first.state())["channels"] if one["kind"] == "direct"]
        assert sorted(directs, key=str) == [str(box.workspace), None], "one for each folder"


async def test_two_folders(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with box.bridge() as first, box.bridge(root="other") as second:
        room, there = await first.open("general"), await second.open("general")
        assert there.snapshot["otherRoot"] == room.channel["root"] == str(box.workspace)
        assert "otherRoot" not in room.snapshot
        await room.ask("!say one", by="alice")
        await there.request("channel/update", root=str(tmp_path / "other"))
        await first.until(lambda _: room.channel["root"] == str(tmp_path / "other"))
        here = await first.request("channel/open", channelId=room.id)
        assert here["otherRoot"] == str(tmp_path / "other")
        await room.ask("!say two", by="alice")
    assert [params["cwd"] for params in box.received("alice", "session/new")] == [
        str(box.workspace),
        str(tmp_path / "other"),
    ]


async def test_a_folder_by_another_name_is_the_same_folder(bed: Bed) -> None:
    """Shells say where one is, editors how one came there; links in the way are common (`/tmp`, a linked home)."""
    box, client = bed.box, bed.client
    (box.folder / "link").symlink_to(box.workspace)
    room = await bed.room("alice", "bob")
    direct = await client.request("channel/direct", agent="alice")
    await room.ask("@alice hello", by="alice")
    async with box.bridge(root="link") as other:
        there = await other.open_id(room.id)
        assert "otherRoot" not in there.snapshot
        assert (await other.request("channel/direct", agent="alice"))["id"] == direct["id"]
        await there.request("channel/update", root=str(box.folder / "link"))
        assert (await there.preview("@alice and now?"))["to"][0]["fresh"] is False
    async with box.bridge(root="link", options={"workspaceTrusted": False}) as other:
        there = await other.open_id(room.id)
        assert (await there.preview("@alice hello"))["problem"]["code"] == "untrusted"
