"""Design rules 10, 12 and 13, and what clients ask of channels: names, deletion, folders, lists, search."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import law
from tests.support.conditions import happened, permission, posted, streaming
from tests.support.room import line_of, text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bed import Bed
    from tests.support.client import Client

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio


# ── rule 10 and names ────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_rename_keeps_history_and_is_seen(bed: Bed) -> None:
    room = await bed.room("alice", "bob", name="before")
    await room.ask("@alice !say one", by="alice")
    events = await law.verify(bed.client, room, lambda: room.request("channel/update", name="#After", description="x"))
    assert [event["method"] for event in events] == ["sidekicks/channels/changed"]
    assert (room.channel["name"], room.channel["description"]) == ("After", "x")
    assert room.said() == ["user: @alice !say one", "alice: one"]
    await room.ask("@bob !say two", by="bob")
    assert bed.box.prompts("bob") == [room.frame(["user: @alice !say one", "alice: one"], "@bob !say two")]
    assert bed.box.prompts("bob")[0].startswith("[Messages in #After you")
    await room.request("channel/update", name="aFTER")
    assert room.channel["name"] == "aFTER", "its own name in another case is no clash"
    await room.request("channel/update", name="gone")


@pytest.mark.parametrize(
    "name",
    ["", "a b", "-a", "a--b", "a.", "con", "NUL", "user", "system", "ALL", "x/../alice", "é", "a" * 65, "a\n", "##a"],
)
async def test_bad_names_are_refused_everywhere(bed: Bed, name: str) -> None:
    room = await bed.room("alice")
    for method, fields in (("channel/create", {}), ("channel/update", {"channelId": room.id})):
        refused = await bed.client.refused(method, name=name, **fields)
        assert (refused.code, refused.kind) == (-32803, "invalidName")


async def test_names_are_unique_without_regard_to_case(bed: Bed) -> None:
    one, two = await bed.room("alice", name="Unique"), await bed.room("alice", name="other")
    assert (await bed.client.refused("channel/create", name="unique")).kind == "channelExists"
    assert (await bed.client.refused("channel/update", channelId=two.id, name="#UNIQUE")).kind == "channelExists"
    assert (await bed.client.refused("channel/create", name="x1", members=["nobody"])).kind == "agentNotFound"
    assert (await bed.client.refused("channel/create", name="x1", root="relative")).kind == "invalidParams"
    assert (await bed.client.refused("channel/update", channelId="nope", name="x1")).kind == "channelNotFound"
    names = {channel.get("name") for channel in (await bed.client.state())["channels"]}
    assert "x1" not in names
    assert one.channel["name"] == "Unique"


async def test_deleting_needs_the_name_and_deletes_the_history(bed: Bed) -> None:
    room = await bed.room("alice", name="doomed")
    await room.ask("!say remarkable", by="alice")
    held = await room.send("!say working !permit x")
    asked = await bed.client.until(permission())
    await room.send("and queued")
    for confirm in ({}, {"confirm": ""}, {"confirm": "alice"}):
        refused = await bed.client.refused("channel/delete", channelId=room.id, **confirm)
        assert refused.kind == "confirmationMissing"
        assert "doomed" in refused.message
    await room.request("channel/delete", confirm="#Doomed")
    await bed.client.until(happened("permission/resolved", lambda params: params["requestId"] == asked["requestId"]))
    bed.client.rooms.pop(room.id)
    assert room.id not in [channel["id"] for channel in bed.client.of("channels/changed")[-1]["channels"]]
    assert (await bed.client.refused("channel/open", channelId=room.id)).kind == "channelNotFound"
    assert (await bed.client.refused("message/send", channelId=room.id, text="x")).kind == "channelNotFound"
    assert (await bed.client.request("message/search", query="remarkable"))["hits"] == []
    assert (await bed.client.refused("message/prompt", messageId=held["messageId"])).kind == "messageNotFound"
    assert len(bed.box.received("alice", "session/cancel")) == 1
    again = await bed.room("alice", name="doomed")
    assert again.messages == []
    assert text_of(await again.ask("still there?", by="alice")) == "alice heard: still there?"


async def test_somebody_leaves_whose_process_is_gone(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say one", by="alice")
    mark = len(bed.client.events)
    os.kill(bed.box.pids("alice")[-1], signal.SIGKILL)
    await bed.client.until(happened("agent/state", lambda params: params["state"] == "error", since=mark))
    await room.request("channel/remove", agent="alice")
    assert room.members == ["bob"]
    assert text_of(await room.ask("@alice back?", by="alice")) == "alice heard: back?"


async def test_members_come_and_go(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await law.verify(bed.client, room, lambda: room.request("channel/invite", agent="Dora"))
    await room.request("channel/invite", agent="dora")
    assert room.members == ["alice", "bob", "dora"]
    held = await room.send("@bob !say working !hang")
    await bed.client.until(streaming("bob", "working"))
    await room.send("@bob and later")
    await room.request("channel/remove", agent="BOB")
    answer = await bed.client.until(posted("bob", "working"))
    assert answer["inReplyTo"] == held["messageId"]
    assert answer["turn"]["stopReason"] == "cancelled"
    await room.quiet()
    assert room.members == ["alice", "dora"]
    assert (await bed.client.refused("channel/remove", channelId=room.id, agent="bob")).kind == "notMember"
    await room.ask("@bob !say back", by="bob")
    assert room.members == ["alice", "dora", "bob"]
    asked = "user: @bob !say working !hang"
    assert bed.box.prompts("bob")[-1].splitlines()[1:3] == [asked, "bob: working"], "back, it is fresh"


# ── rule 12: declared channels ───────────────────────────────────────────────────────────────────────────────────


async def test_declared_channels(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, channels={"general": ["alice"], "Review": ["bob"], "old": []})

    async def names(client: Client) -> set[str]:
        return {channel["name"] for channel in (await client.state())["channels"]}

    async def declare(client: Client, *wanted: str) -> None:
        box.config["channels"] = [{"name": name, "members": ["alice"]} for name in wanted]
        mark = len(client.events)
        box.write_config()
        await client.until(happened("config/changed", since=mark))

    async with box.bridge() as client:
        assert await names(client) == {"general", "Review", "old"}
        room = await client.open("general")
        await room.ask("!say one", by="alice")
        await room.request("channel/update", name="lobby")
        review = await client.channel("Review")
        await client.request("channel/delete", channelId=review["id"], confirm="review")
        await declare(client, "general", "Review", "old", "new")
        assert await names(client) == {"lobby", "old", "new"}, "what was renamed or deleted is not made again"
        await declare(client, "general", "new")
        assert await names(client) == {"lobby", "old", "new"}, "taking an entry out deletes nothing"
    async with box.bridge() as client:
        assert await names(client) == {"lobby", "old", "new"}
        await declare(client, "new")
        assert await names(client) == {"lobby", "old", "new"}
        await declare(client, "new", "general", "REVIEW")
        assert await names(client) == {"lobby", "old", "new", "general", "REVIEW"}, "put back, they are made anew"
        room = await client.open("lobby")
        assert room.said() == ["user: !say one", "alice: one"]
        assert (await client.open("general")).messages == []
        made = await client.request("channel/create", name="mine")
        await declare(client, "new", "general", "REVIEW", "mine")
        assert (await client.channel("mine"))["id"] == made["id"], "a channel of that name is taken as it is"


# ── rule 13: the folder ──────────────────────────────────────────────────────────────────────────────────────────


async def test_the_folder_of_a_channel(tmp_path: Path) -> None:
    elsewhere, own = tmp_path / "else where", tmp_path / "own"
    elsewhere.mkdir()
    own.mkdir()
    box = BridgeSandbox(
        tmp_path,
        {"alice": "--caps close", "bob": ""},
        {"general": ["alice", "bob"], "second": ["alice"], "script": ["alice"]},
        fields={"bob": {"workspace": "own"}},
    )
    async with box.bridge(root=None) as client:
        room = await client.open("general")
        assert "root" not in room.channel
        assert "otherRoot" not in room.snapshot
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.channel["root"] == str(box.workspace), "the first client with a folder sets it"
        script = await client.open("script", keepRoot=True)
        assert "root" not in script.channel
        await room.ask("@alice !say one", by="alice")
        await room.ask("@bob !say two", by="bob")
    async with box.bridge(root=elsewhere) as client:
        room = await client.open("general")
        assert room.snapshot["otherRoot"] == str(box.workspace)
        assert (await client.open("second")).channel["root"] == str(elsewhere)
        assert "otherRoot" not in (await client.open("second")).snapshot
        direct = await client.request("channel/direct", agent="alice")
        assert direct["root"] == str(elsewhere), "one direct conversation for each agent and folder"
        await room.ask("@alice !say three", by="alice")
        await law.verify(client, room, lambda: room.request("channel/update", root=str(elsewhere)))
        assert "otherRoot" not in await room.request("channel/open")
        assert (await room.preview("@alice x"))["to"][0]["fresh"] is True
        await room.ask("@alice !say four", by="alice")
        assert (await client.refused("channel/update", channelId=room.id, root="here")).kind == "invalidParams"
    folders = [params["cwd"] for params in box.received("alice", "session/new")]
    assert folders == [str(box.workspace), str(box.workspace), str(elsewhere)]
    assert [params["cwd"] for params in box.received("bob", "session/new")] == [str(own)]
    assert len(box.received("alice", "session/close")) == 1
    said = ["user: @alice !say one", "alice: one", "user: @bob !say two", "bob: two"]
    assert box.prompts("alice")[2] == room.frame([*said, "user: @alice !say three", "alice: three"], "@alice !say four")


async def test_a_folder_that_is_gone_is_named_though_the_agent_runs(bed: Bed, tmp_path: Path) -> None:
    room = await bed.room("alice")
    await room.ask("!say one", by="alice")
    made = await bed.client.request("channel/create", name="moved-away", members=["alice"], root=str(tmp_path / "gone"))
    there = await bed.client.open_id(made["id"])
    answer = await there.ask("!say two", by="alice")
    assert answer["turn"]["error"]["code"] == "agentSpawnFailed"
    assert f"the folder {tmp_path / 'gone'} does not exist" in answer["turn"]["error"]["message"]
    (tmp_path / "gone").mkdir()
    assert text_of(await there.ask("!say three", by="alice")) == "three"


# ── lists, parts, search ─────────────────────────────────────────────────────────────────────────────────────────


async def test_pages(bed: Bed) -> None:
    room = await bed.room("alice")
    for number in range(4):
        await room.ask(f"!say {number}", by="alice")
    held = await room.send("!say five !hold page-1")
    await bed.client.until(streaming("alice", "five"))
    await room.send("queued")

    async def page(**fields: int) -> tuple[list[int | str], bool]:
        result = await room.request("message/list", **fields)
        return [message.get("seq", message["state"]) for message in result["messages"]], result["hasMore"]

    assert await page() == ([1, 2, 3, 4, 5, 6, 7, 8, 9, "streaming", "queued"], False)
    assert await page(limit=2) == ([8, 9, "streaming", "queued"], True)
    assert await page(before=8, limit=3) == ([5, 6, 7], True)
    assert await page(before=3, limit=3) == ([1, 2], False)
    assert await page(before=1) == ([], False)
    assert await page(after=7) == ([8, 9, "streaming", "queued"], False)
    assert await page(after=2, limit=3) == ([3, 4, 5], True)
    assert await page(after=2, before=5) == ([3, 4], False)
    assert await page(after=99) == (["streaming", "queued"], False)
    assert (await page(limit=100_000))[0][0] == 1
    small = await room.request("channel/open", limit=2)
    assert ([message.get("seq") for message in small["messages"]], small["hasMore"]) == ([8, 9, None, None], True)
    await room.request("channel/open", limit=50)
    bed.box.gates.open("page-1")
    await room.answer(held, by="alice")
    await room.quiet()


async def test_search(bed: Bed) -> None:
    room, other = await bed.room("alice", name="searched"), await bed.room("bob", name="other-searched")
    await room.ask("Where is the zebracorn?", by="alice")
    await other.ask("the ZEBRACORN 斑马 100%", by="bob")
    find = bed.client.request
    hits = (await find("message/search", query="zebracorn"))["hits"]
    assert [line_of(hit["message"]) for hit in hits] == [
        "bob: bob heard: the ZEBRACORN 斑马 100%",
        "user: the ZEBRACORN 斑马 100%",
        "alice: alice heard: Where is the zebracorn?",
        "user: Where is the zebracorn?",
    ]
    assert all("zebracorn" in hit["snippet"].lower() for hit in hits)
    for fields, count in (
        ({"query": "zebracorn", "limit": 1}, 1),
        ({"query": "zebracorn", "channelId": room.id}, 2),
        ({"query": "zebracorn", "author": "user"}, 2),
        ({"query": "zebracorn", "author": "bob"}, 1),
        ({"query": "the zebracorn where"}, 2),
        ({"query": "斑马"}, 2),
        ({"query": "100%"}, 2),
        ({"query": "ze_ra"}, 0),
        ({"query": '"zebracorn" OR *'}, 0),
        ({"query": ""}, 0),
        ({"query": "  "}, 0),
    ):
        assert len((await find("message/search", fields))["hits"]) == count, fields


async def test_what_was_sent_is_kept_with_the_answer(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    first = await room.ask("@alice !say one", by="alice")
    second = await room.ask("@bob /plan x", by="bob")
    third = await room.ask("@bob !say two", by="bob")
    prompts = [await bed.client.request("message/prompt", messageId=one["id"]) for one in (first, second, third)]
    assert [(prompt["session"], prompt["unseen"], prompt["cut"]) for prompt in prompts] == [
        ("fresh", 0, 0),
        ("fresh", 0, 0),
        ("fresh", 2, 0),
    ]
    assert [prompt["blocks"] for prompt in prompts] == bed.box.blocks("alice") + bed.box.blocks("bob")
    asked = room.messages[0]["id"]
    assert (await bed.client.refused("message/prompt", messageId=asked)).kind == "messageNotFound"


async def test_a_repeated_token_sends_nothing_twice(bed: Bed) -> None:
    room = await bed.room("alice")
    sent = await room.send("!say one", clientToken="t1")
    again = await room.send("!say one", clientToken="t1")
    assert again == sent
    asked = [await bed.client.ask("message/send", channelId=room.id, text="two", clientToken="t2") for _ in range(3)]
    results = [await bed.client.result(reply) for reply in asked]
    assert len({result["messageId"] for result in results}) == 1
    await room.quiet()
    assert bed.box.prompts("alice") == ["!say one", "two"]
    nobody = await bed.room("alice", "bob")
    assert await nobody.send("?", clientToken="t1") == await nobody.send("?", clientToken="t1")
    assert len(nobody.messages) == 2


async def test_sending_answers_when_message_and_turns_exist(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("@alice @bob !say x")
    shown = [message["id"] for message in room.messages]
    assert sent["messageId"] in shown
    assert [turn["agent"] for turn in room.turns] == ["alice", "bob"]
    await room.quiet()


@pytest.mark.parametrize("text", ["", "   ", "\n\t\u00a0"])
async def test_nothing_cannot_be_sent(bed: Bed, text: str) -> None:
    room = await bed.room("alice")
    refused = await bed.client.refused("message/send", channelId=room.id, text=text)
    assert (refused.code, refused.kind) == (-32602, "invalidParams")
    assert (await room.preview(text)) == {"to": []}
    assert room.messages == []


async def test_too_much_cannot_be_sent(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""}, limits={"messageBytes": "1KiB"})
    async with box.bridge() as client:
        room = await client.open("general")
        refused = await client.refused("message/send", channelId=room.id, text="ü" * 600)
        assert refused.kind == "tooLarge"
        assert refused.details == {"bytes": 1200, "limit": 1024}
        attached = [{"uri": "file:///x", "text": "y" * 2000}]
        refused = await client.refused("message/send", channelId=room.id, text="x", attachments=attached)
        assert refused.kind == "tooLarge"
        assert room.messages == []
        await room.ask("ü" * 512, by="alice")


async def test_wrong_requests_are_told_what_is_wrong(bed: Bed) -> None:
    room = await bed.room("alice")
    table: list[tuple[str, JSON, int, str]] = [
        ("message/send", {"channelId": room.id}, -32602, "text"),
        ("message/send", {"channelId": room.id, "text": 5}, -32602, "$.text"),
        ("message/send", {"channelId": "x", "text": "y"}, -32803, "'x'"),
        ("message/list", {"channelId": room.id, "limit": "many"}, -32602, "limit"),
        ("message/part", {"messageId": "x", "part": 0}, -32803, "'x'"),
        ("message/remove", {"messageId": "x"}, -32803, "queued"),
        ("turn/retry", {"messageId": "x"}, -32803, "'x'"),
        ("session/setMode", {"channelId": room.id, "agent": "bob"}, -32803, "#"),
        ("session/setMode", {"channelId": room.id, "agent": "alice"}, -32602, "modeId"),
        ("sidekicks/message/nope", {}, -32601, "sidekicks/message/nope"),
    ]
    for method, params, code, words in table:
        refused = await bed.client.refused(method, params)
        assert refused.code == code, (method, refused.message)
        assert words in refused.message, (method, refused.message)


async def test_a_closed_channel_is_not_told(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.close()
    mark = len(bed.client.events)
    await bed.client.request("message/send", channelId=room.id, text="!say unheard")
    await bed.client.until(
        happened("channels/changed", lambda params: bool(_channel(params, room.id).get("unread")), since=mark)
    )
    told = {event["method"] for event in bed.client.events[mark:]}
    assert told <= {f"sidekicks/{name}" for name in ("channels/changed", "attention/changed", "agent/state")}
    opened = await bed.client.open_id(room.id)
    assert opened.said() == ["user: !say unheard", "alice: unheard"]
    await opened.quiet()


def _channel(params: JSON, channel_id: str) -> JSON:
    return next(channel for channel in params["channels"] if channel["id"] == channel_id)


async def test_nothing_depends_on_the_bridges_folder_or_locale(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    async with box.bridge(env=plain) as client:
        room = await client.open("general")
        assert text_of(await room.ask("naïve 🦊", by="alice")) == "alice heard: naïve 🦊"
        text = (await client.request("config/get"))["text"]
        assert os.fspath(box.log_path("alice")) in text
