"""What the transcript shows of every part of a message, and how it changes while an agent writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.neovim.desk import Chat, Desk


def closed_folds(chat: Chat) -> list[str]:
    """The first rows of the closed folds of the transcript's window."""
    found: list[str] = chat.editor.lua(
        """local win = vim.fn.bufwinid(...)
           return vim.api.nvim_win_call(win, function()
             local rows, at = {}, 1
             while at <= vim.fn.line('$') do
               local stop = vim.fn.foldclosedend(at)
               if stop ~= -1 then rows[#rows + 1] = vim.fn.getline(at); at = stop end
               at = at + 1
             end
             return rows
           end)""",
        chat.uri,
    )
    return found


def marks(chat: Chat, namespace: str) -> list[list[Any]]:
    """The text that each extmark of the transcript covers on its first row, and its group."""
    found: list[list[Any]] = chat.editor.lua(
        """local uri, name = ...
           local buf, found = vim.fn.bufnr(uri), {}
           local space = vim.api.nvim_create_namespace(name)
           for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true })) do
             local line = vim.api.nvim_buf_get_lines(buf, mark[2], mark[2] + 1, false)[1]
             local stop = mark[4].end_row == mark[2] and mark[4].end_col or #line
             found[#found + 1] = { line:sub(mark[3] + 1, stop), mark[4].hl_group or '' }
           end
           return found""",
        chat.uri,
        namespace,
    )
    return found


def test_who_speaks_and_when(chat: Chat) -> None:
    chat.ask("@alice hello", "alice heard: hello")
    assert "🦊 Alice" in chat.lines()
    rows = chat.editor.screen.text().splitlines()
    header = next(row for row in rows if row.startswith("🦊 Alice"))
    assert re.search(r"   \d\d:\d\d( · \d+ s)?$", header), (
        "the time stands at the right edge, after it how long it took"
    )
    assert [group for text, group in marks(chat, "sidekicks") if text == "You" and group] == ["SidekicksUser"]


def test_markdown_is_highlighted_block_by_block(chat: Chat) -> None:
    chat.ask("@alice !say some **bold** word.\\n\\n```lua\\nlocal x = 1\\n```\\n\\nlast", "last")
    wanted = [["bold", "@markup.strong.markdown_inline"], ["local", "@keyword.lua"]]
    chat.editor.until(
        lambda: all(
            any(mark[0].strip("*") == text and mark[1] == group for mark in marks(chat, "sidekicks.markdown"))
            for text, group in wanted
        ),
        "the highlights",
    )


MARKED = [
    "# Title",
    "Title\n=====",
    "Title\n-----",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "1) item",
    "> quote",
    "---",
    "***",
    "|a|b|\n|-|-|\n|1|2|",
    "text\n\n    code",
    "text\n\n\tcode",
    "```\ncode\n```",
    "~~~\ncode\n~~~",
    "some *italic* word",
    "some __bold__ word",
    "some ~~gone~~ word",
    "some `code` word",
    "a [link](x)",
    "an ![image](x)",
    "<https://example.org>",
    "a &lt; b",
    "a \\* b",
    "* item\n  12. inner",
]
PLAIN = (
    "Nothing but words, numbers like 42 and marks: (so-called) 'prose'; isn't it? «Да», yes!\nA second line / the last."
)


def test_whatever_markdown_marks_is_highlighted_and_prose_is_not_parsed(chat: Chat) -> None:
    code = """local source = ...
              local highlight = require('sidekicks.highlight')
              local buf = vim.api.nvim_create_buf(false, true)
              local lines = vim.split(source, '\\n', { plain = true })
              vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
              local parse, parsed = vim.treesitter.get_string_parser, 0
              vim.treesitter.get_string_parser = function(...) parsed = parsed + 1 return parse(...) end
              highlight.draw(buf, 0, lines)
              vim.treesitter.get_string_parser = parse
              return { parsed, #vim.api.nvim_buf_get_extmarks(buf, highlight.namespace, 0, -1, {}) }"""
    assert chat.editor.lua(code, PLAIN) == [0, 0]
    for source in MARKED:
        parsed, marks_drawn = chat.editor.lua(code, source)
        assert parsed == 1, source
        assert marks_drawn > 0, source


def test_thoughts_are_folded(chat: Chat) -> None:
    chat.ask("@alice !think First I look.\\nThen I write. !say Done.", "\nDone.")
    assert "∴ First I look." in chat.lines()
    assert "  Then I write." in chat.lines()
    assert closed_folds(chat) == ["∴ First I look."]


def test_a_thought_that_grows_stays_folded_or_open(desk: Desk, chat: Chat) -> None:
    chat.say("@alice !think First.\\nThen !hold more !think \\smore. !hold open !think \\sAnd more.\\nLast. !say Done.")
    chat.heard("  Then")
    desk.box.gates.open("more")
    chat.heard("  Then more.")
    assert closed_folds(chat) == ["∴ First."]
    chat.editor.wait_for("∴ First.  ⋯ 1")
    chat.up()
    chat.find("∴ First.")
    chat.editor.keys("zo")
    desk.box.gates.open("open")
    chat.heard("  Last.\n\nDone.")
    assert closed_folds(chat) == []


def test_a_tool_call_shows_status_places_and_change(desk: Desk, chat: Chat) -> None:
    notes = desk.box.workspace / "notes.md"
    notes.write_text("one\nTWO\nthree\n", encoding="utf-8")
    chat.ask(
        "@alice !tool read Look at it | notes.md:2 !diff notes.md|one\\ntwo\\nthree\\n|one\\nTWO\\nthree\\n",
        "✓ Edit notes.md",
    )
    text = chat.text()
    assert "✓ Look at it  notes.md:2" in text
    assert "✓ Edit notes.md  +1 −1" in text
    assert "  -two\n  +TWO" in text
    assert closed_folds(chat) == ["✓ Look at it  notes.md:2", "✓ Edit notes.md  +1 −1"]
    chat.editor.wait_for("✓ Edit notes.md  +1 −1  ⋯ 6")
    chat.up()
    chat.find("Edit notes.md")
    chat.editor.keys("zo")
    chat.find("+TWO")
    chat.editor.keys("gd")
    chat.editor.until(lambda: chat.editor.name() == str(notes), "the file")
    assert chat.editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 2


def test_a_failed_tool_call_stays_open(chat: Chat) -> None:
    chat.ask("@alice !tool-failed execute make test", "✗ make test")
    assert "  make test: failed" in chat.lines()
    assert closed_folds(chat) == []


def test_an_opened_fold_stays_open_when_its_call_goes_on(desk: Desk, chat: Chat) -> None:
    chat.say("@alice !permit-busy run ids=allow,reject !say after")
    chat.heard("asks: run")
    chat.heard("working")
    assert closed_folds(chat) == ["◌ run"]
    chat.up()
    chat.find("◌ run")
    chat.ripe()
    chat.editor.keys("zo:Sidekicks allow<CR>")
    chat.heard("after")
    chat.editor.until(lambda: chat.editor.lua("return vim.fn.foldclosed('.')") == -1)
    assert desk.box is not None


def test_a_plan_is_updated_in_place(desk: Desk, chat: Chat) -> None:
    chat.say("@alice !plan >read;write !hold plan !plan +read;>write !say Done.")
    chat.heard("▸ read")
    desk.box.gates.open("plan")
    chat.heard("\nDone.")
    assert "☑ read\n▸ write\n\nDone." in chat.text()
    assert "▸ read" not in chat.text()


def test_usage_is_shown_with_the_members(chat: Chat) -> None:
    chat.ask("@alice !usage 53000 200000 0.25 USD !say counted", "counted")
    chat.editor.wait_for("53.0k/200.0k (26%) 0.25 USD")


def test_how_a_turn_ended_is_shown_if_it_says_something(chat: Chat) -> None:
    text = chat.ask("@alice !say cut short !stop max_tokens", "■ stopped at its token limit; ask it to go on")
    assert text.count("■") == 1


def test_a_failure_says_why_and_can_be_retried(chat: Chat) -> None:
    chat.ask("@alice !error -32001 no quota left", "↻ retry: R here, or :Sidekicks retry")
    assert "no quota left" in chat.text()
    chat.up()
    chat.find("(code -32001)")
    chat.editor.keys("R")
    chat.editor.until(lambda: chat.text().count("no quota left") == 3, "the second try")


def test_notices_of_the_bridge_have_no_speaker(chat: Chat) -> None:
    chat.ask("@carol hello", "carol heard: hello")
    assert any(line.startswith("• ") and "carol" in line for line in chat.lines())


def test_streaming_follows_only_from_the_last_line(desk: Desk, chat: Chat) -> None:
    chat.say("@alice !say one\\n !hold first !say two\\n !hold second !say three")
    chat.heard("one")
    desk.box.gates.open("first")
    chat.editor.wait_for("two")
    chat.up()
    chat.editor.keys("gg")
    desk.box.gates.open("second")
    chat.heard("three")
    assert chat.editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 1


def test_older_messages_come_when_the_top_is_reached(desk: Desk) -> None:
    first = desk.chat("bob")
    for number in range(6):
        first.ask(f"@bob number {number}", f"bob heard: number {number}")
    chat = desk.chat(name=first.uri.removeprefix("sidekicks://"), editor=desk.connected(settings={"history": 4}))
    chat.heard("number 5")
    # so few lines do not fill the window, so the older ones come by themselves, page by page
    text = chat.heard("number 0")
    assert "▲ earlier messages" not in text
    assert [n for n in range(6) if f"bob heard: number {n}" in text] == list(range(6))
    assert text.index("bob heard: number 0") < text.index("bob heard: number 5")


def test_unread_is_counted_until_it_was_seen(desk: Desk) -> None:
    writer, reader = desk.chat("bob"), desk.connected()
    writer.editor.keys("<Esc>:Sidekicks close<CR>")
    writer.editor.until(lambda: writer.editor.lua("return #vim.api.nvim_list_wins()") == 1, "the channel is closed")
    slug = writer.uri.removeprefix("sidekicks://")
    state = desk.request(reader, "state/get")["channels"]
    channel = next(channel for channel in state if channel.get("name") == slug)
    elsewhere: int = sum(channel["unread"] for channel in state)  # of other tests

    def unread() -> int:
        said = str(reader.lua("return require('sidekicks').statusline()"))
        count = int(said.rpartition("✉ ")[2] or 0)
        return count - elsewhere

    desk.request(reader, "message/send", channelId=channel["id"], text="@bob hi")
    reader.until(lambda: unread() == 1, "one unread message")
    chat = desk.chat(name=slug, editor=reader)
    chat.editor.wait_for("── new ──")
    reader.until(lambda: unread() == 0, "nothing unread")


def test_what_a_turn_waits_for(desk: Desk) -> None:
    """An agent has one channel at a time; the other one says where it is busy."""
    busy = desk.chat("bob")
    busy.say("@bob !hold done !say there")
    busy.heard("bob\n")
    chat = desk.chat("bob", editor=busy.editor)
    chat.say("@bob and here")
    where = busy.uri.removeprefix("sidekicks://")
    chat.heard(f"bob is busy in #{where}")
    chat.editor.wait_for(f"bob is next: bob is busy in #{where}")
    desk.box.gates.open("done")
    chat.heard("bob heard: and here")


def test_an_agent_that_is_starting_says_so(own_desk: Desk) -> None:
    own_desk.box.config["agents"].append(own_desk.box.agent("slow", "--slow-start begin"))
    own_desk.box.config["channels"][0]["members"].append("slow")
    own_desk.box.write_config()
    chat = own_desk.chat(name="general")
    chat.say("@slow hello")
    chat.heard("slow is getting ready")
    own_desk.box.gates.open("begin")
    chat.heard("slow heard: hello")
    chat.gone("getting ready")


def test_the_sign_of_a_running_turn_moves_and_goes(desk: Desk, chat: Chat) -> None:
    chat.say("@alice !say begun !hold end !say  over")
    chat.heard("Alice is writing")
    frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

    def shown() -> str:
        return "".join(sign for sign in chat.editor.screen.text() if sign in frames)

    first = chat.editor.until(shown, "the sign")
    chat.editor.until(lambda: shown() not in ("", first), "it moves")
    desk.box.gates.open("end")
    chat.quiet()
    chat.editor.until(lambda: shown() == "", "it is gone")


def test_no_parser_runs_on_the_whole_transcript(chat: Chat) -> None:
    chat.ask("@alice !say some **bold** word", "bold")
    code = """local buf = vim.fn.bufnr(...)
              local active = vim.treesitter.highlighter.active[buf] ~= nil
              return { active, #vim.lsp.get_clients({ bufnr = buf }), vim.bo[buf].undolevels }"""
    assert chat.editor.lua(code, chat.uri) == [False, 0, -1]


def test_what_is_wrong_with_the_bridge_stands_in_the_bar(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    own_desk.box.write_config("agents: 7\n")
    chat.editor.wait_for("configuration: 1 problem, :Sidekicks config")
    own_desk.box.write_config()
    chat.editor.until(lambda: "problem" not in chat.editor.screen.text(), "no problem")
