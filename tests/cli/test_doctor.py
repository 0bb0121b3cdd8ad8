"""`sidekicks doctor` on real files and real agents: a line each, and what to do where it is not well."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge import paths
from tests.fake_agent import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Desk


class Surgery:
    """A configuration with some agents, and the doctor."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.config = desk.folder / "c.yaml"
        self.agents: list[dict[str, Any]] = []

    def agent(self, name: str, options: str = "") -> None:
        program, *args = command("--name", name, *shlex.split(options))
        self.agents.append({"name": name, "command": program, "args": args})

    def run(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        if not self.config.exists():
            config = {"agents": self.agents, "limits": {"startTimeout": "2s"}}
            self.config.write_text(json.dumps(config), encoding="utf-8")
        return self.sidekicks("doctor", *words, typed=typed)

    def sidekicks(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        argv = [*self.desk.sidekicks(*words), "--config", str(self.config)]
        return subprocess.run(
            argv,
            cwd=self.desk.folder,
            env=self.desk.env,
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=40,
            check=False,
        )


@pytest.fixture
def surgery(desk: Desk) -> Iterator[Surgery]:
    made = Surgery(desk)
    yield made
    made.sidekicks("stop")


def test_a_healthy_house(surgery: Surgery) -> None:
    surgery.agent("bob", "--commands plan,web --modes ask,code --caps load,image --title Robert --version 2.1")
    done = surgery.run()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "✓ sidekicks",
        "✓ configuration file",
        "✓ history database",
        "✓ history free space",
        "✓ history search",
        "✓ bridge running",
        "✓ agent bob",
    ]
    bob = lines[-1]
    assert "Robert 2.1, ready in " in bob
    assert "MiB, can load sessions, take images, set: mode=ask, 2 commands" in bob
    assert "\x1b" not in done.stdout, "no colours in a file"


@pytest.mark.parametrize(
    ("options", "what", "todo"),
    [
        (
            "--exit 3 --stderr 'no key found'",
            "no key found",
            "--stderr 'no key found'` in a terminal and read what it says.\n",
        ),
        ("--hang initialize", "did not answer `initialize`", "limits.startTimeout"),
        ("--error new=-32603:disk", "disk", "--record"),
        ("--protocol 9", "speaks ACP version 9", "in a terminal"),
        ("--auth agent --auth-required new", "you are not signed in", "sidekicks agents signin bob"),
        ("--banner", "", "4 lines"),
    ],
)
def test_what_ails_an_agent(surgery: Surgery, options: str, what: str, todo: str) -> None:
    surgery.agent("bob", options)
    done = surgery.run("bob")
    line, _, advice = done.stdout.partition("  → ")
    assert what in line
    assert todo in advice
    assert done.returncode == (1 if line.startswith("✗") else 0)


def test_a_known_agent_that_is_missing_says_how_it_is_installed(surgery: Surgery) -> None:
    surgery.desk.env["PATH"] = str(Path(sys.executable).parent)
    surgery.agents = [{"name": "codex", "command": "codex-acp"}, {"name": "own", "command": "no-such"}]
    surgery.agents.append({"name": "joined", "command": "no-such --stdio"})
    done = surgery.run("codex", "@own", "joined")
    assert "Write `command: no-such` and `args: [--stdio]`" in done.stdout
    assert "npm install -g @agentclientprotocol/codex-acp" in done.stdout
    assert "Correct `command` of own" in done.stdout
    assert done.returncode == 1


def test_a_broken_configuration_an_orphan_and_a_running_bridge(
    surgery: Surgery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", surgery.desk.env["XDG_CONFIG_HOME"])
    gone = paths.data_dir(surgery.desk.folder / "gone.yaml")
    gone.mkdir(parents=True)
    (gone / "history.db").write_bytes(b"x" * 100)
    (gone / "config-path").write_bytes(os.fsencode(surgery.desk.folder / "gone.yaml") + b"\n")
    surgery.config.write_text("agents:\n  - name: scout\n    builtin: scout\nchanels: []\n", encoding="utf-8")
    assert surgery.sidekicks("say", "@scout", "hello").returncode == 0
    done = surgery.run("--json")
    report = json.loads(done.stdout)
    found = {(finding["area"], finding["name"]): finding for finding in report["findings"]}
    assert report["ok"] is True
    assert found["configuration", "line 4"]["status"] == "warning"
    assert "c.yaml:4:" in found["configuration", "line 4"]["todo"]
    assert "gone.yaml" in found["history", "orphan"]["text"]
    assert "(1 KiB)" in found["history", "orphan"]["text"]
    assert found["history", "database"]["details"]["messages"] == 2
    assert found["bridge", "running"]["details"]["kind"] == "hub"
    assert found["agent", "scout"]["details"]["commands"]


def test_recording_and_playing(surgery: Surgery) -> None:
    surgery.agent("bob")
    file = surgery.desk.folder / "bob.jsonl"
    done = surgery.run("bob", "--record", str(file), "--prompt", "!say hello")
    assert done.returncode == 0, done.stderr
    assert "read it before you give it away" in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    frames = [{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {}}]
    played = surgery.run("--replay", str(file), typed="\n".join(json.dumps(frame) for frame in frames))
    assert json.loads(played.stdout)["id"] == 5
    assert "recording made by" in surgery.run("--replay", str(surgery.config)).stderr


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (["nobody"], 5, "There is no agent '@nobody'. There are: @bob"),
        (["bbo"], 5, "There is no agent '@bbo'. Did you mean '@bob'?"),
        (["--record", "x"], 64, "exactly one agent"),
        (["--replay", "none.jsonl"], 1, "none.jsonl"),
    ],
)
def test_what_cannot_be_done(surgery: Surgery, words: list[str], code: int, what: str) -> None:
    surgery.agent("bob")
    done = surgery.run(*words)
    assert done.returncode == code, done.stdout
    assert what in done.stderr
