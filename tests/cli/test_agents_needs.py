"""What agents need of a person in the terminal: options of every shape, a silence, a session to go on with, files."""

from __future__ import annotations

import base64
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.fake_agent import command, log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Desk
    from tests.cli.terminal import Terminal

OPTIONS = "--caps image,list,load --sessions old --modes ask,code --models small,large"
SHAPES = "--config-options mode,model,grouped,thought,plain,boolean,unknown-category,unknown-type"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


class Office:
    """The real bridge with two fake agents, and what they received."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.log = desk.folder / "fake.jsonl"
        fake = self._agent("fake", OPTIONS, FAKE_AGENT_LOG=str(self.log))
        config = {"agents": [fake, self._agent("shapes", SHAPES)], "limits": {"turnSilence": "1s"}}
        path = desk.folder / "c.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")
        desk.env["SIDEKICKS_CONFIG"] = str(path)

    @staticmethod
    def _agent(name: str, options: str, **env: str) -> dict[str, Any]:
        program, *args = command("--name", name, *options.split())
        return {"name": name, "command": program, "args": args, "env": env}

    def chat(self, channel: str) -> Terminal:
        chat = self.desk.open(self.desk.sidekicks("chat", channel))
        chat.wait_for("F1 keys")
        return chat

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.desk.sidekicks(*words),
            cwd=self.desk.folder,
            env=self.desk.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=40,
            check=False,
        )

    def blocks(self) -> list[dict[str, Any]]:
        """The content blocks of the last prompt."""
        received = [record["message"] for record in log.records(self.log, "received")]
        prompts = [message["params"] for message in received if message.get("method") == "session/prompt"]
        blocks: list[dict[str, Any]] = prompts[-1]["prompt"]
        return blocks


@pytest.fixture
def office(desk: Desk) -> Iterator[Office]:
    office = Office(desk)
    yield office
    office.run("stop")


def pick(chat: Terminal, menu: str, words: str, *, sees: str) -> None:
    """Open a menu by its key, filter it by ``words`` until only what ``sees`` says is left, and take that."""
    chat.key(menu)
    chat.wait_for("Esc closes")
    chat.type(words)
    chat.wait_for(lambda text: f"❯ {sees}" in text)
    chat.key("enter")


def test_modes_models_and_options_of_every_shape(office: Office) -> None:
    chat = office.chat("@fake")
    chat.send("hello")
    chat.wait_for("fake heard: hello")
    pick(chat, "ctrl-g", "mode", sees="fake: Mode is")
    chat.wait_for("fake: Mode  ↑")
    chat.type("code")
    chat.wait_for("❯ Code")
    chat.key("enter")
    chat.wait_for("fake: mode is code now.")
    pick(chat, "ctrl-g", "model", sees="fake: Model is")
    chat.wait_for("fake: Model  ↑")
    chat.type("large")
    chat.wait_for("❯ Large")
    chat.key("enter")
    chat.wait_for("fake: model is large now.")


def test_shapes_of_options(office: Office) -> None:
    chat = office.chat("@shapes")
    chat.send("hello")
    chat.wait_for("shapes heard: hello")
    chat.key("ctrl-g")
    shown = chat.wait_for("restart")
    names = ("Mode is Ask", "Model is Small", "Thought is Low", "Plain is A", "Web search is off", "Tone is Dry")
    assert [name for name in names if f"shapes: {name}" not in shown] == []
    chat.type("tone")
    chat.wait_for("❯ shapes: Tone")
    chat.key("enter")
    chat.wait_for("shapes: Tone  ")
    chat.key("down")
    chat.key("enter")
    chat.wait_for("shapes: tone is ")


def test_a_silence(office: Office) -> None:
    chat = office.chat("@fake")
    chat.type("!say begun !hang")
    chat.key("enter")
    chat.wait_for("has said nothing for 1 second. Wait on?")
    chat.wait_for("1 Wait")
    chat.wait_a_moment(0.6)  # a card is inert at first
    chat.type("2")
    chat.wait_for("◆ permission: Stop the turn")
    chat.send("!say again")
    chat.wait_for("  again")


def test_say_waits_on_for_a_silent_agent(office: Office) -> None:
    done = office.run("say", "@fake", "!say begun !run sleep 2.5")
    assert (done.returncode, done.stdout) == (0, "begun\n\nrun exit 0: \n")
    assert "has said nothing for 1 second; waiting on (Ctrl-C ends it)" in done.stderr


def test_going_on_with_a_session(office: Office) -> None:
    chat = office.chat("@fake")
    pick(chat, "ctrl-g", "session", sees="go on with a session of fake")
    chat.wait_for("❯ Session old")
    chat.key("enter")
    chat.wait_for("fake goes on with: Session old")
    chat.send("hello")
    chat.wait_for("fake heard: hello")
    messages = [record["message"] for record in log.records(office.log, "received")]
    assert [message["params"]["sessionId"] for message in messages if message.get("method") == "session/load"] == [
        "old"
    ]
    pick(chat, "ctrl-g", "session", sees="go on with a session of fake")
    chat.wait_for("fake remembers no other session.")


def test_files(office: Office, tmp_path: Path) -> None:
    picture, text = tmp_path / "a picture.png", office.desk.folder / "notes.txt"
    picture.write_bytes(PIXEL)
    text.write_text("notes", encoding="utf-8")
    chat = office.chat("@fake")
    escaped = str(picture).replace(" ", "\\ ")
    chat.type(f"\x1b[200~{escaped}\x1b[201~")  # what a terminal writes when a file is dragged into it
    chat.wait_for("📎 a picture.png")
    pick(chat, "ctrl-f", "nowhere.txt", sees="There is no file")
    chat.wait_for("There is no file")
    pick(chat, "ctrl-f", "notes.txt", sees="attach notes.txt")
    chat.wait_for("📎 a picture.png, notes.txt")
    chat.send("look at these")
    chat.wait_for("fake heard: look at these")
    chat.wait_for(lambda shown: "goes with the next message" not in shown)
    words, image, link = office.blocks()
    assert words["text"] == "look at these"
    assert (image["mimeType"], base64.b64decode(image["data"])) == ("image/png", PIXEL)
    assert (link["type"], link["name"]) == ("resource_link", "notes.txt")
    chat.type("\x1b[200~/usr/bin/env\x1b[201~")
    chat.wait_for("› /usr/bin/env")


def test_files_of_say(office: Office, tmp_path: Path) -> None:
    picture = tmp_path / "p.png"
    picture.write_bytes(PIXEL)
    assert office.run("say", "--attach", str(picture), "@fake", "look").returncode == 0
    assert [block["type"] for block in office.blocks()] == ["text", "image"]
    missing = office.run("say", "--attach", "none.png", "@fake", "look")
    assert missing.returncode == 64
    assert "There is no file" in missing.stderr
