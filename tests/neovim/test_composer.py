"""The composer: sending, completion, the route while typing, problems, drafts, history, attachments, other folders."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from tests.neovim.asking import listen, run, told
from tests.neovim.desk import Chat, Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.neovim.editor import Editor

MENU = "return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'matches' }).matches)"
BELOW = """local buf, said = vim.api.nvim_get_current_buf(), {}
           for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
             for _, line in ipairs(mark[4].virt_lines or {}) do
               said[#said + 1] = table.concat(vim.tbl_map(function(chunk) return chunk[1] end, line))
             end
           end
           return table.concat(said, '\\n')"""


def menu(editor: Editor, *words: str) -> None:
    """Wait until the completion menu offers exactly these words."""
    editor.until(lambda: editor.lua(MENU) == list(words), f"the menu with {words}")


def below(chat: Chat, text: str) -> str:
    """Wait until the lines below the composer's text say something."""
    chat.editor.until(lambda: text in chat.editor.lua(BELOW), f"{text!r} below the composer")
    return str(chat.editor.lua(BELOW))


@pytest.mark.parametrize("keys", ["<C-s>", "<Esc><CR>", "<Esc><C-s>", "<Esc>:write<CR>"])
def test_sending(chat: Chat, keys: str) -> None:
    chat.type("@bob first line\nsecond line")
    chat.editor.keys(keys)
    chat.heard("bob heard: first line")
    assert "@bob first line\nsecond line" in chat.text()
    assert chat.composer() == ""


def test_mentions_complete_while_typing(chat: Chat) -> None:
    chat.type("hello @")
    menu(chat.editor, "@alice", "@bob", "@carol")
    chat.type("b")
    menu(chat.editor, "@bob")
    chat.editor.keys("<C-n><C-y>")
    assert chat.composer() == "hello @bob"


def test_what_is_typed_before_the_answer_comes_counts(chat: Chat) -> None:
    """Neovim asks when `@` is typed; `b` follows while the bridge still thinks."""
    chat.editor.lua(
        """vim.api.nvim_create_autocmd('LspRequest', {
             callback = function(event)
               local request = event.data.request
               if request.type == 'pending' and request.method == 'textDocument/completion' then
                 vim.api.nvim_input('b')
                 return true
               end
             end,
           })"""
    )
    chat.type("@")
    menu(chat.editor, "@bob")
    assert chat.composer() == "@b"


def test_mentions_complete_within_a_burst(chat: Chat) -> None:
    chat.type("hello @b")
    menu(chat.editor, "@bob")


def test_the_menu_comes_back_after_a_slip(chat: Chat) -> None:
    chat.type("@")
    menu(chat.editor, "@alice", "@bob", "@carol")
    chat.type("x")
    chat.editor.until(lambda: not chat.editor.lua("return vim.fn.pumvisible() == 1"), "no menu")
    chat.editor.keys("<BS>car")
    menu(chat.editor, "@carol")


def test_commands_complete_at_the_start(chat: Chat) -> None:
    chat.ask("@alice hello", "Alice\nalice heard: hello")
    chat.ask("@bob hello", "bob heard: hello")
    chat.type("/")
    menu(chat.editor, "/alice:plan", "/alice:review", "/bob:research")
    chat.editor.keys("<C-e><C-u>@bob /")
    menu(chat.editor, "/research")


def test_omnifunc_completes(desk: Desk) -> None:
    chat = desk.chat(settings={"completion": "none"})
    chat.type("@c")
    chat.editor.keys("<C-x><C-o>")
    chat.editor.until(lambda: chat.composer() == "@carol" or chat.editor.lua(MENU) == ["@carol"], "carol")


def test_what_was_typed_before_the_bridge_was_there_completes_then(own_desk: Desk) -> None:
    editor = own_desk.connected()
    chat = own_desk.chat(name="general", editor=editor)
    editor.keys("<Esc>:Sidekicks restart<CR>")
    editor.until(lambda: editor.lua("return require('sidekicks.client').connection().state") != "ready", "no bridge")
    chat.down()
    chat.type("@")
    menu(editor, "@alice", "@bob")


def test_the_route_is_shown_while_typing(chat: Chat) -> None:
    chat.ask("@alice hello", "alice heard: hello")
    chat.type("@bob, @carol look")
    text = below(chat, "then carol")
    assert text.startswith("→ bob (2 unseen), then carol (will be invited")
    chat.editor.wait_for("→ bob (2 unseen), then carol")


def test_a_slip_is_a_diagnostic_with_a_fix(chat: Chat) -> None:
    chat.type("@bbob look")
    below(chat, "gra: change to @bob")
    chat.editor.until(lambda: chat.editor.lua("return #vim.diagnostic.get(0)") == 1, "the diagnostic")
    chat.editor.lua("vim.ui.select = function(items, _, choose) choose(items[1]) end")
    chat.editor.keys("<Esc>0gra")
    chat.editor.until(lambda: chat.composer() == "@bob look", "the fix")
    chat.editor.until(lambda: chat.editor.lua("return #vim.diagnostic.get(0)") == 0, "no diagnostic")


def test_a_draft_is_kept_over_restarts(desk: Desk, chat: Chat) -> None:
    chat.type("half a thought\nand its rest")
    chat.editor.keys("<Esc>:qall<CR>")
    chat.editor.process.wait(10)
    desk.editors.remove(chat.editor)
    chat.editor.close()
    again = desk.chat(name=chat.uri.removeprefix("sidekicks://"))
    again.editor.until(lambda: again.composer() == "half a thought\nand its rest", "the draft")


def test_history_brings_back_what_was_sent(chat: Chat) -> None:
    chat.ask("@bob one", "bob heard: one")
    chat.ask("@bob two", "bob heard: two")
    chat.type("being written")
    chat.editor.keys("<C-p>")
    chat.editor.until(lambda: chat.composer() == "@bob two")
    chat.editor.keys("<C-p>")
    chat.editor.until(lambda: chat.composer() == "@bob one")
    chat.editor.keys("<C-n><C-n>")
    chat.editor.until(lambda: chat.composer() == "being written")


def test_cancelling_with_a_key(chat: Chat) -> None:
    chat.say("@alice !say begun !hang")
    chat.heard("Alice\nbegun")
    chat.editor.keys("<Esc>")
    chat.editor.until(lambda: chat.editor.mode() == "n", "normal mode")
    chat.editor.keys("<C-c>")
    chat.heard("■ cancelled")


def test_a_queued_message_is_shown_and_can_be_taken_back(chat: Chat) -> None:
    chat.say("@alice !say begun !hang")
    chat.heard("Alice\nbegun")
    chat.say("@bob what do you think")
    chat.heard("You (queued)\n@bob what do you think")
    chat.heard("  bob is next: after Alice")
    chat.up()
    chat.find("what do you think")
    chat.editor.keys("x")
    chat.gone("what do you think")
    chat.editor.until(lambda: chat.composer() == "@bob what do you think", "it is in the composer again")


def test_lines_go_along_as_an_attachment(desk: Desk, chat: Chat) -> None:
    (desk.box.workspace / "code.py").write_text("a = 1\nb = 2\nc = 3\n", encoding="utf-8")
    desk.box.begin()
    chat.editor.keys("<Esc>:topleft vnew code.py<CR>2GVj:Sidekicks add<CR>")
    chat.editor.keys("<C-w>b")
    chat.editor.until(lambda: chat.editor.name().endswith("/compose"), "the composer")
    below(chat, "📎 code.py:2-3")
    chat.editor.keys("A")
    chat.ask("@bob look", "bob heard")
    assert "📎 code.py:2-3" in chat.text()
    block = next(block for block in desk.box.blocks("bob")[-1] if block["type"] != "text")
    assert block["resource"]["text"] == "b = 2\nc = 3\n"
    assert "📎" not in chat.editor.lua(BELOW)


def test_an_unsaved_buffer_goes_along_with_its_text(desk: Desk, chat: Chat) -> None:
    chat.editor.keys("<Esc>:topleft vnew<CR>inot saved<Esc>:Sidekicks add<CR>")
    chat.editor.keys("<C-w>b")
    below(chat, "📎 unnamed buffer")
    chat.editor.keys(":Sidekicks drop<CR>")
    chat.editor.until(lambda: "📎" not in chat.editor.lua(BELOW), "nothing goes along")
    assert desk.box is not None


def test_a_channel_of_another_folder_asks_before_anything_is_sent(desk: Desk, chat: Chat) -> None:
    slug = chat.uri.removeprefix("sidekicks://")
    there = desk.box.folder / "elsewhere"
    there.mkdir(exist_ok=True)
    other = desk.chat(name=slug, editor=desk.connected(cwd=there))
    other.editor.wait_for("! This channel works in")
    other.editor.lua(
        """vim.ui.select = function(items, options, choose)
             vim.g.offered = vim.tbl_map(options.format_item, items)
             choose(nil)
           end"""
    )
    other.type("@bob where are you")
    other.editor.keys("<C-s>")
    other.editor.until(lambda: other.editor.lua("return vim.g.offered"), "the question")
    assert [word.split(":")[0] for word in other.editor.lua("return vim.g.offered")] == [
        "Make a channel for this folder",
        "Work there",
        "Make it work here; its agents start fresh",
    ]
    assert other.composer() == "@bob where are you"
    other.editor.lua("vim.ui.select = function(items, _, choose) choose(items[1]) end")
    other.editor.keys("<C-s>")
    here = Chat(other.editor, "elsewhere")
    here.heard("bob heard: where are you")
    assert "where are you" not in other.text()


def test_the_composer_grows_with_its_text(chat: Chat) -> None:
    height = "return vim.api.nvim_win_get_height(0)"
    before = chat.editor.lua(height)
    chat.type("1\n2\n3\n4\n5\n6\n7")
    chat.editor.until(lambda: chat.editor.lua(height) > before, "a higher window")


def test_agents_complete_in_ordinary_buffers_if_asked_for(desk: Desk) -> None:
    editor = desk.open(settings={"complete_in": ["markdown"]})
    editor.keys(":edit notes-about.md<CR>")
    editor.until(lambda: editor.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 1, "the client")
    editor.keys("iask @")
    menu(editor, "@alice", "@bob", "@carol")
    editor.keys("<Esc>:edit other.txt<CR>")
    assert editor.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 0


def test_two_editors_share_a_draft(desk: Desk, chat: Chat) -> None:
    other = desk.chat(name=chat.uri.removeprefix("sidekicks://"), editor=desk.connected())
    chat.type("written here")
    other.editor.until(lambda: other.composer() == "written here", "the draft")
    other.type(", and there")
    chat.editor.until(lambda: chat.composer() == "written here, and there", "the longer draft")


PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + bytes(4)  # nobody here looks further
).decode()


@pytest.fixture
def painter(tmp_path: Path) -> Iterator[Desk]:
    """A bridge with an agent that takes pictures and one that does not."""
    desk = Desk(BridgeSandbox(tmp_path, {"painter": "--caps image", "writer": ""}))
    yield desk
    desk.close()


def test_a_picture_file_goes_along_as_a_picture_where_that_is_taken(painter: Desk) -> None:
    (painter.box.workspace / "a shot.png").write_bytes(base64.b64decode(PIXEL))
    chat = painter.chat(name="general")
    chat.ask("@painter hello", "painter heard: hello")
    run(chat.editor, "add a shot.png")
    below(chat, "📎 a shot.png")
    painter.box.begin()
    chat.editor.keys("A")
    chat.ask("@painter @writer look", "writer heard: look")
    assert [block["type"] for block in painter.box.blocks("painter")[-1]][-1] == "image"
    assert [block["type"] for block in painter.box.blocks("writer")[-1]][-1] == "resource_link"
    listen(chat.editor)
    run(chat.editor, "add missing.png")
    chat.editor.until(lambda: told(chat.editor) == "Sidekicks: missing.png cannot be read.", "the refusal")


def test_a_picture_is_pasted_from_the_clipboard(painter: Desk, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "wl-paste"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho {PIXEL} | base64 -d\n", encoding="utf-8")
    program.chmod(0o755)
    chat = painter.chat(name="general")
    listen(chat.editor)
    chat.editor.lua("vim.env.WAYLAND_DISPLAY = 'x'; vim.env.PATH = ... .. ':' .. vim.env.PATH", str(program.parent))
    run(chat.editor, "paste")
    below(chat, "📎 picture ")
    chat.editor.keys("A")
    chat.ask("@painter what is it", "painter heard: what is it")
    image = painter.box.blocks("painter")[-1][-1]
    assert (image["type"], image["data"]) == ("image", PIXEL)
    program.write_text("#!/bin/sh\necho only text\n", encoding="utf-8")
    run(chat.editor, "paste")
    chat.editor.until(lambda: "no picture in the clipboard" in told(chat.editor), "what is missing")


def test_another_engine_that_is_loaded_late_is_left_alone(desk: Desk) -> None:
    """Plugin managers load engines as one begins to write."""
    chat = desk.chat("bob")
    chat.type("@")
    menu(chat.editor, "@bob", "@alice", "@carol")
    chat.editor.keys("<C-e><Esc>cc<Esc>")
    chat.editor.lua("package.loaded['blink.cmp'] = {}")
    chat.editor.keys("A@car")
    below(chat, "")
    chat.editor.until(lambda: chat.composer() == "@car", "what is typed")
    own = """return #vim.tbl_filter(function(command) return (command.group_name or ''):find('^nvim.lsp') ~= nil end,
                    vim.api.nvim_get_autocmds({ event = 'InsertCharPre', buffer = 0 }))"""
    chat.editor.until(lambda: chat.editor.lua(own) == 0, "Neovim's own menu is off")
    chat.editor.keys("<C-x><C-o>")
    chat.editor.until(
        lambda: chat.composer() == "@carol" or chat.editor.lua(MENU) == ["@carol"], "asked for, it is there"
    )
