"""Signing in from the terminal client and from the command line, on the real bridge."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.fake_agent import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Desk

AUTH = "agent,terminal,env_var"


def run(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        desk.sidekicks(*words),
        cwd=desk.folder,
        env=desk.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=40,
        check=False,
    )


@pytest.fixture
def office(desk: Desk) -> Iterator[Desk]:
    """An agent that wants signing in, and one that offers no way to."""
    program, *args = command("--name", "fake", "--auth", AUTH, "--auth-required", "new", "--caps", "logout")
    env = {"FAKE_AGENT_CREDENTIALS": str(desk.folder / "credentials")}
    bare = command("--name", "bare")[1:]
    agents = [
        {"name": "fake", "command": program, "args": args, "env": env},
        {"name": "bare", "command": program, "args": bare},
    ]
    config = desk.folder / "c.yaml"
    config.write_text(json.dumps({"agents": agents}), encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    yield desk
    run(desk, "stop")


def test_in_the_terminal_client(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "@fake"))
    chat.wait_for("F1 keys")
    chat.send("hello there")
    chat.wait_for("fake wants you to sign in  Ctrl-G signs in")
    chat.key("ctrl-g")
    chat.wait_for("sign in to fake: API key")
    chat.type("terminal")
    chat.wait_for(lambda text: "fake: API key" not in text)
    chat.key("enter")
    chat.wait_for("Signed in to @fake. What had failed is tried again.")
    shown = chat.wait_for("fake heard: hello there")
    assert "Signed in.\n" in shown, "the command ran on this terminal"
    chat.wait_for(lambda text: "sign in  Ctrl-G" not in text)
    chat.key("ctrl-g")
    chat.wait_for("sign out of fake")
    chat.type("restart")
    chat.wait_for("❯ restart")
    chat.key("enter")
    chat.wait_for("Restart fake?")
    chat.key("down")
    chat.wait_for("❯ yes, restart fake")
    chat.key("enter")
    chat.wait_for("F1 keys")
    chat.send("and again")
    chat.wait_for("fake heard: and again")
    chat.send("!say half-said !crash 3")
    chat.wait_for("it is started anew.")
    chat.key("ctrl-g")
    chat.wait_for("ask again fake")
    chat.type("ask")
    chat.key("enter")
    chat.wait_for(lambda text: text.count("  half-said") == 2)


def test_from_the_command_line(office: Desk) -> None:
    several = run(office, "agents", "signin", "@fake")
    assert several.returncode == 64
    assert "--method env_var" in several.stderr
    variables = run(office, "agents", "signin", "fake", "--method", "env_var")
    assert variables.returncode == 1
    assert "Set FAKE_AGENT_KEY" in variables.stderr
    assert run(office, "say", "@fake", "hello").returncode == 1
    done = run(office, "agents", "signin", "fake", "--method", "terminal")
    assert (done.returncode, done.stdout.splitlines()[:1]) == (0, ["Signed in."])
    assert run(office, "say", "@fake", "hello").stdout == "fake heard: hello\n"
    assert run(office, "agents", "signout", "fake").stdout == "Signed out of @fake.\n"


def test_what_cannot_be_done(office: Desk) -> None:
    assert "offers no way to sign in" in run(office, "agents", "signin", "bare").stderr
    assert "does not offer to sign out" in run(office, "agents", "signout", "bare").stderr
    assert "There is no agent '@nobody'." in run(office, "agents", "signin", "nobody").stderr
