"""Misbehaving agents: none loses an answer, hangs a turn or ends the manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.world import World, world

if TYPE_CHECKING:
    from pathlib import Path

AFTER = [
    "nonjson", "blank", "scalar", "string", "array", "null", "empty-object", "unfinished", "deep", "nan", "no-params",
    "list-params", "method-not-text", "unasked-answer", "stderr", "unknown-update", "odd-updates", "no-title", "no-id",
    "same-tool", "newline-title", "bad-usage", "bad-lists", "ext", "twice", "badutf8", "surrogate", "banner-glued",
    "ansi-prefix", "glued", "bad-content", "unknown-session",
]  # fmt: skip


@pytest.mark.anyio
async def test_wire_and_contents(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sink.declines_forms = True
        for kind in AFTER:
            before = len(w.sink.updates)
            result = await w.ask(f"!bad {kind}")
            said = "".join(getattr(update, "text", "") for _, _, update in w.sink.updates[before:])
            assert said.endswith("after"), (kind, said)
            assert result.stop_reason == "end_turn", kind
        assert w.sink.states[0][1] == "starting"
        assert [state for _, state, _ in w.sink.states].count("starting") == 1, "one process served all"


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["stringid", "nullresult", "noresult", "emptyresult", "badstop", "both", "no-jsonrpc"])
async def test_odd_answers_end_the_turn(tmp_path: Path, kind: str) -> None:
    async with world(tmp_path) as w:
        assert (await w.ask(f"!bad {kind}")).stop_reason == "end_turn"
        await still_answers(w)


async def still_answers(w: World) -> None:
    before = len(w.sink.text())
    await w.ask("still there?")
    assert w.sink.text()[before:] == "fake heard: still there?"
