"""Text of agents is data: it is shown harmless, and one message never reaches into the next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.neovim.test_rendering import marks

if TYPE_CHECKING:
    from tests.neovim.desk import Chat, Desk


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\\e[31mred\\e[0m and \\e]0;title", "red and ␛]0;title"),
        ("a\x00b\x07c", "a␀b␇c"),
        ("left\u202eright\u2066x", "left‹U+202E›right‹U+2066›x"),
        ("zero\u200bwidth\ufeff", "zero‹U+200B›width‹U+FEFF›"),
        ("c1\x9b31m", "c1‹9B›31m"),
        ("line\u2028end", "line\nend"),
    ],
)
def test_controls_are_shown_and_do_nothing(chat: Chat, sent: str, shown: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": sent.replace("\\e", "\x1b")}}
    chat.editor.lua(
        "require('sidekicks.composer').set(require('sidekicks.target').room(), ...)",
        f"@alice !update {json.dumps(update)}",
    )
    chat.editor.keys("<C-s>")
    chat.heard(f"Alice\n{shown}")


def test_a_title_of_a_tool_call_stays_on_its_line(chat: Chat) -> None:
    chat.ask("@alice !bad newline-title", "\nafter")
    assert "✓ rm -rf / evil" in chat.lines()


def test_a_very_long_line_is_broken(chat: Chat) -> None:
    chat.ask("@alice !big 50000 !say \\nend", "end")
    assert max(len(line) for line in chat.lines()) <= 1000
    assert "".join(chat.lines()).count("x") >= 50000


def test_breaking_a_long_line_keeps_every_byte_and_no_character_apart(desk: Desk) -> None:
    editor = desk.open()
    code = """local value = ...
              local lines, start, rows = require('sidekicks.text').lines(value)
              return { table.concat(lines), start, rows, math.max(unpack(vim.tbl_map(string.len, lines))) }"""
    for value in ("x" * 100_000, "日本語" * 5_000, "word " * 5_000, "é" * 499 + "x" * 4_000):
        text, start, rows, longest = editor.lua(code, value)
        assert (text, rows) == (value, 1)
        assert value.encode()[start - 1 :].decode()
        assert longest <= 1000


def test_invalid_utf8_is_replaced(desk: Desk) -> None:
    """JSON that reaches the plugin holds none; its own functions must not rely on that."""
    editor = desk.open()
    safe = "return require('sidekicks.text').safe(...)"
    for broken, whole in [(b"a\xffb", "a�b"), (b"\xe2\x82", "��"), (b"\xed\xa0\x80", "���"), (b"\xc0\xaf", "��")]:
        assert editor.lua(safe, broken.decode("utf-8", "surrogateescape")) == whole
    assert editor.lua(safe, "äöü 日本 🦊 👨‍👩‍👧") == "äöü 日本 🦊 👨‍👩‍👧"


def test_what_is_typed_is_sent_as_valid_utf8(chat: Chat) -> None:
    chat.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '@bob a\\255b' })")
    chat.editor.keys("<C-s>")
    chat.heard("bob heard: a�b")


def test_an_unclosed_code_block_ends_with_its_message(chat: Chat) -> None:
    chat.ask("@alice !say ```lua\\nlocal x = 1", "\nlocal x = 1")
    chat.ask("@alice !say local **y** = 2", "local **y** = 2")
    groups = "sidekicks.markdown"
    chat.editor.until(
        lambda: any(text == "local" and group == "@keyword.lua" for text, group in marks(chat, groups)), "code"
    )
    chat.editor.until(
        lambda: any(group == "@markup.strong.markdown_inline" for _, group in marks(chat, groups)), "text"
    )
    assert [text for text, group in marks(chat, groups) if group == "@keyword.lua"] == ["local"]


def test_text_cannot_reach_the_statusline(chat: Chat) -> None:
    chat.say("@alice !permit %{system('touch\\spwned')}%#Error# ids=allow,reject")
    chat.heard("asks: %{system")
    chat.editor.wait_for("◆ Alice asks: %{system('touch pwned')}%#Error#")


def test_nothing_in_a_transcript_is_a_modeline(chat: Chat) -> None:
    chat.ask("@alice !say vim: set modifiable :", "vim: set modifiable :")
    assert chat.editor.lua("return vim.bo[vim.fn.bufnr(...)].modifiable", chat.uri) is False
