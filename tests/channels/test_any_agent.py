"""Whatever an agent sends, in whatever order, a turn ends, nothing raises and no text is lost.

The agent is a real process that says the frames it is given; everything from its pipe to the channel is real.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

KINDS = [
    "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "available_commands_update", "current_mode_update",
    "config_option_update", "usage_update", "user_message_chunk", "session_info_update", "unheard_of", "",
]  # fmt: skip
KEYS = [
    "toolCallId", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "entries", "used", "size",
    "cost", "availableCommands", "configOptions", "currentModeId", "messageId", "_meta", "text", "type", "name",
]  # fmt: skip
METHODS = ["session/request_permission", "fs/read_text_file", "elicitation/create", "terminal/create", "x/y"]
SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=8)
WORDS = st.sampled_from(["t1", "t2", "pending", "completed", "failed", "text", "diff", "terminal", "edit", *KINDS])
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=6,
)
UPDATES = st.builds(
    lambda kind, fields: {**fields, "sessionUpdate": kind},
    st.sampled_from(KINDS) | SCALARS,
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6),
)
SAID = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(
    lambda text: {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
)
LINES = st.sampled_from(["noise", "42", "null", "[]", '"text"', "{}", '{"method": 5}', "\x1b[31mred", '{"id": "no"}'])
ASKS = st.builds(
    lambda method, params: {"method": method, "params": params},
    st.sampled_from(
        ["session/request_permission", "fs/read_text_file", "elicitation/create", "terminal/create", "x/y"]
    ),
    st.dictionaries(st.sampled_from(["toolCall", "options", "path", "mode", "message"]), VALUES, max_size=3),
)
STEPS = st.lists(SAID | UPDATES.map(lambda update: {"update": update}) | LINES | ASKS, max_size=12)
AGENT = Path(__file__).with_name("any_agent.py")


def spoken(steps: list[Any]) -> str:
    chunks = [step for step in steps if isinstance(step, dict) and "sessionUpdate" in step]
    return "".join(chunk["content"]["text"] for chunk in chunks)


async def play(folder: Path, scripts: list[list[Any]]) -> None:
    box = BridgeSandbox(folder, {"alice": ""}, limits={"turnSilence": "0s"}, permissions={"default": "reject"})
    entry = box.entry("alice")
    entry["command"], entry["args"] = sys.executable, [str(AGENT), str(folder / "script.json")]
    box.write_config()
    async with box.bridge() as client:
        room = await client.open("general")
        for number, script in enumerate(scripts):
            (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
            answer = await room.ask(f"go {number}", by="alice")
            assert answer["turn"]["stopReason"] == "end_turn", answer
            assert text_of(answer) == spoken(script), (script, answer)
            assert room.turns == []


@pytest.mark.anyio
async def test_any_agent_is_heard_to_the_end(tmp_path: Path) -> None:
    scripts: list[list[Any]] = []

    @settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(STEPS)
    def collect(script: list[Any]) -> None:
        scripts.append(script)

    collect()
    with anyio.fail_after(55):
        await play(tmp_path, scripts)
