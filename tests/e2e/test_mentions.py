"""Who is addressed: the rules of mentions and commands as clients see them, by the preview that sending uses too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.room import line_of, notices, text_of

if TYPE_CHECKING:
    from tests.support.bed import Bed
    from tests.support.room import Room

pytestmark = pytest.mark.anyio

BOB = [
    "**@bob** hi",
    "(@bob)",
    "_@bob_",
    '"@bob"',
    "@bob: hi",
    "@bob, hi",
    "@bob. Hi",
    "\u00a0@bob hi",
    "\ufeff@bob hi",
    "@BOB hi",
    "@Bob hi",
    "hi\n@bob",
    "hi @bob",
    "hi @bob!",
    "hi @bob?",
    "@bob's turn",
    "~~@bob~~",
    "***@bob***",
    "[@bob]",
    "{@bob}",
    "“@bob” said",
    "«@bob»",
    "‘@bob’",
    "<@bob>",
    "- @bob",
    "> @bob quoted",
    "@bob处理一下",
    "请@bob看",
    "よろしく、@bobさん",
    "@bob\tx",
    "@bob\r\nx",
    "@bob… hi",
    "@bob—hi",
    "@bob;",
    "@bob@alice",
    "/research @alice",  # a command; to the last who spoke: bob
]
TEXT = [
    "waiting on bob",
    "look at @src/bob.py",
    "@types/node",
    "npm i @bob/pkg",
    "src/@bob/x.ts",
    "@中文/a.md",
    "me@bob",
    "git@bob:repo",
    "x.@bob",
    "a_@bob",
    "`@bob`",
    "``@bob``",
    "```\n@bob\n```",
    "~~~\n@bob\n~~~",
    "```python\n@bob\ndef x(): ...",
    "@bob-2 hi",
    "@bob.py",
    "@bob_x",
    "@bobby",
    "@bobé",
    "@боб",
    "@bob\\x",
    "//@bob",
    "@ bob",
    "＠bob",
    "@dataclass",
    "@types/node and @babel/core",
    "mailto:me@bob.org",
    "1@bob",
]


async def who(room: Room, text: str) -> list[str]:
    route = await room.preview(text)
    return [target["agent"] for target in route["to"]]


async def test_what_mentions_bob_and_what_does_not(bed: Bed) -> None:
    room = await bed.room("alice", "bob", "carol")
    await room.ask("@bob hi", by="bob")
    reached = {text: await who(room, text) for text in BOB}
    assert reached == {text: ["bob"] for text in BOB}
    await room.ask("@carol hi", by="carol")
    reached = {text: await who(room, text) for text in TEXT}
    assert reached == {text: ["carol"] for text in TEXT}, "all of these are text, so the last who spoke answers"


async def test_several_mentions(bed: Bed) -> None:
    room = await bed.room("carol", "alice", "bob")
    table = {
        "@alice do X, @bob do Y": ["alice", "bob"],
        "@bob @alice @bob": ["bob", "alice"],
        "@alice@bob": ["alice"],
        "@all hi": ["carol", "alice", "bob"],
        "@ALL hi": ["carol", "alice", "bob"],
        "@bob then @all": ["bob", "carol", "alice"],
        "everybody (@all)": ["carol", "alice", "bob"],
        "@dora hi": ["dora"],
        "`@alice` @bob": ["bob"],
        "@all/x @bob": ["bob"],
        "@bbo and @alice": ["alice"],
    }
    assert {text: await who(room, text) for text in table} == table


async def test_the_text_reaches_the_agent_unchanged(bed: Bed) -> None:
    room = await bed.room("alice")
    texts = [
        "look at @src/bob.py  and `@bob`\n\n\tx  ",
        "  @alice\u00a0**hi** \ufeff",
        "/usr/bin/env python",
        "naïve 🦊\r\n",
    ]
    for text in texts:
        await room.ask(text, by="alice")
    assert bed.box.prompts("alice") == texts


async def test_the_last_who_spoke_or_is_asked_answers(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@bob q1", by="bob")
    await room.ask("and q2", by="bob")
    await room.ask("@alice q3", by="alice")
    await room.ask("and q4", by="alice")
    held = await room.send("@bob !hold last-1")
    assert await who(room, "while he thinks") == ["bob"]
    queued = await room.send("@alice @bob more")
    assert await who(room, "after those") == ["bob"]
    bed.box.gates.open("last-1")
    await room.answer(held, by="bob")
    await room.answer(queued, by="bob")


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("@bbo hi", "unknownAgent", "@bob"),
        ("**@bbo** hi", "unknownAgent", "@bob"),
        ("@Alcie hi", "unknownAgent", "@alice"),
        ("@bob2 hi", "unknownAgent", "@bob"),
        ("hello everybody", "nobody", None),
        ("/bbo:research x", "unknownAgent", "/bob:research"),
        ("/bob: x", "unknownCommand", None),
        ("@alice /nobody:x", "unknownAgent", None),
    ],
)
async def test_a_message_nobody_answers_says_why(bed: Bed, text: str, code: str, suggestion: str | None) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send(text)
    problem = sent["route"]["problem"]
    assert sent["route"]["to"] == []
    assert problem == (await room.preview(text))["problem"]
    user, system = room.messages
    assert line_of(user) == f"user: {text}"
    assert (user["seq"], system["seq"]) == (1, 2)
    assert line_of(system) == f"system: {problem['text']}"
    assert room.turns == []
    assert bed.box.prompts("alice") == bed.box.prompts("bob") == []
    assert notices(system) == [problem["code"]] == [code]
    assert problem.get("suggestion") == suggestion


async def test_a_slip_goes_to_nobody_even_if_somebody_spoke(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice hi", by="alice")
    sent = await room.send("@bbo hi")
    problem = sent["route"]["problem"]
    assert problem["text"] == "No agent is named @bbo. Did you mean @bob?"
    assert (problem["start"], problem["end"]) == (0, 4)
    far = await room.preview("@zed hi")
    assert [target["agent"] for target in far["to"]] == ["alice"], "a word that is nobody's slip is text"
    later = await room.preview("hi @bbo")
    assert [target["agent"] for target in later["to"]] == ["alice"]


async def test_offsets_count_utf16_units(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    problem = await room.preview("\n🦊 @bbo")
    assert "problem" in problem
    slip = (await room.preview("\u00a0\ufeff@bbo 🦊"))["problem"]
    assert (slip["start"], slip["end"], slip["suggestion"]) == (2, 6, "@bob")


async def test_a_route_says_who_joins_and_what_is_unseen(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.ask("one", by="alice")
    route = await room.preview("@alice @dora")
    assert [(target["agent"], target["invited"], target["unseen"]) for target in route["to"]] == [
        ("alice", False, 0),
        ("dora", True, 2),
    ]
    assert route["to"][1]["fresh"] is True
    assert text_of(room.messages[-1]) == "alice heard: one"
    assert room.members == ["alice"], "a preview invites nobody"
