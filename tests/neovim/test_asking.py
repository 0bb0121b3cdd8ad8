"""What agents ask for beside permissions: forms, pages to visit, and the question about an agent that is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.neovim.asking import choosing, listen, offered, run, told, typing
from tests.neovim.desk import Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.neovim.desk import Chat


def test_a_form_is_gone_through_field_by_field(chat: Chat) -> None:
    chat.say("@alice !elicit form Who are you")
    chat.heard("◆ Alice asks: Who are you")
    chat.editor.wait_for(" ◆ Alice asks: Who are you")
    typing(chat.editor, "zoe", "5", "0.25")
    choosing(chat.editor, "no", "green")
    run(chat.editor, "answer")
    chat.heard('"content": {"name": "zoe", "count": 5, "ratio": 0.25, "sure": false, "colour": "green"}')
    chat.gone("◆ Alice asks")


def test_optional_fields_may_be_left_out_and_numbers_must_be_numbers(chat: Chat) -> None:
    chat.say("@alice !elicit form Again")
    chat.heard("◆ Alice asks: Again")
    listen(chat.editor)
    typing(chat.editor, "", "ada", "many", "", "")
    choosing(chat.editor, "leave it out", "leave it out")
    run(chat.editor, "answer")
    chat.heard('elicit form: {"action": "accept", "content": {"name": "ada"}}')
    assert told(chat.editor) == "Sidekicks: Count must be a number."


def test_a_form_that_was_left_stays_open_and_keeps_what_was_given(chat: Chat) -> None:
    chat.say("@alice !elicit form Unsure")
    chat.heard("◆ Alice asks: Unsure")
    chat.editor.lua(
        """local first = true
           vim.ui.input = function(options, done)
             vim.g.default = options.default
             if first then first = false; done('eve') else done(nil) end
           end"""
    )
    run(chat.editor, "answer")
    chat.editor.until(lambda: chat.editor.lua("return vim.g.default") == "3", "the second field, with its default")
    assert "◆ Alice asks: Unsure" in chat.text()
    run(chat.editor, "answer")
    chat.editor.until(lambda: chat.editor.lua("return vim.g.default") == "eve", "what was given before")
    run(chat.editor, "answer decline")
    chat.heard('elicit form: {"action": "decline"}')


def test_a_value_that_is_refused_says_why_and_can_be_given_again(chat: Chat) -> None:
    chat.say("@alice !elicit form Count")
    chat.heard("◆ Alice asks: Count")
    listen(chat.editor)
    typing(chat.editor, "kim", "99", "")
    choosing(chat.editor, "leave it out", "leave it out")
    run(chat.editor, "answer")
    chat.editor.until(lambda: "Count" in told(chat.editor) or "count" in told(chat.editor), "the refusal")
    typing(chat.editor, "kim", "9", "")
    choosing(chat.editor, "leave it out", "leave it out")
    run(chat.editor, "answer")
    chat.heard('"content": {"name": "kim", "count": 9}')


def test_a_page_is_shown_whole_and_opened_only_when_one_says_so(chat: Chat) -> None:
    chat.editor.lua("vim.ui.open = function(url) vim.g.opened = url end")
    chat.say("@alice !elicit url Look there")
    chat.heard("  https://example.com/sign-in?code=1")
    assert chat.editor.lua("return vim.g.opened") is None
    choosing(chat.editor, "Open https://example.com/sign-in?code=1")
    chat.up()
    chat.find("sign-in?code")
    chat.editor.keys("<CR>")
    chat.heard('elicit url: {"action": "accept"}')
    assert chat.editor.lua("return vim.g.opened") == "https://example.com/sign-in?code=1"


def test_what_is_no_web_page_is_not_opened(chat: Chat) -> None:
    code = """local offered
              vim.ui.select = function(items) offered = items end
              require('sidekicks.elicitation').begin({
                requestId = 'x', channelId = 'x', agent = 'alice', mode = 'url', message = 'm', url = 'file:///etc/passwd',
              })
              return offered"""
    assert chat.editor.lua(code) == ["I have been there", "Decline"]


def test_the_actions_of_a_question(chat: Chat) -> None:
    chat.say("@alice !elicit url Go there")
    chat.heard("◆ Alice asks: Go there")
    chat.up()
    chat.find("asks: Go there")
    choosing(chat.editor, "Decline")
    chat.editor.keys("gra")
    chat.heard('elicit url: {"action": "decline"}')
    assert offered(chat.editor) == ["Answer", "Decline"]


def test_a_form_in_a_hidden_channel_is_announced_and_reachable(desk: Desk) -> None:
    hidden = desk.chat("alice")
    editor = hidden.editor
    desk.chat("bob", editor=editor)
    listen(editor)
    slug = hidden.uri.removeprefix("sidekicks://")
    channel = editor.lua("return require('sidekicks.state').find(...).id", slug)
    desk.request(editor, "message/send", channelId=channel, text="@alice !elicit form Far away")
    editor.until(lambda: told(editor) == f"Sidekicks: #{slug}: Alice asks: Far away (:Sidekicks attention)", "the news")
    editor.wait_for("◆ 1 elsewhere")
    choosing(editor, "Far away")
    run(editor, "attention")
    editor.until(lambda: editor.name() == hidden.uri, "the question's channel")
    assert ":Sidekicks answer" in editor.lua("return vim.api.nvim_get_current_line()")
    run(editor, "answer decline")
    hidden.heard('elicit form: {"action": "decline"}')


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Desk]:
    """A bridge that asks after half a second of silence."""
    desk = Desk(BridgeSandbox(tmp_path, {"alice": "", "bob": ""}, limits={"turnSilence": "500ms"}))
    yield desk
    desk.close()


@pytest.mark.parametrize(
    ("option", "end"),
    [("1", "\nback"), ("2", "■ cancelled"), ("3", "■ cancelled")],
    ids=["wait", "stop", "restart"],
)
def test_a_silent_turn_asks_what_to_do(impatient: Desk, option: str, end: str) -> None:
    chat = impatient.chat(name="general")
    chat.say("@alice !hold wake !say back")
    text = chat.heard("◆ @alice has said nothing for ")
    assert "  1 Wait\n  2 Stop the turn\n  3 Stop the turn and restart the agent" in text
    chat.ripe()
    chat.up()
    chat.editor.keys("?1 Wait<CR>")
    chat.editor.keys(option)
    chat.heard("◆ " + ("Wait" if option == "1" else "Stop the turn"))
    if option == "1":
        impatient.box.gates.open("wake")
    chat.heard(end)
