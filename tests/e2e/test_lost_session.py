"""An agent that lost its session, or ended by itself between two turns: the prompt is given once more, unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.room import text_of

if TYPE_CHECKING:
    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio
AGENTS = {
    "loads": "--caps load",
    "forgets": "",
    "loses": "--error 'prompt=-32603:Session abc not found'",
    "leaves": "--caps load",
}


async def test_a_lost_session_is_loaded_or_told_everything(bed: Bed) -> None:
    box = bed.box
    for name, session in (("loads", "resumed"), ("forgets", "fresh")):
        room = await bed.room(name)
        await room.ask("!say one !lose-session", by=name)
        answer = await room.ask("two", by=name)
        assert text_of(answer) == f"{name} heard: two"
        assert answer["turn"]["stopReason"] == "end_turn"
        everything = room.frame(["user: !say one !lose-session", f"{name}: one"], "two")
        again = "two" if session == "resumed" else everything
        assert box.prompts(name)[1:] == ["two", again], "a session that goes on hears it anew, a new one everything"
        prompt = await bed.client.request("message/prompt", messageId=answer["id"])
        assert prompt["session"] == session
        assert box.starts(name) == 1


async def test_a_session_that_is_lost_each_time_fails_the_turn(bed: Bed) -> None:
    answer = await (await bed.room("loses")).ask("@loses hello", by="loses")
    assert answer["turn"]["stopReason"] == "failed"
    assert "Session abc not found" in answer["turn"]["error"]["message"]
    assert bed.box.prompts("loses") == ["@loses hello"] * 2, "once, and once more; then it is said"


async def test_an_agent_that_ends_after_each_answer(bed: Bed) -> None:
    """However soon the next prompt comes."""
    room = await bed.room("leaves")
    sent = [await room.send(f"!say {number} !leave") for number in range(4)]
    for number, message in enumerate(sent):
        answer = await room.answer(message, by="leaves")
        assert (text_of(answer), answer["turn"]["stopReason"]) == (str(number), "end_turn")
    assert bed.box.starts("leaves") == 4
    answer = await room.ask("!crash 3", by="leaves")
    assert answer["turn"]["stopReason"] == "failed"
    assert bed.box.starts("leaves") == 5, "a crash is not tried again unasked"
