"""`sidekicks channels|log|search|export`: what people and scripts read of a history, with or without a bridge.

Most of it runs in this process: a start of its own costs each command more than what it does. What belongs to a process
(terminal, pipe, locale, memory, a bridge beside it) is tried with one.
"""

from __future__ import annotations

import io
import json
import shlex
import sqlite3
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import pytest
from msgspec.structs import replace

from sidekicks_bridge import paths
from sidekicks_bridge.__main__ import main
from sidekicks_bridge.cli.history_view import Progress
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.store.contract import PutChannel, PutMember, PutMessage, StoredChannel
from sidekicks_bridge.store.open import DATABASE, open_store
from tests.store.make import channel, member, message, text_message

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.store.contract import Change
    from tests.cli.conftest import Desk

AT = "2025-03-04T05:06:07.890Z"
EVIL = "\x1b]0;owned\x07a\x1b[2Jb **bold**"
CONFIG = "agents:\n  - {name: alice, title: Alice, icon: 🦊, command: alice}\n"


class Shelf:
    """A desk with a history."""

    def __init__(self, desk: Desk, printed: pytest.CaptureFixture[str]) -> None:
        self.desk = desk
        self._printed = printed
        self.config = desk.folder.parent / "config" / "sidekicks" / "config.yaml"
        self.data = paths.data_dir(self.config)

    def keep(self, *changes: Change) -> None:
        """Write to the history, as a bridge does."""

        async def write() -> None:
            store = await open_store(self.config)
            await store.write(*changes)
            await store.close()

        anyio.run(write)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `sidekicks` with ``words``, in this process and the desk's folder."""
        self._printed.readouterr()
        code = main(list(words))
        out, err = self._printed.readouterr()
        return subprocess.CompletedProcess(words, code, out, err)

    def process(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """The same as a process of its own."""
        return subprocess.run(
            self.desk.sidekicks(*words),
            cwd=self.desk.folder,
            env={**self.desk.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def out(self, *words: str) -> str:
        """What it prints; it must succeed."""
        done = self.run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture
def shelf(at_desk: Desk, capsys: pytest.CaptureFixture[str]) -> Shelf:
    return Shelf(at_desk, capsys)


@pytest.fixture
def history(shelf: Shelf) -> Shelf:
    """Two named channels, a direct one here and one elsewhere, a pair; a question and its answer."""
    shelf.config.parent.mkdir(parents=True)
    shelf.config.write_text(CONFIG, encoding="utf-8")
    here = str(shelf.desk.folder)
    direct = [
        StoredChannel(id=f"d{at}", kind="direct", agent="alice", root=root, created_at=AT, updated_at=AT)
        for at, root in ((1, here), (2, "/elsewhere"))
    ]
    pair = StoredChannel(id="p1", kind="pair", peers=["ann", "bert"], created_at=AT, updated_at=AT)
    shelf.keep(
        *[PutChannel(one) for one in (channel("c1"), *direct, pair)],
        PutChannel(replace(channel("c2", "Empty.1"), created_at="2025-01-01T00:00:00.000Z")),
        PutMember(member("alice")),
        PutMember(member("bob")),
        *[
            PutMessage(replace(one, created_at=AT))
            for one in (
                text_message("m1", "@alice where are routes decided?", seq=1),
                text_message("m2", f"In the *router*.\n\n{EVIL}", seq=2, author="alice"),
                text_message("m3", "only here", channel="d1", seq=1),
                text_message("m4", "only elsewhere", channel="d2", seq=1),
                text_message("m5", "between us", channel="p1", seq=1, author="peer:ann"),
            )
        ],
    )
    return shelf


def test_channels_as_rows_and_as_json(history: Shelf) -> None:
    here = history.desk.folder
    assert history.out("channels").splitlines() == [
        f"#general\talice,bob\t2\t{AT}\t",
        f"@alice\t\t1\t{AT}\t{here}",
        f"@alice\t\t1\t{AT}\t/elsewhere",
        f"ann ↔ bert\t\t1\t{AT}\t",
        "#Empty.1\t\t0\t\t",
    ]
    first = json.loads(history.out("channels", "--json").splitlines()[0])
    assert first == {
        "id": "c1",
        "title": "#general",
        "kind": "named",
        "root": None,
        "members": ["alice", "bob"],
        "lastSeq": 2,
        "lastMessageAt": AT,
    }


def test_log_and_export_as_markdown(history: Shelf) -> None:
    markdown = (
        "### user · 2025-03-04 05:06 UTC\n\n@alice where are routes decided?\n\n"
        f"### alice · 2025-03-04 05:06 UTC\n\nIn the *router*.\n\n{EVIL}\n\n"
    )
    assert history.out("log", "#general") == markdown
    assert history.out("log", "#general", "-n", "1") == markdown[markdown.index("### alice") :]
    assert history.out("export", "#general") == "# #general\n\n" + markdown
    assert history.out("log", "#empty.1") == ""
    assert history.out("export", "#empty.1") == "# #Empty.1\n\n"


def test_log_and_export_as_json(history: Shelf) -> None:
    lines = history.out("log", "#general", "--json")
    assert [json.loads(line)["id"] for line in lines.splitlines()] == ["m1", "m2"]
    assert history.out("export", "general", "--json") == lines


def test_export_to_a_file(history: Shelf) -> None:
    target = history.desk.folder / "general.md"
    target.write_text("old " * 1000, encoding="utf-8")
    done = history.run("export", "#general", "-o", "general.md")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"Wrote 2 messages to {target}.\n")
    assert target.read_text(encoding="utf-8") == history.out("export", "#general", "-o", "-")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    for bad, why in ((".", "directory"), ("nowhere/x.md", "No such file")):
        done = history.run("export", "#general", "-o", bad)
        assert done.returncode == 1
        assert why in done.stderr
    assert sorted(path.name for path in history.desk.folder.parent.iterdir()) == ["config", "project"]
    assert [path.name for path in history.desk.folder.iterdir()] == ["general.md"]


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("#general", "where are routes"),
        ("general", "where are routes"),
        ("#GENERAL", "where are routes"),
        ("@alice", "only here"),
        ("alice", "only here"),
        ("ann--bert", "between us"),
        ("ann ↔ bert", "between us"),
    ],
)
def test_how_a_channel_is_named(history: Shelf, ref: str, said: str) -> None:
    assert said in history.out("log", ref)


@pytest.mark.parametrize(
    ("ref", "hint"),
    [
        ("#genral", "There is no channel '#genral'. Did you mean '#general'?"),
        ("@alcie", "There is no agent '@alcie'. Did you mean '@alice'?"),
        ("", "There is no channel or agent ''. There are: #general @alice ann ↔ bert #Empty.1"),
        ("#\x1b[2J", "There is no channel '#␛[2J'. There are: "),
    ],
)
def test_a_channel_that_does_not_exist(history: Shelf, ref: str, hint: str) -> None:
    for verb in ("log", "export"):
        done = history.run(verb, ref)
        assert (done.returncode, done.stdout) == (5, "")
        assert hint in done.stderr


def test_search(history: Shelf) -> None:
    row = "#general\t2\t2025-03-04T05:06:07.890Z\talice\tIn the *router*. \x1b]0;owned\x07a\x1b[2Jb **bold**\n"
    assert history.out("search", "router") == row
    assert history.out("search", "bold", "router", "--by", "@alice", "--in", "general") == row
    assert [json.loads(line)["message"]["id"] for line in history.out("search", "only", "--json").splitlines()] == [
        "m4",
        "m3",
    ]
    assert len(history.out("search", "only", "-n", "1").splitlines()) == 1
    for words in (["nothing like it"], ["router", "--by", "user"], ["router", "--in", "@alice"]):
        done = history.run("search", *words)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert history.run("search", "router", "--in", "#nowhere").returncode == 5


@pytest.mark.parametrize(
    "words",
    [["log"], ["export"], ["log", "general", "-n", "0"], ["log", "general", "-n", "x"], ["search"], ["channels", "-x"]],
)
def test_wrong_usage(history: Shelf, words: list[str]) -> None:
    done = history.run(*words)
    assert done.returncode == 64
    assert "usage: sidekicks" in done.stderr
    assert ("Quote '#general'" in done.stderr) == (len(words) == 1 and words[0] != "search")


def test_what_the_configuration_promises_is_there_and_empty(history: Shelf) -> None:
    history.config.write_text(CONFIG + "  - {name: bert, command: b}\nchannels: [{name: dev}]\n", encoding="utf-8")
    for ref in ("#dev", "@bert"):
        done = history.run("export", ref)
        assert (done.returncode, done.stdout) == (0, f"# {ref}\n\n")
        assert done.stderr == f"Nothing has been said in {ref} yet.\n"
    assert "Did you mean '@bert'?" in history.run("log", "@bret").stderr
    nobody = history.run("search", "router", "--by", "bret")
    assert nobody.returncode == 5
    assert "There is no agent '@bret'. Did you mean '@bert'?" in nobody.stderr


def test_on_a_terminal_it_looks_like_the_chat_and_obeys_nobody(history: Shelf) -> None:
    script = "; ".join(
        shlex.join(history.desk.sidekicks(*words))
        for words in (["channels"], ["log", "#general"], ["search", "ROUTER"], ["export", "#general"])
    )
    history.desk.env["TZ"] = "UTC"
    terminal = history.desk.open(["sh", "-c", script])
    assert terminal.wait_for_end() == 0
    shown = terminal.text()
    assert "CHANNEL     MEMBERS     MESSAGES  LAST              FOLDER" in shown
    assert "#general    alice, bob         2  2025-03-04 05:06" in shown
    assert "\n❯ You · 2025-03-04 05:06\n  @alice where are routes decided?\n\n🦊 Alice · 2025-03-04 05:06\n" in shown
    assert "  ␛]0;owned␇a␛[2Jb bold\n" in shown
    assert "\n#general · alice · 2025-03-04 05:06\n  In the *router*. ␛]0;owned" in shown
    assert b"\x1b[1;31mrouter\x1b[0m" in terminal.raw
    assert "\n# #general\n" in shown
    assert "\n␛]0;owned␇a␛[2Jb **bold**\n" in shown
    for sequence in (b"\x1b]0;", b"\x1b[2J", b"\x07"):
        assert sequence not in terminal.raw


def test_a_terminal_without_colours(history: Shelf) -> None:
    history.desk.env["TERM"] = "dumb"
    terminal = history.desk.open(history.desk.sidekicks("log", "#general"))
    assert terminal.wait_for_end() == 0
    assert b"\x1b" not in terminal.raw
    assert "Alice" in terminal.text()


def test_the_same_with_a_bridge_running(history: Shelf) -> None:
    words = [["channels"], ["log", "#general"], ["search", "router"], ["export", "#general"]]
    before = [history.process(*one) for one in words]
    assert {(done.returncode, done.stderr) for done in before} == {(0, "")}
    assert [done.stdout for done in before] == [history.out(*one) for one in words]
    try:
        assert history.process("hub", "--detach").returncode == 0
        assert [history.out(*one) for one in words] == [done.stdout for done in before]
    finally:
        assert "Stopped" in history.process("stop").stdout


def test_no_history_yet(shelf: Shelf) -> None:
    nothing = f"There is no history for {shelf.config} yet.\n"
    for words, code in ((["channels"], 0), (["search", "x"], 1), (["log", "#x"], 5), (["export", "#x"], 5)):
        done = shelf.run(*words)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith(nothing)
    assert not shelf.config.parent.exists()
    missing = shelf.run("channels", "--config", "nowhere.yaml")
    assert missing.returncode == 1
    assert "nowhere.yaml" in missing.stderr


@pytest.mark.parametrize(
    ("version", "hint"), [(99, "this bridge knows up to 1: update Sidekicks Bridge"), (-1, "a bridge that starts")]
)
def test_a_history_of_another_version(history: Shelf, version: int, hint: str) -> None:
    with sqlite3.connect(history.data / DATABASE) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    for words in (["channels"], ["log", "#general"], ["search", "x"], ["export", "#general"]):
        done = history.run(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"cannot be read: its database has version {version}" in done.stderr
        assert hint in done.stderr


def test_a_history_that_is_no_database(history: Shelf) -> None:
    (history.data / DATABASE).write_bytes(b"no database at all, but long enough" * 100)
    done = history.run("log", "#general")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def many(count: int, size: int) -> list[Change]:
    """A long history."""
    text = "x" * size
    return [
        PutChannel(channel("c1")),
        *[PutMessage(message(f"m{at}", [TextPart(text=f"{at} {text}")], seq=at)) for at in range(1, count + 1)],
    ]


MEASURE = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True);"
    "print(len(done.stdout.splitlines()), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def test_a_long_history_takes_little_memory_and_may_be_read_in_part(shelf: Shelf) -> None:
    shelf.keep(*many(8000, 8000))  # 64 MB

    def measured(*words: str) -> tuple[int, int]:
        argv = [sys.executable, "-c", MEASURE, *shelf.desk.sidekicks(*words)]
        done = subprocess.run(argv, env=shelf.desk.env, capture_output=True, text=True, check=True)
        lines, peak = done.stdout.split()
        return int(lines), int(peak) // (1024 if sys.platform == "darwin" else 1)

    lines, small = measured("log", "#general", "-n", "1", "--json")
    assert lines == 1
    lines, peak = measured("export", "#general", "--json")
    assert lines == 8000
    assert peak - small < 24 * 1024, f"{peak} KiB for all of it, {small} KiB for one message"
    pipeline = shlex.join(shelf.desk.sidekicks("export", "#general")) + " | head -n 3"
    done = subprocess.run(["sh", "-c", pipeline], env=shelf.desk.env, capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines()[0], done.stderr) == ("# #general", "")
    assert [json.loads(line)["seq"] for line in shelf.out("log", "#general", "-n", "1200", "--json").splitlines()] == [
        *range(6801, 8001)
    ]


class Watched(io.StringIO):
    """A stream that a person watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_once_it_takes_long_and_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Watched()
    now = iter([0.0, 0.5, 1.5, 1.6, 2.5])
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(quiet=False, clock=lambda: next(now)) as progress:
        for count in (200, 1400, 1600, 2000):
            progress.at(count)
        progress.end("Wrote 2000 messages.")
    assert stream.getvalue() == "\r1,400 messages …\r2,000 messages …\r\x1b[KWrote 2000 messages.\n"


def test_the_locale_does_not_matter(history: Shelf) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert history.process("channels", env=plain).stdout == history.out("channels")
    assert "between us" in history.process("log", "ann ↔ bert", env=plain).stdout


def test_the_folder_of_the_home_is_short(history: Shelf, tmp_path: Path) -> None:
    history.desk.env |= {"HOME": str(tmp_path), "TZ": "UTC"}
    terminal = history.desk.open(history.desk.sidekicks("channels"))
    assert terminal.wait_for_end() == 0
    assert "05:06  ~/project\n" in terminal.text()
