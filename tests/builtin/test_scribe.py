"""Scribe: what it writes, how it asks, and that nothing is lost or half-written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.builtin.notes import appended
from tests.builtin.harness import AgentClient, Json, Refused, framed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEADING = r"## \d{4}-\d\d-\d\d \d\d:\d\d · "
ANSWER = "It is in `server/router.py:9`:\n```python\ndef decide_route():\n```"
QUESTION = "@scout where are routes decided? @scribe keep that"
KEPT = (
    f"**user:**\n\n> {QUESTION}\n\n"
    "**scout:**\n\n> It is in `server/router.py:9`:\n> ```python\n> def decide_route():\n> ```\n"
)


def choose(option: str) -> Callable[[Json], Json]:
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option}}


@pytest.fixture
def notes(root: Path) -> Path:
    return root / "NOTES.md"


def undated(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "NOW", text)


def test_keep_that_notes_the_question_and_the_answer(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = choose("allow-once")
    session_id = scribe.open(root)
    said = scribe.ask(session_id, framed(f"scout: {ANSWER}", text=QUESTION))
    assert said == "I noted your message and what scout said in `NOTES.md`."
    written = notes.read_text(encoding="utf-8")
    assert re.fullmatch(rf"# Notes\n\n{HEADING}from #general\n\n{re.escape(KEPT)}", written)
    [(method, question)] = scribe.asked
    assert method == "session/request_permission"
    assert question["toolCall"]["content"] == [
        {"type": "diff", "path": str(notes), "oldText": None, "newText": written}
    ]
    assert [(one["kind"], one["name"]) for one in question["options"]] == [
        ("allow_once", "Allow once"),
        ("allow_always", "Always allow for this session"),
        ("reject_once", "Reject"),
    ]
    tool = scribe.tool()
    assert (tool["kind"], tool["status"], tool["locations"]) == ("edit", "completed", [{"path": str(notes)}])
    assert tool["toolCallId"] == question["toolCall"]["toolCallId"]
    assert tool["content"] == question["toolCall"]["content"]


def test_a_rejection_writes_nothing_and_says_so(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = choose("reject-once")
    said = scribe.ask(scribe.open(root), "/note buy milk")
    assert said == "I wrote nothing: you rejected the change of `NOTES.md`."
    assert not notes.exists()
    assert scribe.tool()["status"] == "failed"


def test_a_client_without_permissions_is_not_written_behind(scribe: AgentClient, root: Path, notes: Path) -> None:
    def unknown(_: Json) -> Json:
        raise Refused(-32601, "Method not found")

    scribe.handlers["session/request_permission"] = unknown
    said = scribe.ask(scribe.open(root), "/note buy milk")
    assert said == "I wrote nothing: I could not ask for permission (Method not found)."
    assert not notes.exists()


def test_always_allow_holds_for_the_session(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = choose("allow-always")
    session_id = scribe.open(root)
    scribe.ask(session_id, "/note one")
    assert scribe.ask(session_id, "/note two\nlines") == "Noted in `NOTES.md`."
    assert len(scribe.asked) == 1
    assert undated(notes.read_text(encoding="utf-8")) == (
        "# Notes\n\n## NOW · note\n\n**user:**\n\n> one\n\n## NOW · note\n\n**user:**\n\n> two\n> lines\n"
    )
    other = scribe.call("session/new", {"cwd": str(root), "mcpServers": []})["sessionId"]
    scribe.ask(other, "/note three")
    assert len(scribe.asked) == 2


def test_a_cancel_while_it_asks_leaves_everything_as_it_was(scribe: AgentClient, root: Path, notes: Path) -> None:
    notes.write_text("mine\n", encoding="utf-8")
    session_id = scribe.open(root)
    running = scribe.prompt(session_id, "/note buy milk")
    scribe.until(lambda frame: frame.get("method") == "session/request_permission")
    scribe.send({"method": "session/cancel", "params": {"sessionId": session_id}})
    assert scribe.finish(running) == {"stopReason": "cancelled"}
    assert notes.read_text(encoding="utf-8") == "mine\n"
    assert {path.name for path in root.iterdir() if "NOTES" in path.name} == {"NOTES.md"}
    scribe.handlers["session/request_permission"] = choose("allow-once")
    scribe.ask(session_id, "/note later")
    assert notes.read_text(encoding="utf-8").startswith("mine\n\n## ")


def test_a_withdrawn_question_ends_the_turn_as_cancelled(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = lambda _: {"outcome": {"outcome": "cancelled"}}
    running = scribe.prompt(scribe.open(root), "/note buy milk")
    assert scribe.finish(running) == {"stopReason": "cancelled"}
    assert not notes.exists()


def test_what_was_written_while_it_asked_is_kept(scribe: AgentClient, root: Path, notes: Path) -> None:
    def change_then_allow(_: Json) -> Json:
        notes.write_text("typed meanwhile\n", encoding="utf-8")
        return {"outcome": {"outcome": "selected", "optionId": "allow-once"}}

    scribe.handlers["session/request_permission"] = change_then_allow
    scribe.ask(scribe.open(root), "/note buy milk")
    assert undated(notes.read_text(encoding="utf-8")) == "typed meanwhile\n\n## NOW · note\n\n**user:**\n\n> buy milk\n"
    assert scribe.tool()["content"][0]["oldText"] == "typed meanwhile\n"


def test_minutes_are_what_the_session_was_shown(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = choose("reject-once")
    session_id = scribe.open(root)
    assert "I was shown no message" in scribe.ask(session_id, "/minutes")
    scribe.ask(session_id, framed("user: hello", f"scout: {ANSWER}", text="@scribe thanks"))
    assert "rejected" in scribe.ask(session_id, "/minutes")
    scribe.handlers["session/request_permission"] = choose("allow-always")
    assert scribe.ask(session_id, "/minutes") == "I wrote the minutes to `NOTES.md`: 3 messages."
    quoted = "> " + ANSWER.replace("\n", "\n> ")
    assert undated(notes.read_text(encoding="utf-8")) == (
        "# Notes\n\n## NOW · minutes of #general\n\n"
        f"**user:**\n\n> hello\n\n**scout:**\n\n{quoted}\n\n**user:**\n\n> @scribe thanks\n"
    )
    assert "I was shown no message" in scribe.ask(session_id, "/minutes")
    scribe.ask(session_id, "one more")
    assert scribe.ask(session_id, "/minutes").endswith(": 1 message.")


def test_show(scribe: AgentClient, root: Path, notes: Path) -> None:
    session_id = scribe.open(root)
    assert scribe.ask(session_id, "/show") == "There are no notes yet: `/note some text` begins `NOTES.md`."
    notes.write_text("# Notes\n\ncafé\n", encoding="utf-8")
    assert scribe.ask(session_id, "/show") == "`NOTES.md`:\n\n# Notes\n\ncafé\n"
    notes.write_text("first\n" + "x" * 30_000 + "\nlast\n", encoding="utf-8")
    assert scribe.ask(session_id, "/show") == "`NOTES.md`, the last 20,000 characters:\n\nlast\n"


def test_words_for_what_cannot_be_done(scribe: AgentClient, root: Path) -> None:
    session_id = scribe.open(root)
    assert scribe.ask(session_id, "/note") == "Say what to note, e.g. `/note the release is on Friday`."
    assert scribe.ask(session_id, "/nope") == "I have no command `/nope`. Mine are `/minutes`, `/note`, `/show`."
    assert scribe.ask(session_id, "  ") == "There was nothing in that message to note."
    assert not scribe.asked


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda notes: notes.mkdir(), "is not a file"),
        (lambda notes: notes.write_bytes(b"caf\xe9"), "is not UTF-8 text"),
        (lambda notes: notes.symlink_to("../outside.md"), "leads out of this workspace"),
        (lambda notes: notes.write_bytes(b"x" * (4 * 1024 * 1024 + 1)), "larger than 4 MiB"),
    ],
)
def test_notes_it_leaves_alone(scribe: AgentClient, root: Path, damage: Callable[[Path], None], words: str) -> None:
    damage(root / "NOTES.md")
    assert words in scribe.ask(scribe.open(root), "/note buy milk")
    assert not scribe.asked
    assert not (root.parent / "outside.md").exists()


def test_a_folder_gone_meanwhile_is_told(scribe: AgentClient, root: Path) -> None:
    session_id = scribe.open(root)
    root.rename(root.with_name("moved"))
    assert "cannot be reached" in scribe.ask(session_id, "/note buy milk")


def test_attachments_are_named(scribe: AgentClient, root: Path, notes: Path) -> None:
    scribe.handlers["session/request_permission"] = choose("allow-once")
    scribe.ask(scribe.open(root), "see this", uri="file:///a%20b.py", name="a b.py")
    assert notes.read_text(encoding="utf-8").endswith("> see this\n> [attached: /a b.py]\n")


class Editor:
    """An editor with unsaved buffers: what it holds wins over the disk."""

    def __init__(self, client: AgentClient) -> None:
        self.buffer: str | None = None
        client.handlers["session/request_permission"] = choose("allow-once")
        client.handlers["fs/read_text_file"] = self.read
        client.handlers["fs/write_text_file"] = self.write

    def read(self, _: Json) -> Json:
        if self.buffer is None:
            raise Refused(-32002, "Resource not found")
        return {"content": self.buffer}

    def write(self, params: Json) -> Json:
        self.buffer = params["content"]
        return {}


@pytest.fixture
def edited() -> Iterator[AgentClient]:
    with AgentClient("scribe", fs={"readTextFile": True, "writeTextFile": True}) as client:
        yield client


def test_the_editor_is_asked_for_the_file(edited: AgentClient, root: Path, notes: Path) -> None:
    editor = Editor(edited)
    session_id = edited.open(root)
    edited.ask(session_id, "/note one")
    assert undated(editor.buffer or "") == "# Notes\n\n## NOW · note\n\n**user:**\n\n> one\n"
    editor.buffer = "unsaved"
    edited.ask(session_id, "/note two")
    assert undated(editor.buffer or "") == "unsaved\n\n## NOW · note\n\n**user:**\n\n> two\n"
    assert edited.ask(session_id, "/show").startswith("`NOTES.md`:\n\nunsaved\n")
    assert not notes.exists()


def test_an_editor_that_fails_is_quoted_and_never_overruled(edited: AgentClient, root: Path, notes: Path) -> None:
    editor = Editor(edited)
    session_id = edited.open(root)
    notes.write_text("mine\n", encoding="utf-8")
    assert edited.ask(session_id, "/note x") == "The editor could not read `NOTES.md`: Resource not found"
    editor.buffer = "mine\n"

    def full(_: Json) -> Json:
        raise Refused(-32603, "disk full")

    edited.handlers["fs/write_text_file"] = full
    assert edited.ask(session_id, "/note x") == "The editor could not write `NOTES.md`: disk full"
    assert edited.tool()["status"] == "failed"
    assert notes.read_text(encoding="utf-8") == "mine\n"


def test_a_cancel_after_the_write_began_still_tells_the_truth(edited: AgentClient, root: Path) -> None:
    editor = Editor(edited)
    session_id = edited.open(root)

    def write_under_a_cancel(params: Json) -> Json:
        edited.send({"method": "session/cancel", "params": {"sessionId": session_id}})
        return editor.write(params)

    edited.handlers["fs/write_text_file"] = write_under_a_cancel
    assert edited.finish(edited.prompt(session_id, "/note one")) == {"stopReason": "cancelled"}
    assert edited.tool()["status"] == "completed"
    assert "> one" in (editor.buffer or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, "# Notes\n\nx\ny\n"),
        ("", "# Notes\n\nx\ny\n"),
        ("a", "a\n\nx\ny\n"),
        ("a\n\n\n", "a\n\nx\ny\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n\r\nx\r\ny\r\n"),
    ],
)
def test_appending_keeps_what_is_there(old: str | None, new: str) -> None:
    assert appended(old, "x\ny\n") == new
