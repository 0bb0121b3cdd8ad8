"""Misbehaving agents: none loses an answer, hangs a turn or ends the manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.agents.contract import CommandsUpdate, PlanUpdate, ToolCallUpdate
from tests.agents.world import World, world

if TYPE_CHECKING:
    from pathlib import Path

AFTER = [
    "nonjson", "blank", "scalar", "string", "array", "null", "empty-object", "unfinished", "deep", "nan", "no-params",
    "list-params", "method-not-text", "unasked-answer", "stderr", "unknown-update", "odd-updates", "no-title", "no-id",
    "same-tool", "newline-title", "bad-usage", "bad-lists", "ext", "twice", "badutf8", "surrogate", "banner-glued",
    "ansi-prefix", "glued", "bad-content", "unknown-session", "batch", "no-newline", "log-with-ids", "update-asks",
    "text-shapes", "tool-number", "bare-lists", "perm-number",
]  # fmt: skip


@pytest.mark.anyio
async def test_wire_and_contents(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sink.declines_forms = True
        w.sink.on_ask = lambda ask: ask.answer(ask.options[0].option_id if ask.options else None)
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


@pytest.mark.anyio
async def test_odd_shapes_are_understood(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sink.on_ask = lambda ask: ask.answer(ask.options[0].option_id)
        await w.ask("!bad batch")
        assert w.sink.text() == "one two after"
        await w.ask("!bad text-shapes")
        shown = "one two three four [file:///a.md](file:///a.md)\n\nfive \n\n[image: image/png]\n\nafter"
        assert w.sink.text() == f"one two after{shown}"
        await w.ask("!bad perm-number")
        assert '{"outcome": {"outcome": "selected", "optionId": 1}}' in w.sink.text(), "as the agent wrote it"
        await w.ask("!bad bare-lists")
        first, last = w.sink.of(CommandsUpdate)
        assert [(command.name, command.hint) for command in first.commands] == [("init", None), ("review", "what")]
        assert last.commands == []
        assert [[entry.content for entry in plan.entries] for plan in w.sink.of(PlanUpdate)] == [
            ["first", "second"],
            [],
        ]


@pytest.mark.anyio
async def test_tool_calls_without_a_proper_id_are_shown(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!bad tool-number !bad no-id !bad no-id")
        calls = [(call.id, call.title, call.status) for call in w.sink.of(ToolCallUpdate)]
        assert calls[:2] == [("7", "numbered", "pending"), ("7", None, "completed")]
        assert calls[2:4] == [("nameless-1", "no id", "pending"), ("nameless-1", None, "completed")]
        assert [call_id for call_id, _, _ in calls[4:]] == ["nameless-2", "nameless-2"]


async def still_answers(w: World) -> None:
    before = len(w.sink.text())
    await w.ask("still there?")
    assert w.sink.text()[before:] == "fake heard: still there?"
