"""An agent that does not know its session any more: the prompt is given once more, in another session, unnoticed."""

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
