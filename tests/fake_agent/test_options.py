"""The static behaviour of the fake agent: options and environment, through raw frames."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tests.fake_agent
from tests.fake_agent import log, shapes
from tests.fake_agent.gates import Gates
from tests.fake_agent.options import Options
from tests.fake_agent.peer import Peer

if TYPE_CHECKING:
    JSON = dict[str, Any]

INIT: JSON = {"protocolVersion": 1, "clientCapabilities": {}}


def test_options_are_read_by_the_kind_of_their_default() -> None:
    options = Options().read(["--name=al", "--caps", "load,list", "--noise", "--error", "new=-1:x=y", "--replay=2"])
    assert (options.name, options.caps, options.noise, options.replay) == ("al", ["load", "list"], True, 2)
    assert options.error == {"new": "-1:x=y"}


@pytest.mark.parametrize("arguments", [["--nonsense"], ["name"], ["--name"], ["--replay", "x"]])
def test_wrong_options_end_the_start(arguments: list[str]) -> None:
    done = subprocess.run(tests.fake_agent.command(*arguments), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"fake agent: ")


@pytest.mark.parametrize("by", ["module", "path", "command"])
def test_it_starts_as_module_by_path_and_by_command(by: str, tmp_path: Path) -> None:
    path = tests.fake_agent.command()[-1]
    root = Path(path).parents[2]
    line = {
        "module": [sys.executable, "-m", "tests.fake_agent"],
        "path": [sys.executable, path],
        "command": tests.fake_agent.command(),
    }
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INIT}).encode()
    cwd = root if by == "module" else tmp_path
    done = subprocess.run(line[by], input=request + b"\n", capture_output=True, cwd=cwd, check=True)
    assert json.loads(done.stdout)["result"]["agentInfo"]["name"] == "fake"


# --- what it announces


def test_who_it_is_and_what_it_can(tmp_path: Path) -> None:
    options = (
        "--name",
        "al",
        "--title",
        "Al",
        "--caps",
        "load,resume,list,close,delete,fork,dirs,image,http,logout",
    )
    with Peer(tmp_path, *options, "--auth", "agent,terminal,env_var") as peer:
        result = peer.call("initialize", **INIT)["result"]
    assert result["agentInfo"] == {"name": "al", "title": "Al", "version": "1.0"}
    caps = result["agentCapabilities"]
    assert caps["loadSession"] is True
    assert caps["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": False}
    assert set(caps["sessionCapabilities"]) == {
        "resume",
        "list",
        "close",
        "delete",
        "fork",
        "additionalDirectories",
    }
    assert [m.get("type") for m in result["authMethods"]] == [None, "terminal", "env_var"]


def test_odd_announcements(tmp_path: Path) -> None:
    raw = '{"loadSession":"yes","future":{"x":1}}'
    with Peer(tmp_path, "--protocol", "7", "--raw-capabilities", raw, "--auth", "bogus", valid=False) as peer:
        result = peer.call("initialize", **INIT)["result"]
    assert result["protocolVersion"] == 7
    assert result["agentCapabilities"] == json.loads(raw)
    assert result["authMethods"] == [{"bogus": 1}]


def test_modes_and_options_are_announced_and_set(tmp_path: Path) -> None:
    good = [s for s in shapes.CONFIG_OPTIONS if s not in ("unknown-type", "unknown-category", "grouped")]
    with Peer(tmp_path, "--modes", "ask,code", "--config-options", ",".join(good)) as peer:
        peer.open()
        opened = peer.seen[-1]["result"]
        assert opened["modes"]["currentModeId"] == "ask"
        assert [o["id"] for o in opened["configOptions"]] == ["mode", "model", "thought", "plain", "web"]
        assert peer.call("session/set_mode", sessionId=peer.session, modeId="code")["result"] == {}
        assert "error" in peer.call("session/set_mode", sessionId=peer.session, modeId="no")
        answer = peer.call(
            "session/set_config_option", sessionId=peer.session, configId="web", type="boolean", value=True
        )
        assert answer["result"]["configOptions"][-1]["currentValue"] is True
        assert "error" in peer.call("session/set_config_option", sessionId=peer.session, configId="plain", value="z")
        peer.turn("!config plain b !config web false")
    assert [u["currentModeId"] for u in peer.updates("current_mode_update")] == ["code"]
    last = peer.updates("config_option_update")[-1]["configOptions"]
    assert [o["currentValue"] for o in last] == ["ask", "small", "low", "b", False]


def test_legacy_models_and_odd_options(tmp_path: Path) -> None:
    odd = "grouped,unknown-category,unknown-type"
    with Peer(tmp_path, "--models", "s,l", "--config-options", odd, valid=False) as peer:
        opened = peer.open().seen[-1]["result"]
        assert opened["models"]["currentModelId"] == "s"
        assert [o["type"] for o in opened["configOptions"]] == ["select", "select", "slider"]
        assert opened["configOptions"][0]["options"][1]["options"][0]["value"] == "large"
        assert peer.call("session/set_model", sessionId=peer.session, modelId="l")["result"] == {}
        answer = peer.call("session/set_config_option", sessionId=peer.session, configId="model", value="large")
    assert answer["result"]["configOptions"][0]["currentValue"] == "large"


@pytest.mark.parametrize(
    ("when", "order"),
    [("before", ["commands", "new"]), ("after", ["new", "commands"]), ("prompt", ["new", "commands"])],
)
def test_commands(tmp_path: Path, when: str, order: list[str]) -> None:
    with Peer(tmp_path, "--commands", "plan,test:Run the tests:which", "--commands-at", when) as peer:
        peer.open()
        early = "commands" if peer.updates("available_commands_update") else "nothing"
        peer.turn("!say a")
        peer.turn("!say b")
    assert early == ("commands" if when == "before" else "nothing")
    seen = [
        "new" if "sessionId" in f.get("result", {}) else "commands" if "availableCommands" in str(f) else ""
        for f in peer.seen
    ]
    assert [s for s in seen if s] == order
    (update,) = peer.updates("available_commands_update")
    assert update["availableCommands"] == [
        {"name": "plan", "description": "plan"},
        {"name": "test", "description": "Run the tests", "input": {"hint": "which"}},
    ]


# --- sessions


def test_load_replays_before_its_answer_and_may_answer_null(tmp_path: Path) -> None:
    with Peer(tmp_path, "--caps", "load,resume", "--replay", "2", "--null", "load", "--message-ids") as peer:
        peer.call("initialize", **INIT)
        where = {"cwd": str(tmp_path), "mcpServers": []}
        assert peer.call("session/load", sessionId="old", **where)["result"] is None
        assert peer.said() == "replayed answer 1replayed answer 2"
        assert [u["content"]["text"] for u in peer.updates("user_message_chunk")][1] == "replayed question 2"
        assert peer.call("session/resume", sessionId="older", cwd=str(tmp_path))["result"] == {}
        peer.session = "old"
        peer.turn("!say a !message other !say b")
    assert [u.get("messageId") for u in peer.updates("agent_message_chunk")][-2:] == ["m1", "other"]


def test_list_close_and_delete(tmp_path: Path) -> None:
    options = ("--caps", "list,close,delete", "--sessions", "a,b,c", "--page-size", "2")
    with Peer(tmp_path, *options) as peer:
        peer.call("initialize", **INIT)
        first = peer.call("session/list")["result"]
        second = peer.call("session/list", cursor=first["nextCursor"])["result"]
        assert [s["sessionId"] for s in first["sessions"] + second["sessions"]] == ["a", "b", "c"]
        assert second["nextCursor"] is None
        assert peer.call("session/close", sessionId="a")["result"] == {}
        assert peer.call("session/delete", sessionId="b")["result"] == {}
        peer.session = "a"
        assert peer.turn("hello")["error"]["code"] == -32002


def test_what_is_not_announced_or_not_served_is_not_found(tmp_path: Path) -> None:
    with Peer(tmp_path, "--caps", "resume", "--unserved", "resume") as peer:
        peer.open()
        for method in ("session/resume", "session/load", "session/list", "session/close", "nonsense"):
            assert peer.call(method, sessionId="x", cwd="/", mcpServers=[])["error"]["code"] == -32601, method


# --- signing in


@pytest.mark.parametrize("where", ["new", "load", "prompt"])
def test_signing_in_by_the_agent(tmp_path: Path, where: str) -> None:
    with Peer(tmp_path, "--caps", "load,logout", "--auth", "agent", "--auth-required", where) as peer:
        peer.call("initialize", **INIT)
        place = {"cwd": str(tmp_path), "mcpServers": []}

        def attempt() -> JSON:
            if where == "load":
                return peer.call("session/load", sessionId="s", **place)
            peer.session = peer.call("session/new", **place).get("result", {}).get("sessionId", "")
            return peer.turn("!empty") if where == "prompt" else peer.call("session/new", **place)

        assert attempt()["error"]["code"] == -32000
        assert "error" in peer.call("authenticate", methodId="terminal")
        assert peer.call("authenticate", methodId="agent")["result"] == {}
        assert "result" in attempt()
        assert peer.call("logout")["result"] == {}
        assert attempt()["error"]["code"] == -32000


def test_signing_in_that_changes_nothing(tmp_path: Path) -> None:
    with Peer(tmp_path, "--auth", "agent", "--auth-required", "new", "--auth-stale") as peer:
        peer.call("initialize", **INIT)
        assert "result" in peer.call("authenticate", methodId="agent")
        assert peer.call("session/new", cwd="/", mcpServers=[])["error"]["code"] == -32000


def test_signing_in_by_terminal_and_by_variable(tmp_path: Path) -> None:
    credentials = str(tmp_path / "credentials")
    env = {**os.environ, "FAKE_AGENT_CREDENTIALS": credentials}
    subprocess.run(tests.fake_agent.command("--login"), env=env, check=True, capture_output=True)
    with Peer(tmp_path, "--auth-required", "new", env={"FAKE_AGENT_CREDENTIALS": credentials}) as peer:
        assert peer.open().session
    with Peer(tmp_path, "--auth-required", "new", env={"FAKE_AGENT_KEY": "k"}) as peer:
        assert peer.open().session


# --- misbehaviour around methods


def test_hang_hold_and_error(tmp_path: Path) -> None:
    options = (
        "--hang",
        "load,set_mode",
        "--hold",
        "new=g",
        "--error",
        "list=-32603:broken",
        "--caps",
        "load,list",
    )
    with Peer(tmp_path, *options) as peer:
        peer.call("initialize", **INIT)
        place = {"cwd": "/", "mcpServers": []}
        hung, held = peer.ask("session/load", sessionId="s", **place), peer.ask("session/new", **place)
        assert peer.call("session/list")["error"] == {"code": -32603, "message": "broken"}
        Gates(tmp_path).open("g")
        assert "result" in peer.until(held)
    assert hung not in [f.get("id") for f in peer.seen]


@pytest.mark.parametrize(
    ("options", "code"), [(["--exit", "4", "--stderr", "no key"], 4), (["--exit-in", "initialize=5"], 5)]
)
def test_ends_instead_of_answering(tmp_path: Path, options: list[str], code: int) -> None:
    with Peer(tmp_path, *options) as peer:
        with pytest.raises((EOFError, BrokenPipeError)):
            peer.call("initialize", **INIT)
        assert peer.process.wait(10) == code
    assert peer.stderr in (b"no key\n", b"fake agent: told to end in initialize\n")


def test_banner_and_glued_titles(tmp_path: Path) -> None:
    with Peer(tmp_path, "--banner") as peer:
        assert "result" in peer.call("initialize", **INIT)
        assert len(peer.noise) == 5
    with Peer(tmp_path, "--osc-prefix", "--exit-in", "close=0") as peer:
        peer.ask("initialize", **INIT)
        peer.ask("session/close")
        with pytest.raises(EOFError):
            peer.next()
    assert peer.noise[0].startswith(b"\x1b]0;fake agent\x07{")


def test_endless_noise(tmp_path: Path) -> None:
    with Peer(tmp_path, "--noise") as peer:
        peer.ask("initialize", **INIT)
        while len(peer.noise) < 1000:
            peer.noise.append(peer.line())
    assert log.received(peer.log) == []


def test_slow_start(tmp_path: Path) -> None:
    with Peer(tmp_path, "--slow-start", "g") as peer:
        waiting = peer.ask("initialize", **INIT)
        Gates(tmp_path).open("g")
        assert "result" in peer.until(waiting)


def test_the_end_of_input_ends_it_even_in_a_turn(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().prompt("!hang")
        assert peer.process.stdin
        peer.process.stdin.close()
        assert peer.process.wait(10) == 0
    assert log.records(peer.log)[-1]["event"] == "eof"


def test_it_can_outlive_both(tmp_path: Path) -> None:
    with Peer(tmp_path, "--ignore-eof", "--ignore-term", "--spawn-child", f"{tmp_path}/pids") as peer:
        peer.open()
        pids = json.loads((tmp_path / "pids").read_text(encoding="utf-8"))
        assert peer.process.stdin
        for pid in pids.values():
            os.kill(pid, signal.SIGTERM)
        peer.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            peer.process.wait(0.2)
        os.kill(pids["setsid"], signal.SIGKILL)


# --- the log


def test_the_log_shows_what_the_agent_saw(tmp_path: Path) -> None:
    env = {
        "FAKE_AGENT_LOG_ENV": "MY_VAR",
        "MY_VAR": "1",
        "FAKE_AGENT_OPTIONS": "--name 'al'",
        "SECRET_X": "2",
    }
    with Peer(tmp_path, env=env) as peer:
        peer.open().turn("@al hello\nthere")
        assert peer.said() == "al heard: hello\nthere"
    with Peer(tmp_path, "--name", "bo") as peer:
        peer.open().turn("and you")
    (start, _) = log.records(peer.log, "start")
    assert start["env"]["MY_VAR"] == "1"
    assert "SECRET_X" not in start["env"]
    assert "SECRET_X" in start["env_names"]
    assert log.prompts(peer.log) == ["@al hello\nthere", "and you"]
    assert log.prompts(peer.log, agent="bo") == ["and you"]
    assert [m["method"] for m in log.received(peer.log, agent="al")] == [
        "initialize",
        "session/new",
        "session/prompt",
    ]
    assert log.pids(peer.log) == [start["pid"], peer.process.pid]


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"cwd": "here", "mcpServers": []}, "cwd is not absolute: here"),
        ({"cwd": "/"}, "mcpServers is not a list"),
    ],
)
def test_a_client_that_breaks_the_protocol_is_refused_and_noted(tmp_path: Path, params: JSON, what: str) -> None:
    with Peer(tmp_path) as peer:
        peer.call("initialize", **INIT)
        assert peer.call("session/new", **params)["error"]["message"] == what
        image = [{"type": "image", "mimeType": "image/png", "data": ""}]
        session = peer.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
        assert "error" in peer.call("session/prompt", sessionId=session, prompt=image)
    noted = [r["what"] for r in log.records(peer.log, "violation")]
    assert noted == [what, "a block of type image without the capability"]
