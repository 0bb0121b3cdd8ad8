"""When the bridge ends, is missing, or speaks another protocol: what is said, and that nothing typed is lost."""

from __future__ import annotations

import os
import signal
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.neovim.desk import Desk
    from tests.neovim.editor import Editor

TOLD = "vim.notify = function(text, level) vim.g.told = (vim.g.told or '') .. text .. '\\n' end"


def bridges(editor: Editor) -> list[int]:
    """The processes that the editor has started."""
    found: list[int] = editor.lua("return vim.api.nvim_get_proc_children(vim.uv.os_getpid())")
    return found


def bridge_pid(editor: Editor) -> int:
    """The process of the editor's bridge; never 0, which would be this test and all its like."""
    return int(editor.until(lambda: bridges(editor), "the bridge's process")[0])


def replaced(editor: Editor, first: int) -> None:
    """Wait until another process than the ``first`` is the bridge."""
    editor.until(lambda: bridges(editor) and first not in bridges(editor), "another process")


def test_a_killed_bridge_is_started_again_and_nothing_typed_is_lost(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    chat.ask("@bob before", "bob heard: before")
    chat.type("half a sen")
    first = bridge_pid(chat.editor)
    os.kill(first, signal.SIGKILL)
    replaced(chat.editor, first)
    chat.type("tence")
    assert chat.composer() == "half a sentence"
    chat.editor.until(lambda: chat.editor.lua("return require('sidekicks.state').known"), "the new bridge")
    assert "bob heard: before" in chat.text()
    chat.editor.keys("<C-u>")
    chat.ask("@bob after", "bob heard: after")
    assert chat.text().count("bob heard: before") == 1


def test_a_bridge_that_is_killed_while_it_starts_is_started_again(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    chat.type("some ")
    for word in ("more ", "words"):
        pid = bridge_pid(chat.editor)
        os.kill(pid, signal.SIGKILL)
        chat.type(word)
        replaced(chat.editor, pid)
    chat.editor.until(lambda: chat.editor.lua("return require('sidekicks.state').known"), "the new bridge")
    assert chat.composer() == "some more words"
    chat.editor.keys("<C-u>")
    chat.ask("@bob after", "bob heard: after")


def test_a_message_that_the_bridge_did_not_take_comes_back(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    os.kill(bridge_pid(chat.editor), signal.SIGSTOP)
    chat.say("@bob are you there")
    chat.say("@bob at all")
    chat.type("and")
    os.kill(bridge_pid(chat.editor), signal.SIGKILL)
    wanted = "@bob are you there\n@bob at all\nand"
    chat.editor.until(lambda: chat.composer() == wanted, "they are in the composer again, in their order")


def test_an_answer_that_was_being_written_is_marked(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    chat.say("@alice !say begun !hang")
    chat.heard("alice\nbegun")
    os.kill(bridge_pid(chat.editor), signal.SIGKILL)
    chat.heard("■ interrupted")
    assert "↻ retry" in chat.text()


def test_a_bridge_that_keeps_ending_is_left_alone(own_desk: Desk, tmp_path: Path) -> None:
    script = tmp_path / "ends"
    script.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    editor = own_desk.open(settings={"cmd": [str(script)]}, init=TOLD)
    editor.keys(":Sidekicks #general<CR>")
    editor.until(lambda: "ended at once (exit code 3)" in (editor.lua("return vim.g.told") or ""), "what happened")


def test_a_missing_bridge_says_how_to_install_it(own_desk: Desk) -> None:
    editor = own_desk.open(settings={"cmd": ["no-such-sidekicks", "serve"]}, init=TOLD)
    editor.keys(":Sidekicks #general<CR>")
    told = editor.until(lambda: editor.lua("return vim.g.told"), "what is missing")
    assert told.count("\n") == 1
    assert "`no-such-sidekicks` is not found" in told
    assert "pipx install ." in told


def test_another_protocol_version_says_what_to_do(own_desk: Desk) -> None:
    editor = own_desk.open(
        init=f"{TOLD}\npackage.preload['sidekicks.protocol'] = function() return {{ version = 99, events = {{}} }} end"
    )
    editor.keys(":Sidekicks #general<CR>")
    told = editor.until(lambda: editor.lua("return vim.g.told"), "the refusal")
    assert "version 99" in told
    assert "same version" in told
    assert told.count("\n") == 1


def test_a_program_that_is_no_bridge_is_named(own_desk: Desk, tmp_path: Path) -> None:
    script = tmp_path / "other.py"
    script.write_text(
        "import sys\n"
        "size = int(sys.stdin.buffer.readline().split()[1]); sys.stdin.buffer.readline(); sys.stdin.buffer.read(size)\n"
        'body = b\'{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}\'\n'
        "sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n%b' % (len(body), body)); sys.stdout.flush()\n"
        "sys.stdin.buffer.read()\n",
        encoding="utf-8",
    )
    editor = own_desk.open(settings={"cmd": [sys.executable, str(script)]}, init=TOLD)
    editor.keys(":Sidekicks #general<CR>")
    told = editor.until(lambda: editor.lua("return vim.g.told"), "the refusal")
    assert "is not a Sidekicks bridge" in told


def test_restarting_by_hand(own_desk: Desk) -> None:
    chat = own_desk.chat(name="general")
    first = bridge_pid(chat.editor)
    chat.type("kept")
    chat.editor.keys("<Esc>:Sidekicks restart<CR>")
    replaced(chat.editor, first)
    chat.editor.until(lambda: chat.editor.lua("return require('sidekicks.state').known"), "the new bridge")
    assert chat.composer() == "kept"
