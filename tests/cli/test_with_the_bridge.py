"""The terminal client on the real bridge with the two built-in agents and a fake one: the whole way, as users go it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import ROOT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

CONFIG = f"""\
agents:
  - name: scout
    title: Scout
    builtin: scout
  - name: scribe
    title: Scribe
    builtin: scribe
  - name: fake
    command: {sys.executable}
    args: [-m, tests.fake_agent]
    env: {{PYTHONPATH: "{ROOT}"}}
channels:
  - name: general
    members: [scout, scribe]
  - name: lab
    members: [fake]
"""


@pytest.fixture
def office(desk: Desk) -> Desk:
    """A desk with a small project and a configuration of its own."""
    folder = desk.folder.parent / "config" / "sidekicks"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (desk.folder / "router.py").write_text(
        "def route() -> None:  # routes are decided here\n    ...\n", encoding="utf-8"
    )
    return desk


def run(desk: Desk, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        desk.sidekicks(*arguments),
        input=typed,
        cwd=desk.folder,
        env=desk.env,
        capture_output=True,
        encoding="utf-8",
        timeout=40,
        check=False,
    )


def test_two_agents_a_permission_a_file_and_the_history_next_time(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#general"))
    chat.wait_for("F1 keys")
    chat.type("@scout where are routes decided? @scribe keep that")
    chat.wait_for(lambda text: bool(re.search(r"→ Scout, then Scribe", text)))
    chat.key("enter")
    chat.wait_for("Scribe asks for permission: Write NOTES.md")
    chat.wait_for("1 Allow once")
    chat.wait_a_moment(0.6)
    chat.type("1")
    shown = chat.wait_for("what scout said in NOTES.md")
    speakers = re.findall(r"^(❯ You|Scout|Scribe) · \d\d:\d\d$", shown, re.MULTILINE)
    assert speakers == ["❯ You", "Scout", "Scribe"]
    assert "router.py:1" in (office.folder / "NOTES.md").read_text(encoding="utf-8")
    chat.wait_for("F1 keys")
    chat.type("/")
    chat.wait_for("/scout:outline")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("@scuot hello")
    chat.wait_for("Did you mean @scout?  Tab: @scout")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.key("ctrl-d")
    assert chat.wait_for_end() == 0

    again = office.open(office.sidekicks("chat"))
    again.wait_for("F1 keys")
    shown = again.wait_for("what scout said in NOTES.md")
    assert re.findall(r"^(❯ You|Scout|Scribe) · \d\d:\d\d$", again.text(), re.MULTILINE) == speakers
    again.key("up")
    again.wait_for("› @scout where are routes decided? @scribe keep that")


def test_an_invited_agent_a_cancelled_turn_a_queued_message(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#general"))
    chat.wait_for("F1 keys")
    chat.type("@fake !hang")
    chat.wait_for("(will be invited)")
    chat.key("enter")
    chat.wait_for("• @fake was invited")
    chat.send("@scout later")
    chat.wait_for("⧗ queued: @scout later")
    chat.key("ctrl-q")
    chat.wait_for(lambda text: "⧗ queued" not in text)
    chat.key("ctrl-c")
    shown = chat.wait_for("• @fake was stopped before it said anything.")
    assert "cancelled" not in shown  # said once
    assert "• @fake was invited" in shown
    assert "scout later" not in shown


def test_twenty_thousand_chunks_are_shown_whole(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#lab"))
    chat.wait_for("F1 keys")
    chat.send("!chunks 20000")
    shown = chat.wait_for("19999")
    answer = shown[shown.index("\nfake · ") :].split("\n", 2)[2]
    numbers = [int(number) for number in re.findall(r"\d+", answer[: answer.index("19999") + 5])]
    assert numbers == list(range(20_000))


def test_an_agent_that_dies_says_what_happened(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "@fake"))
    chat.wait_for("F1 keys")
    chat.send("!say half !crash 3")
    shown = chat.wait_for("Send again: it is started anew.")
    assert "half" in shown
    assert "told to crash" in shown
    chat.send("!say hello again")
    chat.wait_for("  hello again")


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["#general", "@scribe /note hello"], 0, "", "permission rejected: Scribe: Write NOTES.md"),
        (["#general", "@scribe /note hello", "--allow", "once"], 0, "NOTES.md", "permission allowed once: Scribe"),
        (["#general", "@scuot hi"], 4, "", "No agent is named @scuot. Did you mean @scout?"),
        (["#lab", "!say half !crash 3"], 1, "half", "fake failed: "),
        (["#general", "hi", "--config", "nowhere.yaml"], 3, "", "nowhere.yaml"),
    ],
)
def test_say(office: Desk, arguments: list[str], code: int, out: str, err: str) -> None:
    done = run(office, "say", *arguments)
    assert done.returncode == code, done.stderr
    assert out in done.stdout
    assert err in done.stderr


def test_chat_without_a_terminal(office: Desk) -> None:
    done = run(office, "chat", "general", typed="@scout where are routes decided?\n@scribe keep that\n")
    assert done.returncode == 0
    assert "router.py:1" in done.stdout
    assert "permission rejected: Scribe: Write NOTES.md" in done.stderr
    assert not (office.folder / "NOTES.md").exists()
    assert "unread" not in run(office, "status").stdout  # what was printed counts as read


def test_what_they_saw_is_shown_as_it_was_sent(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#general"))
    chat.wait_for("F1 keys")
    chat.send("@scout where are routes decided?")
    chat.wait_for("router.py:1")
    chat.send("@fake what do you think?")
    chat.wait_for("fake ·")
    chat.key("f2")
    chat.wait_for("What was sent for")
    chat.type("fake")
    chat.wait_for("❯ fake")
    chat.key("enter")
    shown = chat.wait_for("│ @fake what do you think?")
    assert "What fake was sent in a new session; 2 messages it had not seen" in shown
    assert "│ [Messages in #general you have not seen yet]" in shown
    assert "│ user: @scout where are routes decided?" in shown


def test_a_channel_is_renamed_and_deleted_by_its_name(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#lab"))
    chat.wait_for("message #lab")
    chat.key("ctrl-t")
    chat.type("rename")
    chat.wait_for("❯ rename it")
    chat.key("enter")
    chat.wait_for("Rename #lab")
    chat.type("bench")
    chat.wait_for("❯ call it #bench")
    chat.key("enter")
    chat.wait_for("message #bench")
    chat.type("unsent words")
    chat.wait_for("› unsent words")
    chat.key("ctrl-t")
    chat.type("delete")
    chat.wait_for("❯ delete it, and its history")
    chat.key("enter")
    chat.wait_for("Delete #bench and its history?")
    chat.type("benc")
    chat.wait_for("that is not bench")
    chat.type("h")
    chat.wait_for("❯ delete it for good")
    chat.key("enter")
    chat.wait_for("#bench was deleted, and its history.")
    chat.wait_for("❯ #general")
    chat.key("enter")
    chat.wait_for("› unsent words")  # nothing typed is lost
    assert "bench" not in run(office, "channels").stdout


def test_a_channel_that_somebody_else_deletes_is_left(office: Desk) -> None:
    chat = office.open(office.sidekicks("chat", "#lab"))
    chat.wait_for("message #lab")
    other = office.open(office.sidekicks("chat", "#lab"))
    other.wait_for("message #lab")
    other.key("ctrl-t")
    other.type("delete")
    other.wait_for("❯ delete it, and its history")
    other.key("enter")
    other.wait_for("Delete #lab and its history?")
    other.type("lab")
    other.wait_for("❯ delete it for good")
    other.key("enter")
    chat.wait_for("#lab was deleted, and its history. Ctrl+O goes to another channel.")
    chat.wait_for("Ctrl-O picks a channel")
    chat.key("ctrl-d")
    assert chat.wait_for_end() == 0


def test_what_others_write_to_each_other_is_read_along_and_answered(office: Desk) -> None:
    for name in ("ann", "ben"):
        assert run(office, "register", name).returncode == 0
    assert run(office, "tell", "ben", "psst", "--as", "ann").returncode == 0
    chat = office.open(office.sidekicks("chat", "#general"))
    chat.wait_for("F1 keys")
    chat.key("ctrl-o")
    shown = chat.wait_for("Agent mail")
    rows = [row.strip() for row in shown[shown.rindex("Go to") :].splitlines()]
    at = rows.index("Agent mail")
    assert rows[at + 1].startswith("ann ↔ ben  1 unread")
    assert any("#general" in row or "@scout" in row for row in rows[:at])
    chat.type("ann")
    chat.wait_for("❯ ann ↔ ben")
    chat.key("enter")
    chat.wait_for("psst")
    assert run(office, "tell", "ann", "heard", "--as", "ben").returncode == 0
    chat.wait_for("heard")
    chat.type("I read this, too")
    chat.key("enter")
    chat.wait_for("❯ You ·")
    assert run(office, "read", "ann", "--as", "ben", "--timeout", "0").stdout == "psst\n"
    assert run(office, "read", "ann", "--as", "ben").stdout == "I read this, too\n"
    chat.key("ctrl-d")
    assert chat.wait_for_end() == 0


def test_say_tells_that_history_is_not_kept(office: Desk) -> None:
    assert run(office, "say", "#lab", "hi").stderr == ""
    run(office, "stop")
    (history,) = office.folder.parent.glob("config/sidekicks/data/*/history.db")
    history.unlink()
    history.mkdir()
    said = run(office, "say", "#lab", "hi")
    assert said.stdout.endswith("heard: hi\n")
    assert f"history is not kept: The history in {history.parent}" in said.stderr
