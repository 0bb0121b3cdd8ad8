"""Recording an agent's traffic without its secrets, and playing it again as an agent."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sidekicks_bridge.agents.examine import examine
from sidekicks_bridge.agents.recording import Recorder, secrets_of
from sidekicks_bridge.agents.replay import NoRecordingError, Replay, read_recording
from tests.agents.world import Bounds, Spec, fake, world

SECRET = "a-very-secret-value"
SERVERS: list[dict[str, Any]] = [
    {"name": "files", "command": "mcp", "args": [], "env": [{"name": "KEY", "value": "inner-secret"}]}
]


def recorder(lines: list[str], *secrets: str) -> Recorder:
    return Recorder("fake", lines.append, lambda: 0.0, secrets)


@pytest.mark.parametrize(
    "frame",
    [
        {"method": "x", "params": {"text": f"my key is {SECRET}."}},
        {"method": "x", "params": {"env": {"A": SECRET}, "headers": [{"name": "a", "value": SECRET}]}},
        {"method": "x", "params": {"apiKey": "short", "access_token": "tiny", "password": "p"}},
        {"method": "x", "params": {"text": "Bearer abcdef.123 and sk-abcdefghijklmnop"}},
    ],
)
def test_secrets_are_left_out(frame: dict[str, Any]) -> None:
    lines: list[str] = []
    recorder(lines, SECRET).feed("agent", json.dumps(frame).encode() + b"\n")
    kept = lines[1]
    assert not any(word in kept for word in (SECRET, "short", "tiny", '"p"', "abcdef"))
    assert "…" in kept


def test_a_home_folder_says_nothing_of_its_owner() -> None:
    lines: list[str] = []
    recorder(lines).feed("agent", json.dumps({"cwd": f"{Path.home()}/src"}).encode() + b"\n")
    assert str(Path.home()) + "/src" not in lines[1]


def test_lines_are_whole_however_they_come() -> None:
    lines: list[str] = []
    kept = recorder(lines)
    for byte in b'{"id": 1}\nno json\n\n':
        kept.feed("agent", bytes([byte]))
    kept.feed("client", b'{"never": "finished"')
    assert [json.loads(line).get("frame", json.loads(line).get("line")) for line in lines[1:]] == [{"id": 1}, "no json"]


def test_the_secrets_of_a_configuration() -> None:
    assert secrets_of(["one"], [*SERVERS, {"headers": {"A": "two"}}]) == ["one", "inner-secret", "two"]


@pytest.mark.anyio
async def test_a_recorded_agent_can_be_played(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    spec = fake("--banner --commands plan --modes a,b", env={"KEY": SECRET}, mcp_servers=SERVERS)
    with file.open("w", encoding="utf-8") as stream:
        kept = Recorder("fake", stream.write, lambda: 0.0, secrets_of(spec.env.values(), spec.mcp_servers))
        prompts = [f"!say {SECRET}!", "!permit Build"]
        seen = await examine(spec, Bounds(), str(tmp_path), prompts=prompts, allow=True, recorder=kept)
    assert seen.answers == [f"end_turn: {SECRET}!", "end_turn: permit Build: allow\n"]
    text = file.read_text(encoding="utf-8")
    assert SECRET not in text
    assert "inner-secret" not in text

    player = [sys.executable, "-m", "sidekicks_bridge", "doctor", "--replay", str(file)]
    root = str(Path(__file__).parents[2])
    played = Spec(name="fake", command=player[0], args=player[1:], env={"PYTHONPATH": root})
    async with world(tmp_path) as w:
        w.configure(played)
        w.sink.on_ask = lambda ask: ask.answer("allow")
        await w.ask("anything")
        await w.ask("and more")
        assert w.sink.text() == "…!permit Build: allow\n"
        assert w.sink.asks[0].options[0].option_id == "allow"


def test_what_the_recording_does_not_expect_is_answered_all_the_same() -> None:
    entries: list[dict[str, Any]] = [
        {"from": "client", "frame": {"id": 1, "method": "initialize"}},
        {"from": "agent", "frame": {"id": 1, "result": {"protocolVersion": 1}}},
        {"from": "agent", "line": "noise"},
    ]
    asked: list[dict[str, Any]] = [
        {"id": 7, "method": "session/new"},
        {"method": "session/cancel"},
        {"id": 8, "method": "initialize"},
        {"id": 9, "method": "initialize"},
    ]
    out = io.BytesIO()
    Replay(entries, iter(asked), out).run()
    first, second, noise, third = out.getvalue().splitlines()
    assert json.loads(first)["error"]["code"] == -32601
    assert json.loads(second) == {"id": 8, "result": {"protocolVersion": 1}}
    assert noise == b"noise"
    assert json.loads(third) == {"jsonrpc": "2.0", "id": 9, "result": {"protocolVersion": 1}}


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}", '{"recording": 9}'])
def test_another_file_is_no_recording(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NoRecordingError):
        read_recording(file)
