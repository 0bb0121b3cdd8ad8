"""Agent mail: conversations between others are listed, readable while they go on, and can be written into."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.neovim.asking import choosing, offered, run
from tests.neovim.desk import Chat

if TYPE_CHECKING:
    from tests.neovim.desk import Desk


def mail(desk: Desk, *words: str) -> str:
    """Run `sidekicks …` as a peer would; what it prints."""
    command = [sys.executable, "-m", "sidekicks_bridge", *words, "--config", str(desk.box.config_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=desk.box.environment(), cwd=desk.box.workspace, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_conversation_between_peers_is_listed_read_and_answered(desk: Desk) -> None:
    editor = desk.connected()
    mail(desk, "register", "ann")
    mail(desk, "register", "ben")
    mail(desk, "tell", "--as", "ann", "ben", "is the parser done?")
    editor.until(lambda: editor.lua("return require('sidekicks.state').find('ann--ben') ~= nil"), "the pair")
    choosing(editor, "Agent mail: ann ↔ ben")
    run(editor, "")
    chat = Chat(editor, "ann--ben")
    chat.heard("✉ ann\nis the parser done?")
    assert [label.split("  ")[0] for label in offered(editor) if "↔" in label] == ["Agent mail: ann ↔ ben"]
    mail(desk, "tell", "--as", "ben", "ann", "nearly")
    chat.heard("✉ ben\nnearly")
    editor.until(lambda: editor.mode() == "i", "the composer")
    chat.say("take your time, both of you")
    chat.heard("You\ntake your time, both of you")
    assert "take your time" in mail(desk, "history", "--as", "ann", "ben")


def test_what_an_agent_is_told_and_answers_is_seen(own_desk: Desk) -> None:
    """The conversation is a channel, and its agent can be mentioned there."""
    editor = own_desk.connected()
    mail(own_desk, "register", "dan")
    mail(own_desk, "tell", "--as", "dan", "bob", "hello bob")
    editor.until(lambda: editor.lua("return require('sidekicks.state').find('bob--dan') ~= nil"), "the pair")
    run(editor, "open bob--dan")
    chat = Chat(editor, "bob--dan")
    chat.heard("✉ dan\nhello bob")
    chat.heard("bob heard: hello bob")
    editor.until(lambda: editor.mode() == "i", "the composer")
    chat.ask("@bob and from me", "bob heard: and from me")
