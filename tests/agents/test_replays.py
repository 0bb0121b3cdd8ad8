"""Real agents, played from what `sidekicks doctor --record` kept of them: what they do is understood to the end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.agents.contract import OtherUpdate, ToolCallUpdate
from sidekicks_bridge.agents.replay import read_recording
from tests.agents.world import PATIENCE, Spec, world

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import PermissionAsk

ROOT = Path(__file__).parents[2]
RECORDINGS = sorted((ROOT / "tests" / "recordings").glob("*.jsonl"))


def sent(entries: list[dict[str, Any]], side: str, method: str) -> list[dict[str, Any]]:
    """The parameters of every frame of one side with that method."""
    frames = [entry.get("frame") or {} for entry in entries if entry["from"] == side]
    return [frame["params"] for frame in frames if frame.get("method") == method]


def said(entries: list[dict[str, Any]]) -> str:
    """All text of the agent's messages."""
    updates = [params["update"] for params in sent(entries, "agent", "session/update")]
    chunks = [update for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    return "".join(chunk["content"].get("text", "") for chunk in chunks)


def allow(ask: PermissionAsk) -> None:
    ask.answer(next(option.option_id for option in ask.options if option.kind == "allow_once"))


@pytest.mark.anyio
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
async def test_a_recorded_agent(tmp_path: Path, recording: Path) -> None:
    entries = read_recording(recording)
    prompts = [params["prompt"][0]["text"] for params in sent(entries, "client", "session/prompt")]
    argv = ["-m", "sidekicks_bridge", "doctor", "--replay", str(recording)]
    spec = Spec(name="fake", command=sys.executable, args=argv, env={"PYTHONPATH": str(ROOT)})
    async with world(tmp_path) as w:
        w.configure(spec, start_timeout=PATIENCE)
        w.sink.on_ask = allow
        for prompt in prompts:
            assert (await w.ask(prompt)).stop_reason == "end_turn"
        assert w.sink.text() == said(entries)
        assert len(w.sink.asks) == len(sent(entries, "agent", "session/request_permission")) > 0
        titled = {
            call.id for call in [*w.sink.of(ToolCallUpdate), *(ask.tool_call for ask in w.sink.asks)] if call.title
        }
        assert {ask.tool_call.id for ask in w.sink.asks} <= titled, "a person can see what is asked"
        ended = {call.id: call.status for call in w.sink.of(ToolCallUpdate) if call.status}
        assert set(ended.values()) <= {"completed"}, "every tool call ended"
        assert [update.kind for update in w.sink.of(OtherUpdate)] == [], "nothing it says is of an unknown kind"


def test_the_recordings_hold_no_secrets() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in RECORDINGS)
    assert RECORDINGS
    assert "LAB_KEY=x" not in text
    assert '"Authorization"' not in text
    assert json.dumps(str(Path.home()))[1:-1] + "/" not in text
    assert json.dumps(str(ROOT))[1:-1] not in text
