"""A turn from prompt to answer: order, text, stop reasons, cancel, permission."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.agents.contract import TextChunk
from tests.agents.world import world

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.anyio
async def test_a_turn(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        result = await w.ask("hello there")
        assert result.stop_reason == "end_turn"
        assert w.sink.text() == "fake heard: hello there"
        assert [state for _, state, _ in w.sink.states] == ["starting", "ready", "busy", "ready"]
    assert w.sink.states[-1] == ("fake", "stopped", None)


@pytest.mark.anyio
async def test_twenty_thousand_chunks_in_order(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!chunks 20000")
        assert w.sink.text().split() == [str(n) for n in range(20_000)]
        assert len(w.sink.of(TextChunk)) < 20_000, "adjacent chunks of one block are joined"
