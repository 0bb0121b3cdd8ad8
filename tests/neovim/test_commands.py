"""What else can be done: channels, members, agents, modes, prompts, search, export, configuration, the bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.neovim.asking import choosing, listen, run, told, typing

if TYPE_CHECKING:
    from tests.neovim.desk import Chat, Desk


def test_a_channel_is_made_renamed_and_deleted(desk: Desk) -> None:
    editor = desk.connected()
    listen(editor)
    run(editor, "create made-here")
    editor.until(lambda: editor.name() == "sidekicks://made-here/compose", "the new channel")
    editor.keys("half a word")
    run(editor, "rename named-anew")
    editor.until(lambda: editor.name() == "sidekicks://named-anew/compose", "the new name")
    editor.wait_for("#named-anew")
    assert editor.buffer("sidekicks://made-here") == []
    assert editor.buffer("sidekicks://named-anew/compose") == ["half a word"]
    typing(editor, "wrong")
    run(editor, "delete")
    editor.until(lambda: "named-anew" in told(editor) or "repeat" in told(editor).lower(), "the refusal")
    assert editor.buffer("sidekicks://named-anew") != []
    typing(editor, "named-anew")
    run(editor, "delete")
    editor.until(lambda: told(editor) == "Sidekicks: #named-anew is deleted.", "the deletion")
    assert editor.buffer("sidekicks://named-anew") == []


def test_completion_works_after_renaming(desk: Desk) -> None:
    chat = desk.chat("bob")
    run(chat.editor, "rename renamed-chat")
    chat.editor.until(lambda: chat.editor.name() == "sidekicks://renamed-chat/compose", "the new name")
    chat.editor.keys("A@ali")
    words = "return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'matches' }).matches)"
    chat.editor.until(lambda: chat.editor.lua(words) == ["@alice"], "alice")


def test_inviting_and_removing(chat: Chat) -> None:
    run(chat.editor, "invite carol")
    chat.editor.wait_for("Here: @alice, @bob, @carol")
    choosing(chat.editor, "carol")
    run(chat.editor, "remove")
    chat.editor.until(lambda: "@carol" not in chat.editor.screen.text(), "carol is gone")


def test_agents_are_started_stopped_and_their_log_is_shown(chat: Chat) -> None:
    listen(chat.editor)
    chat.ask("@carol !stderr-say noted !say loud", "\nloud")
    choosing(chat.editor, "@carol", "log")
    run(chat.editor, "agents")
    chat.editor.wait_for("noted")
    chat.editor.keys("q")
    run(chat.editor, "agent stop carol")
    chat.editor.until(lambda: chat.editor.lua("return require('sidekicks.state').agents.carol.state") == "stopped")
    run(chat.editor, "agent start carol")
    chat.editor.until(lambda: chat.editor.lua("return require('sidekicks.state').agents.carol.state") == "ready")
    run(chat.editor, "agent dance carol")
    chat.editor.until(lambda: "not dance" in told(chat.editor), "the refusal")


def test_what_did_an_agent_see(chat: Chat) -> None:
    chat.ask("@alice hello", "alice heard: hello")
    chat.ask("@bob and you", "bob heard: and you")
    run(chat.editor, "prompt")
    text = chat.editor.wait_for("What @bob was sent (session fresh")
    assert "[Messages in #" in text
    assert "alice: alice heard: hello" in text


def test_search_fills_the_quickfix_list(chat: Chat) -> None:
    chat.ask("@bob where is the xylophone", "bob heard: where is the xylophone")
    chat.ask("@bob something else", "bob heard: something else")
    run(chat.editor, "search xylophone")
    chat.editor.until(lambda: chat.editor.lua("return vim.bo.buftype") == "quickfix", "the list")
    entries = chat.editor.lua("return vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())")
    assert len(entries) == 2
    assert entries[0].startswith("bob: ")
    chat.editor.keys("G<CR>")
    line = "return vim.api.nvim_get_current_line()"
    chat.editor.until(lambda: chat.editor.name() == chat.uri and chat.editor.lua(line) == "You", "the message")
    chat.editor.keys("j")
    assert "xylophone" in chat.editor.lua(line)


def test_a_hit_in_a_closed_channel_opens_it(desk: Desk, chat: Chat) -> None:
    chat.ask("@bob the zeppelin", "bob heard: the zeppelin")
    editor = desk.connected()
    run(editor, "search zeppelin")
    editor.until(lambda: editor.lua("return vim.bo.buftype") == "quickfix", "the list")
    editor.keys("gg<CR>")
    editor.until(lambda: editor.name() == chat.uri, "the channel")
    assert "bob heard: the zeppelin" in "\n".join(editor.buffer(chat.uri))


def test_exporting(desk: Desk, chat: Chat) -> None:
    chat.ask("@bob !say ```sh\\nls\\n", "```sh")
    target = desk.box.folder / "export.md"
    run(chat.editor, f"export {target}")
    chat.editor.until(target.exists, "the file")
    text = target.read_text(encoding="utf-8")
    assert text.startswith(f"# #{chat.uri.removeprefix('sidekicks://')}\n")
    assert "```sh\nls\n```\n" in text


def test_the_configuration_opens_with_its_problems(own_desk: Desk) -> None:
    editor = own_desk.connected()
    run(editor, "config")
    editor.until(lambda: editor.name() == str(own_desk.box.config_path), "the file")
    editor.keys("ggOnonsense: true<Esc>:silent write<CR>")
    editor.until(lambda: editor.lua("return #vim.diagnostic.get(0)") > 0, "a diagnostic")
    editor.keys("ggdd:silent write<CR>")
    editor.until(lambda: editor.lua("return #vim.diagnostic.get(0)") == 0, "no diagnostic")


def test_the_whole_output_of_a_tool_call(chat: Chat) -> None:
    chat.ask("@alice !output 40000", "✓ print much")
    chat.up()
    chat.find("print much")
    run(chat.editor, "output")
    chat.editor.until(lambda: "sidekicks-output" in chat.editor.name(), "the output")
    assert len("".join(chat.editor.buffer(chat.editor.name()))) >= 40000


def test_the_files_that_were_changed(desk: Desk, chat: Chat) -> None:
    (desk.box.workspace / "notes.md").write_text("one\nTWO\n", encoding="utf-8")
    chat.ask("@alice !diff notes.md|one\\ntwo\\n|one\\nTWO\\n", "✓ Edit notes.md")
    run(chat.editor, "changes")
    chat.editor.until(lambda: chat.editor.lua("return vim.bo.buftype") == "quickfix", "the list")
    names = "return vim.tbl_map(function(item) return vim.fn.bufname(item.bufnr) end, vim.fn.getqflist())"
    assert [name.rpartition("/")[2] for name in chat.editor.lua(names)] == ["notes.md"]


def test_moving_from_message_to_message(chat: Chat) -> None:
    chat.ask("@bob one", "bob heard: one")
    chat.up()
    chat.editor.keys("gg]]")
    line = "return vim.api.nvim_get_current_line()"
    assert chat.editor.lua(line) == "You"
    chat.editor.keys("]]")
    assert chat.editor.lua(line) == "bob"
    chat.editor.keys("[[")
    assert chat.editor.lua(line) == "You"


def test_toggling(desk: Desk) -> None:
    editor = desk.connected()
    editor.keys(":edit some.txt<CR>")
    chat = desk.chat("bob", editor=editor)
    windows = "return #vim.api.nvim_list_wins()"
    run(editor, "toggle")
    editor.until(lambda: editor.lua(windows) == 1, "one window")
    run(editor, "toggle")
    editor.until(lambda: editor.lua(windows) == 3 and editor.name() == f"{chat.uri}/compose", "the composer")


def test_the_command_line_completes(desk: Desk, chat: Chat) -> None:
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    found = chat.editor.lua(complete, "Sidekicks ")
    assert chat.uri.replace("sidekicks://", "#") in found
    assert {"@carol", "create", "attention"} <= set(found)
    assert chat.editor.lua(complete, "Sidekicks agent st") == ["start", "stop"]
    assert chat.editor.lua(complete, "Sidekicks invite ") == ["carol"]
    assert desk.box is not None


def test_an_unknown_verb_is_named(desk: Desk) -> None:
    editor = desk.open()
    listen(editor)
    run(editor, "renam x")
    editor.until(lambda: told(editor) == "Sidekicks: There is no :Sidekicks renam. Did you mean rename?", "the refusal")


def test_the_doctor_tries_everything_out(desk: Desk) -> None:
    editor = desk.open()
    run(editor, "doctor")
    report = editor.until(
        lambda: (text := "\n".join(editor.lua("return vim.fn.getline(1, '$')"))) and "[Process exited" in text and text,
        "the end of the report",
        60,
    )
    assert editor.lua("return vim.bo.buftype") == "terminal"
    for name in ("alice", "bob", "carol"):
        assert f"✓ agent {name}: " in report


def test_without_a_bridge_the_doctor_is_the_health_check(desk: Desk) -> None:
    editor = desk.open(settings={"cmd": ["no-such-sidekicks", "serve"]})
    run(editor, "doctor")
    editor.wait_for("no-such-sidekicks")
    assert editor.lua("return vim.bo.filetype") == "checkhealth"
