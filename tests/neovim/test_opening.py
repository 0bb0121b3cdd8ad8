"""Opening channels: by name, by picking, by `:edit`; the composer is entered and nothing wants a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.neovim.conftest import GENERAL, heard, say, transcript

if TYPE_CHECKING:
    from tests.neovim.conftest import Desk


def test_a_channel_opens_with_its_composer_entered(desk: Desk) -> None:
    editor = desk.chat("#general")
    assert editor.name() == f"{GENERAL}/compose"
    editor.wait_for("Write below. Here: @alice, @bob")
    assert transcript(editor).startswith("#general")


def test_what_is_sent_is_answered(desk: Desk) -> None:
    editor = desk.chat()
    say(editor, "@alice hello there")
    heard(editor, "alice heard: hello there")
    lines = editor.buffer(GENERAL)
    assert lines[lines.index("You") + 1] == "@alice hello there"
    assert "Alice" in lines or "alice" in lines
