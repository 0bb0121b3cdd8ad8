"""Permission cards: what they show, what answers them and what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.neovim.desk import Chat, Desk


def ask(chat: Chat, title: str, ids: str = "allow,always,reject") -> None:
    """Let alice ask; the card has been there long enough to be answered."""
    chat.say(f"@alice !permit {title} ids={ids}")
    chat.heard(f"asks: {title}")
    chat.ripe()


def test_a_digit_on_the_card_answers(chat: Chat) -> None:
    ask(chat, "make install")
    text = chat.text()
    assert "◆ Alice asks: make install\n  1 Allow\n  2 Always\n  3 Reject" in text
    chat.up()
    chat.find("asks: make install")
    chat.editor.keys("1")
    chat.heard("permit make install: allow")
    assert "◆ Allow: make install" in chat.text()
    assert "1 Allow" not in chat.text()


def test_a_digit_elsewhere_is_a_count(chat: Chat) -> None:
    ask(chat, "make count")
    chat.up()
    chat.editor.keys("gg2j")
    assert chat.editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 3
    assert "1 Allow" in chat.text()
    chat.editor.keys(":Sidekicks reject<CR>")
    chat.heard("permit make count: reject")


def test_a_card_that_has_just_come_is_inert(chat: Chat) -> None:
    chat.editor.lua("vim.g.told = ''; vim.notify = function(text) vim.g.told = text end")
    chat.say("@alice !permit too soon ids=allow,reject")
    chat.heard("asks: too soon")
    chat.editor.lua("require('sidekicks.permission').decide('allow', false)")
    assert "answer again to mean it" in chat.editor.lua("return vim.g.told")
    assert "1 Allow" in chat.text()
    chat.ripe()
    chat.editor.keys("<Esc>:Sidekicks allow<CR>")
    chat.heard("permit too soon: allow")


def test_typing_in_the_composer_answers_nothing(chat: Chat) -> None:
    ask(chat, "careful")
    chat.type("1 2 3 yes y a")
    assert chat.composer() == "1 2 3 yes y a"
    chat.editor.keys("<Esc>")
    assert "1 Allow" in chat.text()
    chat.editor.keys(":Sidekicks allow always<CR>")
    chat.heard("permit careful: always")


def test_plug_maps_answer(chat: Chat) -> None:
    ask(chat, "mapped")
    chat.editor.lua("vim.keymap.set('n', 'Q', '<Plug>(SidekicksReject)')")
    chat.editor.keys("<Esc>Q")
    chat.heard("permit mapped: reject")


def test_the_actions_of_the_card_answer(chat: Chat) -> None:
    ask(chat, "acted")
    chat.editor.lua(
        """vim.ui.select = function(items, options, choose)
             vim.g.offered = vim.tbl_map(options.format_item, items)
             choose(items[2])
           end"""
    )
    chat.up()
    chat.find("asks: acted")
    chat.editor.keys("gra")
    chat.heard("permit acted: always")
    assert chat.editor.lua("return vim.g.offered")[:3] == ["Allow", "Always", "Reject"]


def test_a_card_shows_the_change_it_asks_for(chat: Chat) -> None:
    chat.say("@alice !permit-diff plan.md|old\\n|new\\n")
    text = chat.heard("asks: Edit plan.md")
    assert "  -old\n  +new\n  1 Allow" in text
    chat.ripe()
    chat.editor.keys("<Esc>:Sidekicks allow<CR>")
    chat.heard("permit Edit plan.md: allow")


def test_a_question_in_a_hidden_channel_is_announced_and_reachable(desk: Desk) -> None:
    hidden = desk.chat("alice")
    editor = hidden.editor
    shown = desk.chat("bob", editor=editor)
    editor.lua("vim.g.told = ''; vim.notify = function(text) vim.g.told = text end")
    channel = editor.lua("return require('sidekicks.state').find(...).id", hidden.uri.removeprefix("sidekicks://"))
    desk.request(editor, "message/send", channelId=channel, text="@alice !permit far away ids=allow,reject")
    editor.until(lambda: "asks: far away" in editor.lua("return vim.g.told"), "the announcement")
    slug = hidden.uri.removeprefix("sidekicks://")
    assert editor.lua("return vim.g.told") == f"Sidekicks: #{slug}: Alice asks: far away (:Sidekicks attention)"
    editor.wait_for("◆ 1 elsewhere")
    assert shown.composer() == ""
    editor.lua("vim.ui.select = function(items, _, choose) choose(items[1]) end")
    editor.keys("<Esc>:Sidekicks attention<CR>")
    editor.until(lambda: editor.name() == hidden.uri, "the question's channel")
    hidden.ripe()
    editor.keys("1")
    hidden.heard("permit far away: allow")


def test_an_answer_from_another_editor_closes_the_card(desk: Desk) -> None:
    one = desk.chat("alice")
    two = desk.chat(name=one.uri.removeprefix("sidekicks://"), editor=desk.connected())
    ask(one, "shared")
    two.heard("1 Allow")
    two.ripe()
    two.editor.keys("<Esc>:Sidekicks reject<CR>")
    one.heard("permit shared: reject")
    one.gone("1 Allow")
