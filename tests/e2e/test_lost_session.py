"""An agent that lost its session, or ended by itself between two turns: the prompt is given once more, unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_a_lost_session_is_loaded_or_told_everything(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"loads": "--caps load", "forgets": ""}, {"loads": ["loads"], "forgets": ["forgets"]})
    async with box.bridge() as client:
        for name, session in (("loads", "resumed"), ("forgets", "fresh")):
            room = await client.open(name)
            await room.ask("!say one !lose-session", by=name)
            answer = await room.ask("two", by=name)
            assert text_of(answer) == f"{name} heard: two"
            assert answer["turn"]["stopReason"] == "end_turn"
            everything = room.frame(["user: !say one !lose-session", f"{name}: one"], "two")
            again = "two" if session == "resumed" else everything
            assert box.prompts(name)[1:] == ["two", again], "a session that goes on hears it anew, a new one everything"
            prompt = await client.request("message/prompt", messageId=answer["id"])
            assert prompt["session"] == session
            assert box.starts(name) == 1


async def test_a_session_that_is_lost_each_time_fails_the_turn(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--error 'prompt=-32603:Session abc not found'"})
    async with box.bridge() as client:
        answer = await (await client.open("general")).ask("@alice hello", by="alice")
        assert answer["turn"]["stopReason"] == "failed"
        assert "Session abc not found" in answer["turn"]["error"]["message"]
        assert box.prompts("alice") == ["@alice hello"] * 2, "once, and once more; then it is said"


async def test_an_agent_that_ends_after_each_answer(tmp_path: Path) -> None:
    """However soon the next prompt comes."""
    box = BridgeSandbox(tmp_path, {"alice": "--caps load"})
    async with box.bridge() as client:
        room = await client.open("general")
        sent = [await room.send(f"!say {number} !leave") for number in range(4)]
        for number, message in enumerate(sent):
            answer = await room.answer(message, by="alice")
            assert (text_of(answer), answer["turn"]["stopReason"]) == (str(number), "end_turn")
        assert box.starts("alice") == 4
        answer = await room.ask("!crash 3", by="alice")
        assert answer["turn"]["stopReason"] == "failed"
        assert box.starts("alice") == 5, "a crash is not tried again unasked"
