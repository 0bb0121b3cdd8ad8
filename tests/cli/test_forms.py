"""Answering forms in the terminal client; an agent's sessions from the command line."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.fake_agent import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Desk


def run(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    argv = desk.sidekicks(*words)
    return subprocess.run(
        argv, cwd=desk.folder, env=desk.env, capture_output=True, encoding="utf-8", timeout=40, check=False
    )


@pytest.fixture
def office(desk: Desk) -> Iterator[Desk]:
    program, *args = command("--name", "fake", "--caps", "list,load,delete", "--sessions", "old,older")
    config = desk.folder / "c.yaml"
    config.write_text(json.dumps({"agents": [{"name": "fake", "command": program, "args": args}]}), encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    yield desk
    run(desk, "stop")


def test_a_form_and_a_page(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "@fake"))
    chat.wait_for("F1 keys")
    chat.type("!elicit form Who is it")
    chat.key("enter")
    chat.wait_for("fake asks: Who is it  Ctrl-G answers")
    chat.key("ctrl-g")
    chat.wait_for("answer fake: Who is it")
    chat.key("enter")
    chat.wait_for("type it · Enter")
    chat.type("zoe")
    chat.key("enter")
    chat.wait_for("Count (may be left out)")
    chat.key("enter")
    chat.wait_for("Ratio (may be left out)")
    chat.key("enter")
    chat.wait_for("Sure? (may be left out)")
    chat.type("no")
    chat.key("enter")
    chat.wait_for("Colour (may be left out)")
    chat.type("green")
    chat.key("enter")
    chat.wait_for('"count": 3, "sure": false')
    chat.wait_for("F1 keys")
    chat.type("!elicit url Look")
    chat.key("enter")
    chat.wait_for("fake asks: Look")
    chat.key("ctrl-g")
    chat.wait_for("answer fake: Look")
    chat.key("enter")
    chat.wait_for("https://example.com/sign-in?code=1")
    chat.wait_for("I have been there")
    chat.key("enter")
    chat.wait_for('elicit url: {"action": "accept"}')


def test_the_sessions_of_an_agent(office: Desk) -> None:
    listed = run(office, "sessions", "@fake").stdout.splitlines()
    assert listed == ["old  Session old  /", "older  Session older  /"]
    assert [one["sessionId"] for one in json.loads(run(office, "sessions", "fake", "--json").stdout)] == [
        "old",
        "older",
    ]
    assert run(office, "sessions", "fake", "--delete", "older").stdout == "@fake has forgotten it.\n"
    picked = run(office, "sessions", "fake", "--pick-up", "old")
    assert picked.stdout == "@fake goes on with that session in @fake, with the next message.\n"
    assert "old  Session old  /  in use in a channel" in run(office, "sessions", "fake").stdout
    unknown = run(office, "sessions", "faek")
    assert (unknown.returncode, "Did you mean '@fake'?" in unknown.stderr) == (5, True)
    assert run(office, "sessions", "fake", "--pick-up", "old", "--in", "#none").returncode == 5
    assert run(office, "sessions").returncode == 64
