"""Agents' edits and reads: open buffers follow, what is not saved is neither lost nor hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.neovim.desk import Chat, Desk


def edit(desk: Desk, chat: Chat, name: str, text: str) -> Path:
    """Open a new file beside the channel; the cursor goes back to the composer."""
    path = desk.box.workspace / name
    path.write_text(text, encoding="utf-8")
    chat.editor.keys(f"<Esc>:topleft vsplit {path}<CR>")
    chat.editor.until(lambda: chat.editor.name() == str(path), "the file")
    return path


def back(chat: Chat) -> None:
    """Go to the composer and begin typing."""
    chat.editor.keys("<C-w>bA")
    chat.editor.until(lambda: chat.editor.mode() == "i", "the composer")


def test_a_clean_buffer_is_reloaded(desk: Desk, chat: Chat) -> None:
    path = edit(desk, chat, "clean.txt", "before\n")
    back(chat)
    chat.ask("@alice !write clean.txt|after\\n !tool edit Wrote it | clean.txt", "✓ Wrote it")
    chat.editor.until(lambda: chat.editor.buffer(str(path)) == ["after"], "the new text")


def test_a_write_without_a_tool_call_is_seen_too(desk: Desk, chat: Chat) -> None:
    path = edit(desk, chat, "quiet.txt", "before\n")
    back(chat)
    chat.ask("@alice !write quiet.txt|after\\n", "write quiet.txt: ok")
    chat.editor.until(lambda: chat.editor.buffer(str(path)) == ["after"], "the new text")


def test_a_changed_buffer_asks_first(desk: Desk, chat: Chat) -> None:
    path = edit(desk, chat, "dirty.txt", "before\n")
    chat.editor.lua(
        """vim.ui.select = function(items, options, choose)
             vim.g.asked = options.prompt
             vim.g.offered = vim.tbl_map(options.format_item, items)
             vim.g.choose = choose
             _G.choose = function(at) choose(items[at]) end
           end"""
    )
    chat.editor.keys("ccmine<Esc>")
    back(chat)
    chat.type("@alice !write dirty.txt|theirs\\n !tool edit Wrote it | dirty.txt")
    chat.editor.keys("<C-s>")
    chat.heard("✓ Wrote it")
    assert chat.editor.lua("return vim.g.asked") is None, "nothing asks while one types"
    chat.editor.keys("<Esc>")
    chat.editor.until(lambda: chat.editor.lua("return vim.g.asked"), "the question")
    assert "dirty.txt was written by an agent" in chat.editor.lua("return vim.g.asked")
    assert chat.editor.buffer(str(path)) == ["mine"]
    chat.editor.lua("_G.choose(2)")
    chat.editor.until(lambda: chat.editor.buffer(str(path)) == ["theirs"], "their text")


def test_an_agent_reads_what_is_not_saved(desk: Desk, chat: Chat) -> None:
    edit(desk, chat, "unsaved.txt", "on disk\n")
    chat.editor.keys("ccnot saved<Esc>")
    back(chat)
    chat.ask("@alice !read unsaved.txt", "read unsaved.txt: not saved")
    chat.editor.keys("<Esc><C-w>t:write<CR>")
    back(chat)
    chat.ask("@alice !read unsaved.txt", "read unsaved.txt: not saved")
