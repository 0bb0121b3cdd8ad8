"""Answering what the plugin asks by Neovim's own questions, and hearing what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.neovim.editor import Editor


def run(editor: Editor, command: str) -> None:
    """Run `:Sidekicks …` with real keys, from any mode."""
    editor.keys(f"<C-Bslash><C-n>:Sidekicks {command}<CR>")


def choosing(editor: Editor, *wanted: str) -> None:
    """Answer the next `vim.ui.select` questions with the first item that contains each of these words."""
    editor.lua(
        """local wanted = { ... }
           vim.ui.select = function(items, options, choose)
             local word = table.remove(wanted, 1)
             local offered = vim.tbl_map(options.format_item or tostring, items)
             vim.g.offered = offered
             for at, item in ipairs(items) do
               if word and offered[at]:find(word, 1, true) then return choose(item, at) end
             end
             error(('nothing offered has %s: %s'):format(word, vim.inspect(offered)))
           end""",
        *wanted,
    )


def offered(editor: Editor) -> list[str]:
    """What the last question that `choosing` answered offered."""
    found: list[str] = editor.lua("return vim.g.offered or {}")
    return found


def typing(editor: Editor, *texts: str) -> None:
    """Answer the next `vim.ui.input` questions with these texts; the last one again and again."""
    editor.lua(
        """local texts = { ... }
           vim.ui.input = function(options, done)
             vim.g.prompted = options.prompt
             done(#texts > 1 and table.remove(texts, 1) or texts[1])
           end""",
        *texts,
    )


def told(editor: Editor) -> str:
    """What was notified last."""
    return str(editor.lua("return vim.g.told or ''"))


def listen(editor: Editor) -> None:
    """Keep what is notified where `told` finds it."""
    editor.lua("vim.notify = function(text) vim.g.told = text end")
