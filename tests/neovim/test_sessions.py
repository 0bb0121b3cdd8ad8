"""Sessions of agents: signing in, modes and options of every shape, and sessions that an agent remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.neovim.asking import choosing, listen, offered, run, told
from tests.neovim.desk import Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.neovim.desk import Chat

SHAPES = "grouped,thought,plain,boolean,unknown-category,unknown-type"
OPTIONS = {
    "shaped": f"--config-options {SHAPES}",
    "models": "--models small,large --modes code,ask",
    "keeper": "--caps list,load,delete --sessions old,older --replay 2",
}


@pytest.fixture
def shapes(tmp_path: Path) -> Iterator[Desk]:
    """A bridge with agents whose sessions can be set in many ways."""
    desk = Desk(BridgeSandbox(tmp_path, OPTIONS))
    yield desk
    desk.close()


def member(chat: Chat, name: str, key: str) -> Any:
    """A field of a member of the channel."""
    members = chat.room("room:channel().members")
    return next(each.get(key) for each in members if each["name"] == name)


def options(chat: Chat, name: str) -> dict[str, Any]:
    """The options of an agent here, by name."""
    return {option["name"]: option for option in member(chat, name, "options") or []}


def test_modes_and_models(shapes: Desk) -> None:
    chat = shapes.chat(name="general")
    chat.ask("@models hello", "models heard: hello")
    choosing(chat.editor, "Ask")
    run(chat.editor, "mode models")
    chat.editor.until(lambda: member(chat, "models", "modes")["current"] == "ask", "the mode")
    assert offered(chat.editor)[0].startswith("● ")
    run(chat.editor, "mode models code")
    chat.editor.until(lambda: member(chat, "models", "modes")["current"] == "code", "the mode that was typed")
    run(chat.editor, "model models large")
    chat.editor.until(lambda: member(chat, "models", "models")["current"] == "large", "the model")
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert chat.editor.lua(complete, "Sidekicks mode models ") == ["code", "ask"]


def test_options_of_every_shape(shapes: Desk) -> None:
    chat = shapes.chat(name="general")
    chat.ask("@shaped hello", "shaped heard: hello")
    listen(chat.editor)
    known = options(chat, "shaped")
    by_kind = {option["kind"]: option for option in known.values()}
    assert set(by_kind) == {"select", "boolean", "other"}

    grouped = next(option for option in known.values() if any("group" in one for one in option.get("choices", [])))
    other = next(choice for choice in grouped["choices"] if choice["value"] != grouped["value"])
    choosing(chat.editor, f"{grouped['name']}: ", f"{other['group']}: {other['name']}")
    run(chat.editor, "option shaped")
    chat.editor.until(lambda: options(chat, "shaped")[grouped["name"]]["value"] == other["value"], "the grouped one")

    boolean = by_kind["boolean"]
    run(chat.editor, f"option shaped {boolean['id']} {'off' if boolean['value'] else 'on'}")
    chat.editor.until(
        lambda: options(chat, "shaped")[boolean["name"]]["value"] is not boolean["value"], "the boolean one"
    )

    run(chat.editor, f"option shaped {by_kind['other']['id']}")
    chat.editor.until(lambda: "can only be shown" in told(chat.editor), "what is unknown")
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert chat.editor.lua(complete, f"Sidekicks option shaped {boolean['id']} ") == ["on", "off"]
    assert boolean["id"] in chat.editor.lua(complete, "Sidekicks option shaped ")


def test_an_option_that_the_agent_refuses_says_why(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"fixed": "--modes code,ask --error set_mode=-32602:not\\snow"})
    desk = Desk(box)
    try:
        chat = desk.chat(name="general")
        listen(chat.editor)
        chat.ask("@fixed hello", "fixed heard: hello")
        run(chat.editor, "mode fixed ask")
        chat.editor.until(lambda: told(chat.editor).startswith("Sidekicks: "), "the refusal")
    finally:
        desk.close()


def test_going_on_with_a_session_that_the_agent_remembers(shapes: Desk) -> None:
    chat = shapes.chat(name="general")
    listen(chat.editor)
    shapes.box.begin()
    choosing(chat.editor, "Session older")
    run(chat.editor, "sessions keeper")
    chat.editor.until(lambda: "goes on with “Session older” in #general" in told(chat.editor), "the session")
    chat.editor.keys("A")
    chat.ask("@keeper go on", "keeper heard: go on")
    assert [params["sessionId"] for params in shapes.box.received("keeper", "session/load")] == ["older"]
    assert shapes.box.received("keeper", "session/new") == []
    choosing(chat.editor, "Session old", "forget")
    run(chat.editor, "sessions keeper delete")
    chat.editor.until(lambda: "has forgotten" in told(chat.editor), "the end of the session")


def test_signing_in_by_the_agent_itself(own_desk: Desk) -> None:
    """It is asked, and what had failed is tried anew."""
    own_desk.box.config["agents"].append(own_desk.box.agent("locked", "--auth agent --auth-required new"))
    own_desk.box.config["channels"][0]["members"].append("locked")
    own_desk.box.write_config()
    chat = own_desk.chat(name="general")
    chat.say("@locked hello")
    chat.heard(":Sidekicks signin")
    choosing(chat.editor, "")
    run(chat.editor, "signin locked")
    chat.heard("locked heard: hello")


def test_signing_in_in_a_terminal(own_desk: Desk, tmp_path: Path) -> None:
    """The agent's command runs in a terminal window, which goes when it has ended well."""
    entry = own_desk.box.agent("locked", "--auth terminal --auth-required new")
    entry["env"]["FAKE_AGENT_CREDENTIALS"] = str(tmp_path / "credentials")
    own_desk.box.config["agents"].append(entry)
    own_desk.box.config["channels"][0]["members"].append("locked")
    own_desk.box.write_config()
    chat = own_desk.chat(name="general")
    chat.say("@locked hello")
    chat.heard(":Sidekicks signin")
    chat.editor.lua(
        """vim.api.nvim_create_autocmd('TermOpen', { callback = function() vim.g.terminal = vim.fn.bufname() end })"""
    )
    choosing(chat.editor, "")
    run(chat.editor, "signin")
    chat.heard("locked heard: hello")
    assert chat.editor.lua("return vim.g.terminal").startswith("term://")
    assert (tmp_path / "credentials").exists()
    chat.editor.until(lambda: chat.editor.lua("return #vim.api.nvim_list_wins()") == 2, "the terminal is gone")


def test_a_sign_in_that_fails_in_its_terminal_leaves_it_to_be_read(own_desk: Desk) -> None:
    editor = own_desk.connected()
    listen(editor)
    command = {"command": "sh", "args": ["-c", "echo wrong password; exit 3"], "env": {}, "cwd": "/"}
    editor.lua(
        """local client, command = require('sidekicks.client'), ...
           require('sidekicks.state').agents.alice.signIn = { { id = 'x', name = 'By hand', kind = 'terminal' } }
           client.request = function(_, _, done) done(nil, { done = false, text = '', terminal = command }) end""",
        command,
    )
    choosing(editor, "By hand")
    run(editor, "signin alice")
    editor.until(lambda: "sh ended with code 3" in told(editor), "the failure")
    editor.wait_for("wrong password")


def test_signing_in_by_variables_says_which(own_desk: Desk) -> None:
    own_desk.box.config["agents"].append(own_desk.box.agent("locked", "--auth env_var --auth-required new"))
    own_desk.box.config["channels"][0]["members"].append("locked")
    own_desk.box.write_config()
    chat = own_desk.chat(name="general")
    listen(chat.editor)
    chat.say("@locked hello")
    chat.heard(":Sidekicks signin")
    choosing(chat.editor, "")
    run(chat.editor, "signin locked")
    chat.editor.until(lambda: "FAKE_AGENT_KEY" in told(chat.editor), "the variable's name")


def test_signing_out(own_desk: Desk) -> None:
    own_desk.box.config["agents"].append(own_desk.box.agent("leaver", "--caps logout"))
    own_desk.box.config["channels"][0]["members"].append("leaver")
    own_desk.box.write_config()
    chat = own_desk.chat(name="general")
    listen(chat.editor)
    chat.ask("@leaver hello", "leaver heard: hello")
    run(chat.editor, "signout leaver")
    chat.editor.until(lambda: told(chat.editor) == "Sidekicks: Signed out of leaver.", "the end")
