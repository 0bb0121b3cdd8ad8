"""Makes docs/images/neovim-*.png: a real Neovim, a real bridge, fake agents that play a scene.

python scripts/screenshots/neovim.py [FOLDER]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.screenshots.picture import Painter  # noqa: E402
from tests.neovim.desk import Chat, Desk  # noqa: E402
from tests.support.sandbox import BridgeSandbox  # noqa: E402

SIZE = (124, 36)
AGENTS = {
    "alice": "--title Alice --commands plan:Plan-a-change,review:Review-the-last-change --caps embedded",
    "bob": "--title Bob --commands research:Look-something-up:topic",
    "carol": "--title Carol",
}
FIELDS = {
    "alice": {"title": "Alice", "description": "Writes code"},
    "bob": {"title": "Bob", "description": "Reviews code"},
    "carol": {"title": "Carol", "description": "Runs the tests"},
}
SOURCE = '''"""Retrying what may fail."""

import time


def retry(call, attempts=3, pause=0.5):
    """Call until it works; the last error is raised."""
    for attempt in range(attempts):
        try:
            return call()
        except OSError:
            if attempt == attempts - 1:
                raise
            time.sleep(pause)
'''
BETTER = SOURCE.replace("time.sleep(pause)", "time.sleep(pause * 2**attempt)")

ANSWER = r"""!think The pause is the same each time.\nMany clients would come back together.
!tool read Read retry.py | retry.py:14
!words The pause is **constant**: after an outage all clients come back at once. I make it grow:
!diff retry.py|OLD|NEW
!plan +Read retry.py;+Make the pause grow;>Run the tests
!say \n\n```python\npause * 2**attempt\n```\n\nThree attempts now wait `0.5`, `1` and `2` seconds."""


def quoted(text: str) -> str:
    """A text as an argument of the fake agent's script."""
    return text.replace("\n", "\\n")


def send(chat: Chat, shown: str, script: str) -> None:
    """Send what a person would write; the fake agent plays the script instead, which is not shown."""
    chat.editor.lua(
        """local shown, script = ...
           local text = require('sidekicks.render.stream')
           local grow = text.grow
           text.grow = function(stream, value) return grow(stream, value == script and shown or value) end
           require('sidekicks.composer').set(require('sidekicks.target').room(), script)""",
        shown,
        script,
    )
    chat.editor.keys("<C-s>")


def scene(desk: Desk) -> Chat:
    """A conversation beside a file: an answer with a change, and a question about a command."""
    (desk.box.workspace / "retry.py").write_text(SOURCE, encoding="utf-8")
    editor = desk.connected(size=SIZE, init="vim.o.number, vim.o.laststatus, vim.o.ruler = true, 3, false")
    editor.keys(":edit retry.py<CR>")
    chat = desk.chat(name="general", editor=editor)
    script = ANSWER.replace("OLD", quoted(SOURCE)).replace("NEW", quoted(BETTER))
    send(chat, "@alice why do all clients reconnect at once?", "@alice " + script)
    chat.heard("and `2` seconds.")
    chat.quiet()
    ask = "!say I run the tests against it.\n !permit pytest -q tests/test_retry.py ids=allow,always,reject"
    send(chat, "@carol try it", "@carol " + ask)
    chat.heard("asks: pytest")
    return chat


def main(folder: Path) -> None:
    """Make every picture."""
    painter = Painter()
    with tempfile.TemporaryDirectory() as made:
        os.environ["HOME"] = made
        box = BridgeSandbox(Path(made) / "demo", AGENTS, {"general": ["alice", "carol"]}, fields=FIELDS)
        desk = Desk(box)
        desk.start()
        try:
            chat = scene(desk)
            chat.type("@bob does this look right to you?")
            chat.editor.wait_for("will be invited")
            painter.paint(chat.editor.screen, folder / "neovim-channel.png")
            chat.editor.keys("<C-u>@")
            chat.editor.until(lambda: chat.editor.lua("return vim.fn.pumvisible() == 1"), "the menu")
            chat.editor.wait_for("Bob (will be invited)")
            painter.paint(chat.editor.screen, folder / "neovim-completion.png")
            chat.editor.keys("<C-e><C-u>")
            chat.up()
            chat.find("Edit retry.py")
            chat.editor.keys("zozz")
            chat.editor.wait_for("+            time.sleep")
            chat.editor.lua("vim.cmd.nohlsearch(); vim.cmd.echo('\"\"'); vim.cmd.redraw()")
            painter.paint(chat.editor.screen, folder / "neovim-change.png")
            desk.calm()
        finally:
            desk.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
