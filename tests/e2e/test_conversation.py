"""The first conversation over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_two_agents_answer_in_turn(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        answer = await room.ask("@alice explain goroutines", by="alice")
        assert text_of(answer) == "alice heard: explain goroutines"
        await room.ask("@bob what do you think?", by="bob")
    assert box.prompts("alice") == ["@alice explain goroutines"]
    framed = (
        "[Messages in #general you have not seen yet]\n"
        "user: @alice explain goroutines\n"
        "alice: alice heard: explain goroutines\n"
        "[End of the messages]\n"
        "The user now writes to you (answer directly, without your name in front):\n"
        "@bob what do you think?"
    )
    assert box.prompts("bob") == [framed]
