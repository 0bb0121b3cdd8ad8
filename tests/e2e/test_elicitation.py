"""Forms over the wire, and going on with a session that an agent remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import happened, posted
from tests.support.room import text_of

if TYPE_CHECKING:
    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio
AGENTS = {
    "alice": "",
    "bob": "",
    "keeps": "--caps list,load,delete --sessions old,older --replay 2",
    "forgets": "--caps load --error load=-32002:gone",
}


async def test_a_form_reaches_every_client_and_the_first_answer_counts(bed: Bed) -> None:
    client = bed.client
    room = await bed.room("alice", "bob")
    await room.send("@alice !elicit form Who")
    asked = await client.until(happened("elicitation/requested"))
    assert [field["kind"] for field in asked["fields"]] == ["string", "integer", "number", "boolean", "choice"]
    await room.turn("alice", "awaitingPermission")
    assert (await client.state())["elicitations"] == [asked]
    listed = (await client.request("attention/list"))["items"]
    assert listed[0]["text"] == f"@alice asks you in #{room.channel['name']}: Who"
    answer = {"requestId": asked["requestId"], "action": "accept"}
    refusal = await client.refused("elicitation/answer", {**answer, "content": {"name": ""}})
    assert refusal.code == -32602
    accepted = await client.request("elicitation/answer", {**answer, "content": {"name": "zoe", "count": 2}})
    assert accepted == {"accepted": True}
    assert await client.request("elicitation/answer", answer) == {"accepted": False}
    message = await client.until(posted("alice"))
    assert text_of(message) == 'elicit form: {"action": "accept", "content": {"name": "zoe", "count": 2}}\n'
    assert client.of("elicitation/resolved")[0]["outcome"] == "accepted"
    (trace,) = [part["text"] for part in message["parts"] if part["type"] == "notice"]
    assert trace == "@alice asked for Name, Count, Ratio, Sure?, Colour: Who (done)"
    assert "zoe" not in trace, "what was filled in is nobody's business later"


async def test_a_cancelled_turn_takes_its_form_away(bed: Bed) -> None:
    client = bed.client
    room = await bed.room("alice", "bob")
    await room.send("@alice !elicit url Go")
    asked = await client.until(happened("elicitation/requested"))
    assert asked["url"] == "https://example.com/sign-in?code=1"
    await room.cancel()
    resolved = await client.until(happened("elicitation/resolved"))
    assert resolved["outcome"] == "cancelled"
    message = await client.until(posted("alice", stop="cancelled"))
    notices = [part["text"] for part in message["parts"] if part.get("code") == "elicitation"]
    assert notices == ["@alice asked to open https://example.com/sign-in?code=1: Go (not answered)"]
    assert (await client.state()).get("elicitations", []) == []


async def test_going_on_with_a_session_that_the_agent_remembers(bed: Bed) -> None:
    box, client = bed.box, bed.client
    room = await bed.room("keeps", "bob")
    await room.ask("@bob hello", by="bob")
    await room.ask("@keeps hi", by="keeps")
    sessions = (await client.request("agent/sessions", agent="keeps"))["sessions"]
    assert [one["sessionId"] for one in sessions][:2] == ["old", "older"]
    assert sessions[2]["channelId"] == room.id
    await room.request("session/pickUp", agent="keeps", sessionId="old")
    answer = await room.ask("@keeps go on", by="keeps")
    assert "replayed" not in text_of(answer)
    prompt = await client.request("message/prompt", messageId=answer["id"])
    assert (prompt["session"], prompt["unseen"]) == ("loaded", 4)
    assert box.received("keeps", "session/load")[0]["sessionId"] == "old"
    await client.request("agent/deleteSession", agent="keeps", sessionId="older")
    assert box.received("keeps", "session/delete") == [{"sessionId": "older"}]
    assert (await client.refused("agent/sessions", agent="bob")).kind == "notSupported"
    refusal = await client.refused("session/pickUp", channelId=room.id, agent="bob", sessionId="x")
    assert refusal.kind == "notSupported"


async def test_a_session_that_is_gone_is_said(bed: Bed) -> None:
    room = await bed.room("forgets")
    await room.request("session/pickUp", agent="forgets", sessionId="old")
    await room.ask("hello", by="forgets")
    told = await bed.client.until(posted("system", late=True))
    assert told["parts"][0]["text"] == "@forgets could not go on with the session you picked; this one is new."


async def test_a_form_outside_a_turn_has_a_message_of_its_own(bed: Bed) -> None:
    client = bed.client
    room = await bed.room("alice", "bob")
    await room.ask("@alice !late-elicit later Who", by="alice")
    bed.box.gates.open("later")
    asked = await client.until(happened("elicitation/requested"))
    await client.request("elicitation/answer", requestId=asked["requestId"], action="decline")
    message = await client.until(posted("alice", late=True))
    assert [part["type"] for part in message["parts"]] == ["notice"]
    assert message["parts"][0]["text"].endswith(": Who (declined)")
