"""A folder's own configuration starts programs: no command reads it before the user has said so."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_with_the_bridge import office, run

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

__all__ = ["office"]

THEIRS = f"""\
agents:
  - name: trap
    command: {sys.executable}
    args: [-c, "open('sprung', 'w').close()"]
channels:
  - name: general
    members: [trap]
"""


@pytest.fixture
def strange(office: Desk) -> Desk:
    """A desk in a folder of somebody else's, who has put a configuration there."""
    (office.folder / ".sidekicks.yaml").write_text(THEIRS, encoding="utf-8")
    return office


@pytest.mark.parametrize(
    "words",
    [
        ("doctor", "--json"),
        ("say", "#general", "hello"),
        ("agents",),
        ("agents", "available"),
        ("channels",),
        ("status",),
        ("config", "check"),
        ("tell", "trap", "hello"),
        ("read", "trap"),
        ("sessions", "@trap"),
        ("chat", "#general"),
    ],
    ids=" ".join,
)
def test_no_command_reads_it_unasked(strange: Desk, words: tuple[str, ...]) -> None:
    done = run(strange, *words, typed="hello\n")
    assert done.stderr.count("is not used: it can start any program, and you have not trusted this folder.") == 1
    assert "trap" not in done.stdout
    assert not (strange.folder / "sprung").exists()
    run(strange, "stop")


def test_what_is_trusted_is_read_until_it_is_revoked(strange: Desk) -> None:
    trusted = run(strange, "trust")
    assert (trusted.returncode, trusted.stdout) == (0, f"Now trusted: {strange.folder}\n")
    listed = run(strange, "trust", "--list")
    assert (listed.returncode, listed.stdout) == (0, f"{strange.folder.resolve()}\n")
    kept = strange.folder.parent / "config" / "sidekicks" / "trusted-folders.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    used = run(strange, "config", "path")
    assert (used.stdout, used.stderr) == (f"{strange.folder / '.sidekicks.yaml'}\n", "")
    below = strange.folder / "below"
    below.mkdir()
    (below / ".sidekicks.yaml").write_text(THEIRS, encoding="utf-8")
    assert run(strange, "trust", "--revoke").stdout == f"No longer trusted: {strange.folder}\n"
    assert run(strange, "trust", "--list").stdout == ""
    assert "is not used" in run(strange, "config", "path").stderr


def test_a_folder_that_is_not_there_cannot_be_trusted(office: Desk) -> None:
    done = run(office, "trust", "nowhere")
    assert (done.returncode, done.stderr) == (5, "sidekicks trust: there is no folder nowhere\n")


def test_a_file_of_trusted_folders_that_cannot_be_read_trusts_nothing(strange: Desk) -> None:
    kept = strange.folder.parent / "config" / "sidekicks" / "trusted-folders.json"
    for text in ("{", '{"a": 1}', f'"{strange.folder}"', "[1, null]"):
        kept.write_text(text, encoding="utf-8")
        assert "is not used" in run(strange, "config", "path").stderr, text


@pytest.mark.parametrize("answer", ["", "n", "yes please"])
def test_a_chat_asks_first_and_takes_anything_but_yes_for_no(strange: Desk, answer: str) -> None:
    chat = strange.open(strange.sidekicks("chat", "#general"))
    chat.wait_for("It can start any program.")
    chat.wait_for("Use it, now and later? [y/N]")
    chat.type(f"{answer}\r")
    chat.wait_for("F1 keys")
    chat.type("@")
    chat.wait_for("scribe")
    assert "trap" not in chat.on_screen()
    assert run(strange, "trust", "--list").stdout == ""


def test_a_chat_that_is_told_yes_asks_no_more(strange: Desk) -> None:
    chat = strange.open(strange.sidekicks("chat", "#general"))
    chat.wait_for("Use it, now and later? [y/N]")
    chat.type("y\r")
    chat.wait_for("This folder's own configuration is in use")
    chat.wait_for("F1 keys")
    chat.key("ctrl-d")
    assert chat.wait_for_end() == 0
    again = strange.open(strange.sidekicks("chat", "#general"))
    again.wait_for("This folder's own configuration is in use")
    assert "Use it, now and later?" not in again.text()
