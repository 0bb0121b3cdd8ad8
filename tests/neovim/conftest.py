"""A Neovim with the plugin, a real bridge, and the fake agents, in a folder of the test's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.neovim.editor import Editor
from tests.support.sandbox import REPOSITORY, BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLUGIN = REPOSITORY / "clients" / "neovim"
GENERAL = "sidekicks://general"


class Desk:
    """Where a test works: a bridge's files, and the editors it opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.editors: list[Editor] = []
        self.box = BridgeSandbox(folder)

    def agents(self, agents: Mapping[str, str], channels: Mapping[str, list[str]] | None = None, **keys: Any) -> None:
        """Other agents than the two that are there."""
        self.box = BridgeSandbox(self.folder, agents, channels, **keys)

    def command(self) -> list[str]:
        """The bridge's command line."""
        return [sys.executable, "-m", "sidekicks_bridge", "serve", "--config", str(self.box.config_path)]

    def open(
        self,
        *arguments: str,
        settings: Mapping[str, Any] | None = None,
        init: str = "",
        size: tuple[int, int] = (110, 34),
        cwd: Path | None = None,
    ) -> Editor:
        """A Neovim with the plugin, set up by ``settings``; ``init`` is Lua that runs before plugins are loaded."""
        given = json.dumps({"cmd": self.command(), **(settings or {})})
        script = self.folder / f"init-{len(self.editors)}.lua"
        script.write_text(
            f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
            "vim.opt.swapfile, vim.o.shortmess = false, vim.o.shortmess .. 'I'\n"
            f"vim.g.sidekicks = vim.json.decode({json.dumps(given)})\n{init}\n",
            encoding="utf-8",
        )
        home = {name: str(self.folder / "home") for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
        env = {**self.box.environment(), **home, "TZ": "UTC", "NVIM_LOG_FILE": str(self.folder / "nvim.log")}
        editor = Editor(
            ["--clean", "-i", "NONE", "-u", str(script), *arguments], env, cwd or self.box.workspace, size
        )
        self.editors.append(editor)
        return editor

    def chat(self, name: str = "#general", **options: Any) -> Editor:
        """A Neovim with a channel open and the cursor in its composer."""
        editor = self.open(**options)
        editor.keys(f":Sidekicks {name}<CR>")
        editor.until(lambda: editor.mode() == "i" and editor.name().endswith("/compose"), f"the composer of {name}")
        return editor


def say(editor: Editor, text: str) -> None:
    """Type a message into the composer and send it, as a person does."""
    editor.keys(text.replace("<", "<lt>").replace("\n", "<CR>"))
    editor.keys("<C-s>")
    editor.until(lambda: editor.buffer(editor.name()) == [""], "the composer is empty")


def transcript(editor: Editor, name: str = GENERAL) -> str:
    """What stands in a transcript."""
    return "\n".join(editor.buffer(name))


def heard(editor: Editor, text: str, name: str = GENERAL) -> str:
    """Wait until the transcript has the text; the transcript."""
    editor.until(lambda: text in transcript(editor, name), f"{text!r} in {name}")
    return transcript(editor, name)


def quiet(editor: Editor) -> None:
    """Wait until no turn is left in any channel that is open."""
    code = """for _, room in pairs(require('sidekicks.state').rooms) do
                if #room.snapshot.turns > 0 then return false end
              end
              return true"""
    editor.until(lambda: editor.lua(code), "no turn is left")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    try:
        yield desk
    finally:
        for editor in desk.editors:
            editor.close()
