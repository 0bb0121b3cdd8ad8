"""The agents that need no account, in the editor: one answers, the other is told what was said, asks, and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.neovim.asking import run
from tests.neovim.desk import Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.neovim.desk import Chat

SOURCE = '''"""Where routes are decided."""


def decide_route(mentions):
    """Decide the route: who answers, in the order of the mentions."""
    return [name for name in mentions if name]
'''


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    """A channel with scout and scribe on a folder with one source file."""
    box = BridgeSandbox(tmp_path, {})
    box.config = {
        "agents": [{"name": "scout", "builtin": "scout"}, {"name": "scribe", "builtin": "scribe"}],
        "channels": [{"name": "general", "members": ["scout", "scribe"]}],
    }
    box.write_config()
    (box.workspace / "routes.py").write_text(SOURCE, encoding="utf-8")
    desk = Desk(box)
    yield desk.chat(name="general")
    desk.close()


def test_one_answers_and_the_other_keeps_it(chat: Chat, tmp_path: Path) -> None:
    notes = tmp_path / "workspace" / "NOTES.md"
    chat.type("@scout where are routes decided? @scribe keep that")
    chat.editor.wait_for("→ scout, then scribe")
    chat.editor.keys("<C-s>")
    chat.heard("routes.py")
    chat.heard("scribe asks: ")
    lines = chat.lines()
    scout, scribe = lines.index("scout"), lines.index("scribe")
    assert scout < scribe, "they answer in the order of the mentions"
    card = lines[next(at for at, line in enumerate(lines) if "scribe asks: " in line) :]
    assert any(line.lstrip().startswith("+") and "decide_route" in line for line in card), "the change is shown"
    assert not notes.exists()
    chat.ripe()
    chat.up()
    chat.find("scribe asks")
    chat.editor.keys("1")
    chat.quiet()
    text = notes.read_text(encoding="utf-8")
    assert "where are routes decided?" in text
    assert "decide_route" in text, "scribe was told what scout had answered"
    run(chat.editor, "prompt")
    shown = chat.editor.wait_for("What @scribe was sent")
    assert "scout" in shown
    run(chat.editor, "changes")
    chat.editor.until(lambda: chat.editor.lua("return vim.bo.buftype") == "quickfix", "the list")
    names = "return vim.tbl_map(function(item) return vim.fn.bufname(item.bufnr) end, vim.fn.getqflist())"
    assert [name.rpartition("/")[2] for name in chat.editor.lua(names)] == ["NOTES.md"]


def test_a_note_that_is_not_allowed_is_not_written(chat: Chat, tmp_path: Path) -> None:
    chat.say("@scout where are routes decided? @scribe keep that")
    chat.heard("scribe asks: ")
    chat.ripe()
    run(chat.editor, "reject")
    chat.quiet()
    assert "Reject" in chat.text()
    assert not (tmp_path / "workspace" / "NOTES.md").exists()


def test_a_note_that_is_open_here_follows(chat: Chat, tmp_path: Path) -> None:
    notes = tmp_path / "workspace" / "NOTES.md"
    notes.write_text("# Notes\n", encoding="utf-8")
    chat.editor.keys(f"<Esc>:topleft vsplit {notes}<CR>")
    chat.editor.until(lambda: chat.editor.name() == str(notes), "the notes")
    chat.editor.keys("<C-w>bA")
    chat.say("@scout where are routes decided? @scribe keep that")
    chat.heard("scribe asks: ")
    chat.ripe()
    run(chat.editor, "allow")
    chat.quiet()
    chat.editor.until(lambda: "decide_route" in "\n".join(chat.editor.buffer(str(notes))), "the note")
