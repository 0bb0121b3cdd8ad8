"""Design rules 1 to 4: who answers, in which order, and what each agent is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.store.contract import PutMessage
from sidekicks_bridge.store.open import open_store
from tests.store.make import text_message
from tests.support import law
from tests.support.conditions import posted, streaming
from tests.support.room import line_of, notices, text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio


# ── rule 1: direct conversations ─────────────────────────────────────────────────────────────────────────────────


async def test_a_direct_conversation(bed: Bed) -> None:
    made = await bed.client.request("channel/direct", agent="Carol")
    assert (made["kind"], made["agent"]) == ("direct", "carol")
    assert "name" not in made
    assert (await bed.client.request("channel/direct", agent="@carol"))["id"] == made["id"]
    room = await bed.client.open("@carol")
    for text in ("hi", "@alice what do you think?", "@bbo", "@all of you"):
        answer = await room.ask(text, by="carol")
        assert answer["turn"]["stopReason"] == "end_turn"
    assert bed.box.prompts("carol") == ["hi", "@alice what do you think?", "@bbo", "@all of you"]
    assert room.members == ["carol"]
    await bed.client.request("agent/restart", agent="carol")
    await room.ask("anew", by="carol")
    assert bed.box.prompts("carol")[-1].startswith(
        "[Messages in this conversation you have not seen yet]\nuser: hi\ncarol: carol heard: hi\n"
    )
    elsewhere = await room.send("/alice:plan now")
    assert elsewhere["route"]["problem"]["code"] == "unknownAgent"
    assert notices(room.messages[-1]) == ["unknownAgent"]
    await room.ask("/carol:plan now", by="carol")
    assert bed.box.prompts("carol")[-1] == "/plan now"
    refused = await bed.client.refused("channel/invite", channelId=room.id, agent="alice")
    assert refused.kind == "invalidParams"
    assert (await bed.client.refused("channel/direct", agent="nobody")).kind == "agentNotFound"


# ── rule 2: who answers ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_mentioned_agent_is_invited_when_the_first_turn_begins(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.send("!hold invite-1")
    await bed.client.until(streaming("alice"))
    sent = await room.send("@alice @dora !say hello")
    assert [target["invited"] for target in sent["route"]["to"]] == [False, True]
    assert room.members == ["alice"], "while the message is queued nobody is invited"
    bed.box.gates.open("invite-1")
    await room.answer(sent, by="alice")
    await bed.client.request("state/get")  # the list of channels is told before the next answer at the latest
    assert room.members == ["alice", "dora"]
    await room.answer(sent, by="dora")
    asked = next(message for message in room.messages if message["id"] == sent["messageId"])
    invited = next(message for message in room.messages if notices(message) == ["invited"])
    assert "@dora" in line_of(invited)
    assert invited["seq"] == asked["seq"] + 1, "said right after the message, before anybody answers"
    assert (await room.send("@dora !say again"))["route"]["to"][0]["invited"] is False
    await room.quiet()


async def test_a_removed_queued_message_invites_nobody(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.send("!hold invite-2")
    sent = await room.send("@dora hello")
    await bed.client.request("message/remove", messageId=sent["messageId"])
    bed.box.gates.open("invite-2")
    await room.quiet()
    assert room.members == ["alice"]
    assert line_of(room.messages[0]) == "user: !hold invite-2"
    assert len(room.messages) == 2


async def test_a_command_invites_likewise(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("/dora:plan the week")
    assert sent["route"]["to"][0]["command"] == "/plan the week"
    await room.answer(sent, by="dora")
    assert room.members == ["alice", "bob", "dora"]
    assert bed.box.prompts("dora") == ["/plan the week"]


async def test_all_answer_in_the_order_they_joined(bed: Bed) -> None:
    room = await bed.room("bob", "carol")
    await bed.client.request("channel/invite", channelId=room.id, agent="alice")
    sent = await room.send("@all !say me")
    for name in ("bob", "carol", "alice"):
        await room.answer(sent, by=name)
    assert [line_of(message) for message in room.messages[1:]] == ["bob: me", "carol: me", "alice: me"]


async def test_who_was_asked_last_or_spoke_last_is_asked_next(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    nobody = await room.send("hello")
    assert nobody["route"]["problem"]["code"] == "nobody"
    assert "@alice" in nobody["route"]["problem"]["text"]
    first = await room.send("@alice !hold last-2")
    queued = await room.send("@bob !say queued")
    after = await room.send("!say to whom")
    assert [target["agent"] for target in after["route"]["to"]] == ["bob"], "bob is queued, so he is the last"
    bed.box.gates.open("last-2")
    await room.answer(first, by="alice")
    await room.answer(queued, by="bob")
    await room.answer(after, by="bob")
    await bed.client.request("channel/remove", channelId=room.id, agent="bob")
    assert [target["agent"] for target in (await room.preview("and now"))["to"]] == ["alice"]
    await bed.client.request("channel/remove", channelId=room.id, agent="alice")
    assert (await room.preview("and now"))["problem"]["code"] == "nobody"


async def test_a_single_member_answers_without_being_named(bed: Bed) -> None:
    room = await bed.room("dora")
    assert text_of(await room.ask("hello", by="dora")) == "dora heard: hello"


# ── rule 3: one at a time ────────────────────────────────────────────────────────────────────────────────────────


async def test_the_second_reads_the_answer_of_the_first(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("@alice @bob !for alice !say one !hold order-1 !say \\stwo !for bob !say three")
    await bed.client.until(streaming("alice", "one"))
    assert [turn["state"] for turn in room.turns] == ["writing", "queued"]
    assert room.turns[1]["waitsFor"] == {"reason": "channel", "channelId": room.id, "agent": "alice"}
    assert bed.box.prompts("bob") == []
    bed.box.gates.open("order-1")
    await room.answer(sent, by="bob")
    text = "@alice @bob !for alice !say one !hold order-1 !say \\stwo !for bob !say three"
    assert bed.box.prompts("alice") == [text]
    assert bed.box.prompts("bob") == [room.frame(["alice: one two"], text)]


async def test_messages_sent_meanwhile_queue_in_order(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    first = await room.send("@alice !say one !hold queue-1")
    sent = [await room.send(f"@{name} !say {number}") for number, name in enumerate(("bob", "alice", "bob"), 2)]
    assert [turn["agent"] for turn in room.turns] == ["alice", "bob", "alice", "bob"]
    assert [message["state"] for message in room.messages] == ["finished", "streaming", "queued", "queued", "queued"]
    assert all("seq" not in message for message in room.messages[1:])
    bed.box.gates.open("queue-1")
    await room.answer(first, by="alice")
    await room.quiet()
    assert room.said() == [
        "user: @alice !say one !hold queue-1",
        "alice: one",
        "user: @bob !say 2",
        "bob: 2",
        "user: @alice !say 3",
        "alice: 3",
        "user: @bob !say 4",
        "bob: 4",
    ]
    assert [message["seq"] for message in room.messages] == list(range(1, 9))
    assert len(sent) == 3


async def test_an_agent_answers_one_channel_at_a_time(bed: Bed) -> None:
    here, there = await bed.room("alice"), await bed.room("alice", "bob")
    first = await here.send("!say busy !hold busy-1")
    await bed.client.until(streaming("alice", "busy"))
    second = await there.send("@alice hello")
    assert second["route"]["to"][0]["waitsFor"] == {"reason": "agentBusy", "channelId": here.id, "agent": "alice"}
    waiting = await there.turn("alice", "queued", waits="agentBusy")
    assert waiting["waitsFor"] == {"reason": "agentBusy", "channelId": here.id, "agent": "alice"}
    assert there.said() == ["user: @alice hello (queued)"]
    items = (await bed.client.request("attention/list"))["items"]
    assert [item["channelId"] for item in items if item["kind"] == "queued"] == [there.id]
    after = await there.send("@bob you?")
    assert (await there.preview("@bob x"))["to"][0]["waitsFor"]["reason"] == "channel"
    bed.box.gates.open("busy-1")
    await here.answer(first, by="alice")
    await there.answer(second, by="alice")
    await there.answer(after, by="bob")
    assert bed.box.prompts("alice") == ["!say busy !hold busy-1", "@alice hello"], "nothing leaks between channels"
    sessions = [params["sessionId"] for params in bed.box.received("alice", "session/prompt")]
    assert len(set(sessions)) == 2


async def test_channels_are_served_in_the_order_they_asked(bed: Bed) -> None:
    busy = await bed.room("carol")
    await busy.send("!hold fair-1")
    await busy.turn("carol", "thinking")
    rooms = [await bed.room("carol") for _ in range(4)]
    for number in (2, 0, 3, 1):
        await rooms[number].send(f"!say {number}")
    bed.box.gates.open("fair-1")
    for room in rooms:
        await room.quiet()
    assert bed.box.prompts("carol")[1:] == ["!say 2", "!say 0", "!say 3", "!say 1"]


async def test_what_is_sent_at_once_keeps_its_order(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    texts = [f"@{'alice' if number % 3 else 'bob'} !say {number}" for number in range(20)]
    replies = [await bed.client.ask("message/send", channelId=room.id, text=text) for text in texts]
    for reply in replies:
        await bed.client.result(reply)
    await room.quiet()
    users = [text_of(message) for message in room.messages if message["author"]["kind"] == "user"]
    assert users == texts
    answers = [text_of(message) for message in room.messages if message["author"]["kind"] == "agent"]
    assert answers == [str(number) for number in range(20)]


# ── rule 4: order and reading ────────────────────────────────────────────────────────────────────────────────────


async def test_what_was_unseen_is_framed_once(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say one", by="alice")
    await room.ask("@alice !say two\\n\\nlines", by="alice")
    preview = (await room.preview("@bob x"))["to"][0]
    assert (preview["unseen"], preview["cut"], preview["fresh"]) == (4, 0, True)
    await room.ask("@bob !say three", by="bob")
    await room.ask("@bob !say four", by="bob")
    await room.ask("@alice !say five", by="alice")
    assert bed.box.prompts("bob") == [
        room.frame(
            ["user: @alice !say one", "alice: one", "user: @alice !say two\\n\\nlines", "alice: two\n  \n  lines"],
            "@bob !say three",
        ),
        "@bob !say four",
    ]
    assert bed.box.prompts("alice")[2] == room.frame(
        ["user: @bob !say three", "bob: three", "user: @bob !say four", "bob: four"], "@alice !say five"
    )


async def test_what_is_said_meanwhile_stays_unseen(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say one !late gate=meanwhile-1 late words", by="alice")
    sent = await room.send("@bob !say two !hold meanwhile-2")
    await bed.client.until(streaming("bob", "two"))
    bed.box.gates.open("meanwhile-1")
    await bed.client.until(posted("alice", "late words", late=True))
    bed.box.gates.open("meanwhile-2")
    await room.answer(sent, by="bob")
    await room.ask("@bob !say three", by="bob")
    assert bed.box.prompts("bob")[1] == room.frame(["alice: late words"], "@bob !say three")
    await room.ask("@alice !say four", by="alice")
    assert bed.box.prompts("alice")[1] == room.frame(
        ["user: @bob !say two !hold meanwhile-2", "bob: two", "user: @bob !say three", "bob: three"], "@alice !say four"
    )


async def test_context_is_cut(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    long = "🦊" * 1600
    await room.ask(f"@alice !say ```\\n{long}", by="alice")
    for number in range(10):
        await room.ask(f"@alice !say {number}", by="alice")
    preview = (await room.preview("@bob x"))["to"][0]
    assert (preview["unseen"], preview["cut"]) == (22, 2)
    answer = await room.ask("@bob !say ok", by="bob")
    lines = [line for number in range(10) for line in (f"user: @alice !say {number}", f"alice: {number}")]
    assert bed.box.prompts("bob") == [room.frame(lines, "@bob !say ok")]
    prompt = await bed.client.request("message/prompt", messageId=answer["id"])
    assert (prompt["unseen"], prompt["cut"], prompt["session"]) == (22, 2, "fresh")
    assert prompt["blocks"] == bed.box.blocks("bob")[0]
    await room.ask(f"@bob !say ```\\n{long}", by="bob")
    await room.ask("@alice !say ok", by="alice")
    cut = f"bob: ```\n  {'🦊' * 1496} […]\n  ```"
    users = f"user: @bob !say ```\\n{long}"[: 1500 + len("user: ")] + " […]"
    assert bed.box.prompts("alice")[-1] == room.frame(["user: @bob !say ok", "bob: ok", users, cut], "@alice !say ok")


async def test_context_may_be_set_to_carry_more_than_a_channel_keeps_in_memory_otherwise(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""}, limits={"contextMessages": 250})
    async with box.bridge() as client:
        channel = (await client.channel("general"))["id"]
    store = await open_store(box.config_path, folder=box.data)
    said = [text_message(f"m{seq}", f"word {seq}", channel=channel, seq=seq) for seq in range(1, 231)]
    await store.write(*map(PutMessage, said))
    await store.close()
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("now", by="alice")
        assert box.prompts("alice") == [room.frame([f"user: word {seq}" for seq in range(1, 231)], "now")]


async def test_only_text_is_carried_and_attachments_by_path(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    attached = [
        {"uri": "file:///c%3A/x/a%20b.py"},
        {
            "uri": "file:///src/m.py",
            "text": "print()",
            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}},
        },
        {"uri": "untitled:Untitled-1", "title": "Notes"},
    ]
    await room.ask("@alice !think hm !tool read look !say yes !plan A", by="alice", attachments=attached)
    blocks = bed.box.blocks("alice")[0]
    assert [block["type"] for block in blocks] == ["text", "resource_link", "resource_link", "resource_link"]
    assert [block["uri"] for block in blocks[1:]] == [
        "file:///c%3A/x/a%20b.py",
        "file:///src/m.py#L2-L3",
        "untitled:Untitled-1",
    ]
    await room.ask("@bob !say ok", by="bob")
    asked = "user: @alice !think hm !tool read look !say yes !plan A"
    paths = ["  [attached: c:/x/a b.py]", "  [attached: /src/m.py]", "  [attached: untitled:Untitled-1]"]
    assert bed.box.prompts("bob") == [room.frame([asked, *paths, "alice: yes"], "@bob !say ok")]


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("!name-prefix !say hello", "hello"),
        ("!name-prefix alice:\\s !say hello", "hello"),
        ("!name-prefix ALICE:\\n !say hello", "hello"),
        ("!name-prefix Alice:\\sAlice:\\s !say x", "Alice: x"),
        ("!say alice:1", "alice:1"),
        ("!say alice !say \\sand I", "alice and I"),
        ("!say ali", "ali"),
        ("!say bob:\\sno", "bob: no"),
        ("!say I am alice:\\syes", "I am alice: yes"),
    ],
)
async def test_its_own_name_is_dropped_from_an_answer(bed: Bed, script: str, shown: str) -> None:
    room = await bed.room("alice")
    mark = len(bed.client.events)
    answer = await room.ask(script, by="alice")
    assert text_of(answer) == shown
    deltas = [event["params"] for event in bed.client.events[mark:] if event["method"] == "sidekicks/message/delta"]
    assert "".join(delta.get("text") or delta["value"]["text"] for delta in deltas) == shown


async def test_a_message_whose_only_turn_is_cancelled_before_it_begins_leaves_no_trace(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.send("!say one !hold trace-1")
    await bed.client.until(streaming("alice", "one"))
    gone = await room.send("never mind")
    events = await law.verify(bed.client, room, lambda: room.cancel(room.turns[1]["id"]))
    assert "sidekicks/message/removed" in [event["method"] for event in events]
    bed.box.gates.open("trace-1")
    await room.quiet()
    page = await room.request("message/list")
    assert gone["messageId"] not in [message["id"] for message in page["messages"]]
    assert (await bed.client.request("message/search", query="mind", channelId=room.id))["hits"] == []
    assert [message["seq"] for message in room.messages] == [1, 2]
