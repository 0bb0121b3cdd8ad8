"""The ACP runtime under the built-in agents: handshake, errors, cancel while a turn runs, start-up cost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.builtin import BUILTIN_AGENTS
from sidekicks_bridge.builtin.acp_agent import AcpAgent, Command
from tests.builtin.harness import AgentClient, Json, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.builtin.turn import Turn

HOPELESS = "/find ^(a+)+$"


def refusal(client: AgentClient, method: str, params: Json) -> Refused:
    with pytest.raises(Refused) as caught:
        client.call(method, params)
    return caught.value


@pytest.mark.parametrize("name", sorted(BUILTIN_AGENTS))
def test_initialize_names_the_agent_and_promises_what_it_does(name: str) -> None:
    with AgentClient(name) as client:
        answer = client.initialize()
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["title"] == BUILTIN_AGENTS[name].title
    assert answer["agentCapabilities"] == {"loadSession": False, "sessionCapabilities": {"close": {}}}


def test_commands_are_announced_after_the_session(scout: AgentClient, root: Path) -> None:
    scout.open(root)
    announced = scout.updates[-1]
    assert announced["sessionUpdate"] == "available_commands_update"
    assert [command["name"] for command in announced["availableCommands"]] == [
        "find",
        "files",
        "outline",
        "todo",
    ]
    assert announced["availableCommands"][0]["input"] == {"hint": "regex"}
    assert "input" not in announced["availableCommands"][3]


@pytest.mark.parametrize("method", ["session/load", "session/set_mode", "authenticate", "_ours/thing"])
def test_unknown_requests_are_answered(scout: AgentClient, method: str) -> None:
    error = refusal(scout, method, {})
    assert (error.code, error.message) == (-32601, f"Method not found: {method}")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "cwd must be the absolute path"),
        ({"cwd": "some/where"}, "'some/where'"),
        ({"cwd": "/no/such/folder"}, "/no/such/folder does not exist"),
    ],
)
def test_a_session_needs_a_folder(scout: AgentClient, params: Json, words: str) -> None:
    error = refusal(scout, "session/new", {**params, "mcpServers": []})
    assert error.code == -32602
    assert words in error.message


def test_bad_prompts_are_refused(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    assert "no session 'nope'" in refusal(scout, "session/prompt", {"sessionId": "nope", "prompt": []}).message
    assert "list of content" in refusal(scout, "session/prompt", {"sessionId": session_id, "prompt": "x"}).message


def test_lines_that_are_no_frames_do_not_stop_the_agent(scout: AgentClient) -> None:
    for line, code in [(b"nonsense", -32700), (b"42", -32600), (b"\xff\xfe", -32700), (b'{"id": 1}', -32600)]:
        scout.send_line(line)
        assert scout.read()["error"]["code"] == code
    scout.send_line(b"   ")
    scout.send({"method": "_unknown/notification", "params": {}})
    scout.send({"method": "session/cancel", "params": {"sessionId": "nope"}})
    scout.send({"id": 77, "result": {}})
    assert scout.initialize()["protocolVersion"] == 1


def test_a_closed_session_is_gone(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    assert scout.call("session/close", {"sessionId": session_id}) == {}
    assert "no session" in refusal(scout, "session/prompt", {"sessionId": session_id, "prompt": []}).message


def test_a_cancel_is_read_while_a_turn_runs(scout: AgentClient, root: Path) -> None:
    """A hopeless regular expression holds its process; the agent goes on answering, and the cancel ends it."""
    (root / "hopeless.txt").write_text("a" * 60 + "!", encoding="utf-8")
    session_id = scout.open(root)
    running = scout.prompt(session_id, HOPELESS)
    scout.until(lambda _: bool(scout.updates) and scout.updates[-1].get("status") == "in_progress")
    second = refusal(scout, "session/prompt", {"sessionId": session_id, "prompt": []})
    assert "still answering" in second.message
    other = scout.call("session/new", {"cwd": str(root), "mcpServers": []})["sessionId"]
    assert "README.md" in scout.ask(other, "/files *.md")
    scout.updates.clear()
    scout.send({"method": "session/cancel", "params": {"sessionId": session_id}})
    assert scout.finish(running) == {"stopReason": "cancelled"}
    assert scout.tool()["status"] == "failed"
    assert "README.md" in scout.ask(session_id, "/files *.md")


def test_closing_a_session_ends_its_turn(scout: AgentClient, root: Path) -> None:
    (root / "hopeless.txt").write_text("a" * 60 + "!", encoding="utf-8")
    session_id = scout.open(root)
    running = scout.prompt(session_id, HOPELESS)
    closing = scout.start("session/close", {"sessionId": session_id})
    answers: dict[int, Json] = {}
    while len(answers) < 2:
        frame = scout.until(lambda frame: "result" in frame)
        answers[frame["id"]] = frame["result"]
    assert answers == {running: {"stopReason": "cancelled"}, closing: {}}


def test_the_end_of_stdin_ends_a_busy_agent(root: Path) -> None:
    (root / "hopeless.txt").write_text("a" * 60 + "!", encoding="utf-8")
    with AgentClient("scout") as client:
        client.prompt(client.open(root), HOPELESS)
        client.until(lambda _: bool(client.updates) and client.updates[-1].get("status") == "in_progress")
    assert client.process.returncode == 0  # the with block closed stdin and waited


def test_a_client_that_stops_reading_is_no_crash(root: Path) -> None:
    client = AgentClient("scout")
    session_id = client.open(root)
    assert client.process.stdout is not None
    assert client.process.stdin is not None
    client.process.stdout.close()
    client.prompt(session_id, "where are routes decided?")
    client.process.stdin.close()
    assert client.process.wait(10) == 0
    assert client.stderr() == ""
    client._errors.close()


class Broken:
    """A behaviour with a bug."""

    commands: tuple[Command, ...] = ()

    def answer(self, turn: Turn) -> None:
        raise KeyError("bug")


def test_a_bug_in_a_turn_is_an_error_and_the_agent_lives(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    incoming, to_agent = os.pipe()
    from_agent, outgoing = os.pipe()
    prompt = {"sessionId": "", "prompt": [{"type": "text", "text": "hello"}]}
    agent = threading.Thread(target=AcpAgent("x", "X", lambda _: Broken(), incoming, outgoing).run)
    with open(to_agent, "w", encoding="utf-8") as stdin, open(from_agent, encoding="utf-8") as stdout:  # noqa: PTH123
        agent.start()
        frame: dict[str, Any] = {}
        for method, params in [("session/new", {"cwd": str(root)}), ("session/prompt", prompt), ("initialize", {})]:
            stdin.write(json.dumps({"id": method, "method": method, "params": params}) + "\n")
            stdin.flush()
            frame = next(frame for frame in map(json.loads, stdout) if frame.get("id") == method)
            prompt["sessionId"] = frame.get("result", {}).get("sessionId", "")
            if method == "session/prompt":
                assert frame["error"] == {"code": -32603, "message": "KeyError: 'bug'"}
        assert frame["result"]["protocolVersion"] == 1
        stdin.close()
        agent.join()
    os.close(incoming)
    os.close(outgoing)
    assert "Traceback" in capfd.readouterr().err


def test_content_it_does_not_know_is_left_out(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    params = {"sessionId": session_id, "prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]}
    assert scout.call("session/prompt", params) == {"stopReason": "end_turn"}
    assert scout.said().startswith("Ask me for something")


def test_interrupt_ends_it_without_a_traceback() -> None:
    client = AgentClient("scribe")
    client.initialize()
    os.kill(client.process.pid, signal.SIGINT)
    assert client.process.wait(10) == 130
    assert client.stderr() == ""
    for stream in (client.process.stdin, client.process.stdout, client._errors):
        assert stream is not None
        stream.close()


def test_wrong_arguments_name_the_right_ones() -> None:
    command = [sys.executable, "-m", "sidekicks_bridge.builtin", "scot"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 2
    assert done.stderr == "usage: python -m sidekicks_bridge.builtin scout|scribe [NAME]\n"


def test_files_of_the_workspace_are_not_imported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("json", "re", "subprocess", "pathspec"):
        (root / f"{module}.py").write_text("raise SystemExit('imported from the workspace')", encoding="utf-8")
    monkeypatch.chdir(root)
    with AgentClient("scout", cwd=root) as client:
        session_id = client.open(root)
        assert "`re.py`" in client.ask(session_id, "/files re.py")
        assert "2 matches" in client.ask(session_id, "/find def .*(route|store)")


@pytest.mark.parametrize("name", sorted(BUILTIN_AGENTS))
def test_starting_stays_cheap(name: str) -> None:
    """Nothing heavy is imported before `initialize` is answered, and the process is small."""
    with AgentClient(name, python=["-X", "importtime"]) as client:
        client.initialize()
        log = client.stderr()
        size = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(client.process.pid)],
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        client.ignore_stderr = True
    imported = {line.rpartition("|")[2].strip() for line in log.splitlines()}
    assert "sidekicks_bridge.builtin.acp_agent" in imported
    heavy = {
        "acp",
        "pydantic",
        "asyncio",
        "pathspec",
        "subprocess",
        "pathlib",
        "dataclasses",
        "inspect",
        "logging",
    }
    assert not imported & heavy
    assert int(size.stdout) < 25 * 1024
