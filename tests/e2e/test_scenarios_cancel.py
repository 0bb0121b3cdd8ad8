"""Cancelling: what runs, what is queued, what waits elsewhere, and what comes right after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.conditions import happened, permission, streaming
from tests.support.room import line_of, text_of

if TYPE_CHECKING:
    from tests.support.bed import Bed

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio


async def test_cancel_a_queued_message(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.send("!say first !hold queued-1")
    await bed.client.until(streaming("alice", "first"))
    second = await room.send("second")
    assert [message["state"] for message in room.messages] == ["finished", "streaming", "queued"]
    await room.cancel(room.turns[1]["id"])
    assert second["messageId"] not in [message["id"] for message in room.messages]
    assert len(room.turns) == 1
    third = await room.send("third")
    bed.box.gates.open("queued-1")
    await room.answer(third, by="alice")
    assert bed.box.received("alice", "session/cancel") == []
    assert bed.box.prompts("alice") == ["!say first !hold queued-1", "third"]
    assert room.said() == [
        "user: !say first !hold queued-1",
        "alice: first",
        "user: third",
        "alice: alice heard: third",
    ]


async def test_cancel_what_waits_for_an_agent_busy_elsewhere(bed: Bed) -> None:
    here, there = await bed.room("alice"), await bed.room("alice")
    await here.send("!say busy !hold elsewhere-1")
    await bed.client.until(streaming("alice", "busy"))
    await there.send("never asked")
    waiting = await there.turn("alice", "queued", waits="agentBusy")
    await there.cancel(waiting["id"])
    assert there.messages == []
    bed.box.gates.open("elsewhere-1")
    await here.quiet()
    assert bed.box.received("alice", "session/cancel") == []
    assert text_of(await there.ask("now", by="alice")) == "alice heard: now"
    assert bed.box.prompts("alice") == ["!say busy !hold elsewhere-1", "now"]


async def test_cancel_the_second_agent_of_a_running_message(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("@alice @bob !for alice !say first !hold second-1")
    await bed.client.until(streaming("alice", "first"))
    await room.cancel(room.turns[1]["id"])
    bed.box.gates.open("second-1")
    await room.answer(sent, by="alice")
    assert room.turns == []
    assert bed.box.prompts("bob") == []
    assert [line_of(message) for message in room.messages][1:] == ["alice: first"]


async def test_cancel_the_running_message_with_the_rest_of_it(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    both = await room.send("@alice @bob !for alice !say working !hang")
    await bed.client.until(streaming("alice", "working"))
    after = await room.send("@bob and you?")
    await room.cancel()
    answer = await room.answer(both, by="alice")
    assert answer["turn"]["stopReason"] == "cancelled"
    assert text_of(answer) == "working"
    assert text_of(await room.answer(after, by="bob")) == "bob heard: and you?"
    assert len(bed.box.prompts("bob")) == 1
    assert len(bed.box.received("alice", "session/cancel")) == 1


async def test_cancel_and_send_at_once(bed: Bed) -> None:
    room = await bed.room("alice")
    first = await room.send("!say one !on-cancel \\sbye !hang")
    await bed.client.until(streaming("alice", "one"))
    cancelling = await bed.client.ask("turn/cancel", channelId=room.id)
    second = await room.send("two")
    await bed.client.result(cancelling)
    assert text_of(await room.answer(first, by="alice")) == "one bye"
    assert text_of(await room.answer(second, by="alice")) == "alice heard: two"
    assert len(bed.box.received("alice", "session/cancel")) == 1


async def test_an_agent_that_ends_a_cancelled_turn_as_if_nothing_was(bed: Bed) -> None:
    room = await bed.room("alice")
    sent = await room.send("!say one !cancelled-as end_turn !hang")
    await bed.client.until(streaming("alice", "one"))
    await room.cancel()
    assert (await room.answer(sent, by="alice"))["turn"]["stopReason"] == "cancelled"


async def test_cancelling_nothing_is_no_error(bed: Bed) -> None:
    room = await bed.room("alice")
    await room.cancel()
    await room.cancel("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert room.messages == []


def _is_starting(params: JSON) -> bool:
    return any(turn["state"] == "starting" for turn in params["turns"])


async def test_a_cancel_in_the_moment_of_the_hand_over_loses_nothing(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice hello", by="alice")
    words = [f"word-{number}" for number in range(6)]  # three messages each: context carries twenty
    for word in words:
        await room.ask(f"@bob !say {word}", by="bob")
        mark = len(bed.client.events)
        await room.send("@alice !say too late")
        await bed.client.until(happened("turn/changed", _is_starting, since=mark))
        await room.cancel()
        await room.quiet()
    await room.ask("@alice and now?", by="alice")
    shown = "\n".join(bed.box.prompts("alice"))
    assert [word for word in words if shown.count(f"bob: {word}") != 1] == []


async def test_an_answer_to_a_question_right_after_a_cancel_is_too_late(bed: Bed) -> None:
    """The agent has been told that it was cancelled: nobody may believe that they have allowed anything."""
    room = await bed.room("alice")
    sent = await room.send("!permit it")
    asked = await bed.client.until(permission())
    cancelling = await bed.client.ask("turn/cancel", channelId=room.id)
    answering = await bed.client.ask("permission/answer", requestId=asked["requestId"], optionId="allow")
    await bed.client.result(cancelling)
    assert await bed.client.result(answering) == {"accepted": False}
    answer = await room.answer(sent, by="alice")
    (outcome,) = [part["outcome"] for part in answer["parts"] if part["type"] == "permission"]
    assert outcome == {"outcome": "cancelled"}
    assert [reply["result"]["outcome"] for reply in bed.box.replies("alice")] == [{"outcome": "cancelled"}]
