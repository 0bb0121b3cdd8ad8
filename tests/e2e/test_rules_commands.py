"""Design rule 5: slash commands are sent alone; and rule 6 where it needs no restart of the bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import happened

if TYPE_CHECKING:
    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio


async def test_a_command_goes_alone_and_the_cursor_does_not_move(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say one", by="alice")
    await room.ask("@bob /research  two  spaces\nand lines ", by="bob")
    await room.ask("/bob:research:deep x", by="bob")
    await room.ask("@bob !say what was unseen", by="bob")
    assert bed.box.prompts("bob")[:2] == ["/research  two  spaces\nand lines ", "/research:deep x"]
    assert bed.box.prompts("bob")[2] == room.frame(["user: @alice !say one", "alice: one"], "@bob !say what was unseen")
    await room.ask("@alice !say then", by="alice")
    unseen = [
        "user: @bob /research  two  spaces\n  and lines ",
        "bob: bob heard: /research  two  spaces\n  and lines ",
        "user: /bob:research:deep x",
        "bob: bob heard: /research:deep x",
        "user: @bob !say what was unseen",
        "bob: what was unseen",
    ]
    assert bed.box.prompts("alice")[1] == room.frame(unseen, "@alice !say then")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (" /plan x", "/plan x"),
        ("\t/plan", "/plan"),
        ("\n/plan  x ", "/plan  x "),
        ("\u00a0/plan x", "/plan x"),
        ("@alice /plan x", "/plan x"),
        ("@alice, /plan x", "/plan x"),
        ("/alice:plan x", "/plan x"),
        ("/ALICE:plan x", "/plan x"),
        ("/alice:a:b x", "/a:b x"),
        ("/unlisted x", "/unlisted x"),
        ("/usr/bin/env x", "/usr/bin/env x"),
        ("hi /plan", "hi /plan"),
        ("/ plan", "/ plan"),
        ("/plan, x", "/plan, x"),
    ],
)
async def test_forms_of_commands(bed: Bed, text: str, sent: str) -> None:
    room = await bed.room("alice")
    await room.ask(text, by="alice")
    assert bed.box.prompts("alice") == [sent]


async def test_several_leading_mentions_each_get_the_command(bed: Bed) -> None:
    room = await bed.room("alice", "bob", "dora")
    sent = await room.send("@dora @alice /plan it")
    assert [(target["agent"], target["command"]) for target in sent["route"]["to"]] == [
        ("dora", "/plan it"),
        ("alice", "/plan it"),
    ]
    await room.answer(sent, by="alice")
    assert bed.box.prompts("dora") == bed.box.prompts("alice") == ["/plan it"]


async def test_a_command_that_another_member_has(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@bob !say here I am", by="bob")
    await room.ask("@alice !say me too", by="alice")
    problem = (await room.preview("/research x"))["problem"]
    assert (problem["code"], problem["suggestion"], problem["start"], problem["end"]) == (
        "unknownCommand",
        "/bob:research",
        0,
        9,
    )
    unlisted = await room.preview("/secret x")
    assert [target["agent"] for target in unlisted["to"]] == ["alice"]
    assert [note["code"] for note in unlisted["notes"]] == ["unlistedCommand"]
    announced = await room.preview("/plan x")
    assert announced["to"][0]["command"] == "/plan x"
    assert "notes" not in announced


async def test_attachments_go_with_a_command(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.ask("/review", by="alice", attachments=[{"uri": "file:///x.py"}])
    assert [block["type"] for block in bed.box.blocks("alice")[0]] == ["text", "resource_link"]
    assert bed.box.prompts("alice") == ["/review"]


async def test_commands_are_kept_and_announced(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.ask("!commands ship:Ship-it,plan !say ok", by="alice")
    await bed.client.until(happened("commands/changed", lambda params: params["commands"][0]["name"] == "ship"))
    agents = {agent["name"]: agent for agent in (await bed.client.state())["agents"]}
    assert [command["name"] for command in agents["alice"]["commands"]] == ["ship", "plan"]
    items = (await room.request("message/complete", text="/s", offset=2))["items"]
    assert [item["label"] for item in items] == ["/ship"]
    await room.ask("!commands plan:Plan-it,review !say ok", by="alice")


# ── rule 6, without a restart of the bridge ──────────────────────────────────────────────────────────────────────


async def test_an_agent_restarted_by_the_user_is_fresh(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.ask("!say one", by="alice")
    starts = bed.box.starts("alice")
    await bed.client.request("agent/restart", agent="alice")
    assert (await room.preview("x"))["to"] == [
        {"agent": "alice", "invited": False, "unseen": 2, "cut": 0, "fresh": True}
    ]
    await room.ask("!say two", by="alice")
    assert bed.box.prompts("alice")[1] == room.frame(["user: !say one", "alice: one"], "!say two")
    assert bed.box.starts("alice") == starts + 1
