"""What people do to windows and buffers: close, wipe out, read again, resize, show twice. A channel outlives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.neovim.asking import run

if TYPE_CHECKING:
    from tests.neovim.desk import Chat, Desk
    from tests.neovim.editor import Editor


def windows(editor: Editor) -> int:
    """How many windows this tab has."""
    return int(editor.lua("return #vim.api.nvim_tabpage_list_wins(0)"))


def reopen(chat: Chat) -> None:
    """Open the channel again, into insert mode in its composer."""
    run(chat.editor, f"#{chat.uri.removeprefix('sidekicks://')}")
    wanted = f"{chat.uri}/compose"
    chat.editor.until(lambda: chat.editor.mode() == "i" and chat.editor.name() == wanted, "the composer")


@pytest.mark.parametrize("command", ["bdelete", "bwipeout"])
@pytest.mark.parametrize("where", ["k", "j"], ids=["transcript", "composer"])
def test_a_buffer_that_was_deleted_comes_back(chat: Chat, command: str, where: str) -> None:
    chat.ask("@bob hi", "bob heard: hi")
    chat.editor.keys(f"<Esc><C-w>{where}:{command}!<CR>")
    chat.editor.until(lambda: windows(chat.editor) == 1, "one window")
    reopen(chat)
    assert windows(chat.editor) == 2
    assert chat.text().count("bob heard: hi") == 1
    chat.ask("@bob again", "bob heard: again")


def test_the_window_that_is_left_shows_other_buffers(chat: Chat) -> None:
    chat.editor.keys("<Esc><C-w>k:bdelete<CR>")
    chat.editor.until(lambda: chat.editor.name() == "", "an empty buffer")
    chat.editor.keys(":edit other.txt<CR>")
    chat.editor.until(lambda: chat.editor.name().endswith("other.txt"), "another buffer")


def test_reading_a_transcript_again_changes_nothing(chat: Chat) -> None:
    chat.ask("@bob hi", "bob heard: hi")
    before = chat.text()
    chat.up()
    chat.editor.keys(":edit<CR>")
    chat.editor.until(lambda: chat.text() == before and windows(chat.editor) == 2, "the same text")
    chat.down()
    chat.ask("@bob again", "bob heard: again")


def test_reading_a_composer_again_brings_the_draft_back(chat: Chat) -> None:
    chat.type("half a thought")
    chat.editor.keys("<Esc>:edit!<CR>")
    chat.editor.until(lambda: chat.composer() == "half a thought", "the draft")
    chat.editor.keys("A @ca")
    menu = "return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'matches' }).matches)"
    chat.editor.until(lambda: chat.editor.lua(menu) == ["@carol"], "it completes")


def test_a_composer_that_was_left_alone_gets_its_transcript_back_above(chat: Chat) -> None:
    chat.editor.keys("<Esc>:only<CR>")
    chat.editor.until(lambda: windows(chat.editor) == 1, "one window")
    reopen(chat)
    assert windows(chat.editor) == 2
    chat.editor.keys("<Esc><C-w>k")
    assert chat.editor.name() == chat.uri


def test_a_channel_on_two_tabs(chat: Chat) -> None:
    chat.editor.keys("<Esc>:tabnew<CR>")
    reopen(chat)
    chat.ask("@bob hi", "bob heard: hi")
    for _ in range(2):
        chat.editor.wait_for("bob heard: hi")
        chat.editor.keys("<Esc>gt")
    chat.editor.keys(":tabclose<CR>")
    chat.editor.until(lambda: chat.editor.lua("return #vim.api.nvim_list_tabpages()") == 1, "one tab")
    assert windows(chat.editor) == 2
    chat.down()
    chat.ask("@bob again", "bob heard: again")


def test_the_end_stays_in_sight_when_the_size_changes(chat: Chat) -> None:
    chat.ask("@alice !say one\\n\\ntwo\\n\\nthree\\n\\nlast", "last")
    chat.editor.request("nvim_ui_try_resize", 30, 10)
    chat.editor.until(lambda: chat.editor.screen.columns == 30, "the small screen")
    chat.editor.request("nvim_ui_try_resize", 110, 34)
    chat.editor.until(lambda: chat.editor.screen.columns == 110, "the large screen")
    chat.editor.wait_for("@alice !say one")
    assert "last" in chat.editor.screen.text()


def test_a_session_with_two_channels(desk: Desk, chat: Chat) -> None:
    other = desk.chat(editor=chat.editor)
    session = desk.box.folder / "two.vim"
    chat.editor.keys(f"<Esc>:mksession! {session}<CR>")
    chat.editor.until(session.exists, "the session file")
    again = desk.open("-S", str(session))
    again.until(lambda: any("Write below" in line for line in again.buffer(other.uri)), "the channel")
    assert again.lua("return #vim.api.nvim_list_wins()") == 2


def test_a_window_bar_sheds_what_matters_least_first(desk: Desk) -> None:
    editor = desk.connected(size=(300, 34))
    names = ["alice", "bob", "carol"]
    root = str(desk.box.workspace)
    desk.request(editor, "channel/create", name="narrow", members=names, root=root)
    chat = desk.chat(name="narrow", editor=editor)
    chat.ask("@alice !usage 5 100 0.1 EUR !say one", "one")
    chat.up()
    bar = "vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true, winid = 0 }).str"
    folder = editor.lua("return require('sidekicks.text').short_path(...)", root)

    def shown(width: int) -> set[str]:
        editor.lua("vim.cmd('vertical resize ' .. ...)", width)
        parts = {"#narrow": "#narrow", "folder": folder, "alice": "Alice", "carol": "carol", "usage": "5%"}
        text = str(editor.lua(f"return {bar}"))
        return {name for name, part in parts.items() if part in text}

    def fits(width: int, wanted: set[str]) -> None:
        editor.until(lambda: shown(width) == wanted, f"{wanted} in {width} columns")

    editor.keys(":vsplit | enew<CR><C-w>p")
    everything = {"#narrow", "folder", "alice", "carol", "usage"}
    least = len(f" #narrow  {folder}  Alice  bob  carol")
    fits(least + 20, everything)
    fits(least, everything - {"usage"})
    fits(least - 1, everything - {"usage", "folder"})
    fits(18, {"#narrow", "alice"})
    fits(12, {"#narrow"})
