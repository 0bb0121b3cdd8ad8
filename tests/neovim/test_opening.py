"""Opening channels: by name, by picking, by `:edit`; the composer is entered and nothing wants a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.neovim.desk import Chat

if TYPE_CHECKING:
    from tests.neovim.desk import Desk


def test_a_channel_opens_with_its_composer_entered(chat: Chat) -> None:
    chat.editor.wait_for("Write below. Here: @alice, @bob")
    assert chat.editor.name() == f"{chat.uri}/compose"
    assert chat.lines()[0].startswith("#room-")


def test_what_is_sent_is_answered(chat: Chat) -> None:
    chat.ask("@bob hello there", "bob heard: hello there")
    lines = chat.lines()
    assert lines[lines.index("You") + 1] == "@bob hello there"
    assert lines[lines.index("bob") + 1] == "bob heard: hello there"


def test_a_direct_conversation_opens_by_its_agent(desk: Desk) -> None:
    chat = desk.chat(name="@carol")
    chat.ask("just you", "carol heard: just you")


def test_edit_opens_a_channel_with_its_composer(desk: Desk, chat: Chat) -> None:
    slug = chat.uri.removeprefix("sidekicks://")
    editor = desk.open()
    editor.keys(f":edit sidekicks://{slug}<CR>")
    editor.until(lambda: editor.name() == f"{chat.uri}/compose", "the composer")
    editor.wait_for("Write below.")
    assert editor.mode() == "n"


def test_picking_shows_what_waits_first(desk: Desk) -> None:
    quiet, loud = desk.chat("bob"), desk.chat("bob")
    loud.say("@bob !permit make it ids=allow,reject")
    loud.heard("asks: make it")
    quiet.editor.lua(
        """vim.ui.select = function(items, options, choose)
             vim.g.offered = vim.tbl_map(options.format_item, items)
             choose(items[1])
           end"""
    )
    quiet.editor.keys("<Esc>:Sidekicks<CR>")
    quiet.editor.until(lambda: quiet.editor.name() == f"{loud.uri}/compose", "the channel that waits")
    offered = quiet.editor.lua("return vim.g.offered")
    slug = loud.uri.removeprefix("sidekicks://")
    assert offered[0] == f"#{slug}  ◆ 1 waiting"
    assert "@carol  talk to it alone" in offered or "@carol" in offered
    loud.editor.keys("<Esc>:Sidekicks cancel<CR>")
    loud.quiet()


def test_an_unknown_channel_is_offered_to_be_made(desk: Desk) -> None:
    editor = desk.connected()
    editor.lua("vim.ui.select = function(items, _, choose) vim.g.offered = items[1]; choose(items[1], 1) end")
    editor.keys(":Sidekicks #brand-new<CR>")
    editor.until(lambda: editor.name() == "sidekicks://brand-new/compose", "the new channel")
    assert editor.lua("return vim.g.offered") == "Make the channel #brand-new"


def test_closing_one_window_closes_both(chat: Chat) -> None:
    editor = chat.editor
    editor.keys("<Esc>:topleft vnew<CR>")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 3
    editor.keys("<C-w>b:quit<CR>")
    editor.until(lambda: editor.lua("return #vim.api.nvim_list_wins()") == 1, "one window")


def test_a_channel_opens_beside_what_is_edited(desk: Desk) -> None:
    (desk.box.workspace / "edited.txt").write_text("edited\n", encoding="utf-8")
    editor = desk.connected()
    editor.keys(":edit edited.txt<CR>")
    chat = desk.chat(editor=editor)
    assert "edited" in editor.screen.text()
    editor.keys("<Esc><C-w>h")
    assert editor.name().endswith("edited.txt")
    editor.keys(f":Sidekicks #{chat.uri.removeprefix('sidekicks://')}<CR>")
    editor.until(lambda: editor.mode() == "i", "the composer that is there already")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 3


def test_a_session_brings_the_channel_back(desk: Desk, chat: Chat) -> None:
    chat.ask("@bob remember me", "bob heard: remember me")
    session = desk.box.folder / "session.vim"
    chat.editor.keys(f"<Esc>:mksession! {session}<CR>")
    chat.editor.until(session.exists, "the session file")
    again = Chat(desk.open("-S", str(session)), chat.uri.removeprefix("sidekicks://"))
    again.heard("bob heard: remember me")
    again.editor.until(lambda: again.editor.lua("return vim.bo.filetype") == "sidekicks-compose", "the composer")
    again.editor.keys("i")
    again.ask("@bob still here", "bob heard: still here")
