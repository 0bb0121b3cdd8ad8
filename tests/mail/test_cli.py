"""The verbs as processes: what they print, their exit codes, identity and messages from all places."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.lock import read_holder
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME = "2026-"


class Shell:
    """Runs `sidekicks` with a configuration of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.box = BridgeSandbox(folder, {})
        self.env = {**self.box.environment(), "SIDEKICKS_CONFIG": str(self.box.config_path)}

    def start(self, *words: str, name: str | None = None) -> subprocess.Popen[str]:
        env = self.env if name is None else {**self.env, "SIDEKICKS_NAME": name}
        return subprocess.Popen(
            [sys.executable, "-m", "sidekicks_bridge", *words],
            env=env,
            cwd=self.box.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, *words: str, name: str | None = None, typed: str = "") -> tuple[int, str, str]:
        """Exit code, output, errors."""
        process = self.start(*words, name=name)
        out, err = process.communicate(typed, timeout=30)
        return process.returncode, out, err

    def ok(self, *words: str, name: str | None = None, typed: str = "") -> str:
        """The output of a verb that works."""
        code, out, err = self.run(*words, name=name, typed=typed)
        assert (code, err) == (0, "")
        return out

    def keys(self) -> Path:
        (folder,) = self.box.config_home.glob("sidekicks/data/*/keys")
        return folder


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A hub is started by the first verb; it ends with the file."""
    shell = Shell(tmp_path_factory.mktemp("shell"))
    shell.ok("register", "ann")
    shell.ok("register", "ben")
    yield shell
    assert shell.run("stop")[0] == 0


def test_tell_and_read(shell: Shell) -> None:
    assert shell.ok("tell", "--as", "ann", "ben", "hello\nthere") == "seq=1 peer=ben\n"
    assert shell.ok("peek", "ann", name="ben").endswith(" ann] hello\n  there\n")
    assert shell.ok("channels", "--as", "ben") == "peer=ann\tpending=1\tdropped=0\n"
    assert shell.ok("read", "ann", name="ben") == "hello\nthere\n"
    assert shell.ok("read", "ann", "--timeout", "0", name="ben") == ""
    history = shell.ok("history", "ann", "--limit=1", name="ben")
    assert history.startswith(f"[1 {TIME}")
    assert shell.ok("tell", "ben", "-", name="ann", typed="from\nstdin") == "seq=2 peer=ben\n"
    (shell.box.folder / "note.md").write_text("from a file", encoding="utf-8")
    assert shell.ok("tell", "ben", "--file", "note.md", name="ann") == "seq=3 peer=ben\n"
    assert shell.ok("tell", "--as", "ann", "--", "@ben", "--json") == "seq=4 peer=ben\n"
    assert shell.ok("read-any", "--timeout", "0", "--as", "ben") == "peer=ann\nfrom\nstdin\n"
    found = json.loads(shell.ok("read", "ann", "--json", name="ben"))
    assert [(one["seq"], one["body"]) for one in found["messages"]] == [(3, "from a file")]
    assert shell.ok("read", "ann", name="ben") == "--json\n"


def test_ask(shell: Shell) -> None:
    shell.ok("tell", "ann", "earlier", name="ben")
    asking = shell.start("ask", "ben", "well?", name="ann")
    assert shell.ok("read", "ann", name="ben") == "well?\n"
    shell.ok("tell", "ann", "this", name="ben")
    out, err = asking.communicate(timeout=30)
    earlier, answer = out.splitlines()
    assert (earlier.split("] ")[1], answer, err, asking.returncode) == ("earlier", "this", "", 0)


def test_rooms(shell: Shell) -> None:
    assert shell.ok("room", "create", "dev", "--desc", "for all", name="ann") == "room=dev members=ann\n"
    assert shell.ok("join", "#dev", name="ben") == "room=dev members=ann,ben\n"
    assert shell.ok("rooms", name="ben").splitlines()[-1] == "dev\tmembers=ann,ben\tfor all"
    posted = shell.ok("post", "dev", "hello", name="ann")
    assert posted.startswith("room=dev seq=")
    assert shell.ok("participants", "dev", name="ann") == "ann\tpending=0\tdropped=0\nben\tpending=1\tdropped=0\n"
    assert shell.ok("read", "#dev", name="ben").endswith(" ann] hello\n")
    shell.ok("post", "#dev", "again", name="ann")
    assert shell.ok("peek", "--room", "dev", name="ben").endswith(" ann] again\n")
    shell.ok("leave", "dev", name="ben")
    assert shell.run("read", "--room", "dev", name="ben")[0] == 5


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (2, "timeout", ["read", "ben", "--timeout", "0.05", "--as", "ann"]),
        (2, "timeout", ["read-any", "--timeout", "0.05", "--as", "ann"]),
        (2, "timeout", ["ask", "ben", "?", "--timeout", "0.05", "--as", "ann"]),
        (5, "peerNotFound", ["tell", "nobody", "x", "--as", "ann"]),
        (5, "channelNotFound", ["post", "nowhere", "x", "--as", "ann"]),
        (6, "unauthorized", ["tell", "ben", "x", "--as", "stranger"]),
        (1, "invalidParams", ["tell", "ann", "x", "--as", "ann"]),
        (1, "channelExists", ["room", "create", "general", "--as", "ann"]),
        (64, "usage", ["tell", "ben", "x"]),
        (64, "usage", ["tell", "ben", "--as", "ann"]),
        (64, "usage", ["tell", "ben", "two", "words", "--as", "ann"]),
        (64, "usage", ["tell", "ben", " ", "--as", "ann"]),
        (64, "usage", ["tell", "ben", "x", "--as"]),
        (64, "usage", ["tell", "ben", "x", "--as", "x/../ann"]),
        (64, "usage", ["tell", "ben", "x", "--loud", "--as", "ann"]),
        (64, "usage", ["read", "--as", "ann"]),
        (64, "usage", ["read", "ben", "--timeout", "soon", "--as", "ann"]),
        (64, "usage", ["tell", "ben", "--file", "missing", "--as", "ann"]),
        (64, "usage", ["register", "a--b"]),
    ],
)
def test_exit_codes(shell: Shell, code: int, reason: str, words: list[str]) -> None:
    found, out, err = shell.run(*words, "--json")
    assert found == code, out + err
    error = json.loads(out)
    assert set(error) == {"code", "reason", "hint", "context"}
    assert (error["code"], error["reason"]) == (code, reason)
    assert len(error["hint"]) > 10
    found, out, err = shell.run(*words)
    assert (found, out) == (code, "")
    assert err.startswith(f"sidekicks {' '.join(words[:2]) if words[0] == 'room' else words[0]}: ")


def test_a_missing_room_says_why_the_shell_may_have_eaten_it(shell: Shell) -> None:
    assert "quotes" in shell.run("read", "--as", "ann")[2]


def test_closed_while_waiting(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("register", "ann")
    shell.ok("register", "ben")
    waiting = shell.start("ask", "ben", "?", name="ann")
    assert shell.ok("read", "ann", name="ben") == "?\n"  # so it waits now
    assert shell.run("stop")[0] == 0
    waiting.communicate(timeout=30)
    assert waiting.returncode == 3
    assert shell.ok("tell", "ben", "after the stop", name="ann").startswith("seq=2"), (
        "the first verb after a stop works"
    )
    assert shell.run("stop")[0] == 0


def test_killed_while_waiting(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("register", "ann")
    shell.ok("register", "ben")
    waiting = shell.start("ask", "ben", "?", name="ann")
    assert shell.ok("read-any", name="ben") == "peer=ann\n?\n"  # so it waits now
    (lock,) = shell.box.config_home.glob("sidekicks/data/*/bridge.lock")
    holder = read_holder(lock)
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL)
    _, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, "history" in err) == (3, True)
    assert shell.ok("tell", "ann", "still here", name="ben") == "seq=2 peer=ann\n"
    assert shell.ok("read", "ben", name="ann") == "still here\n"
    assert shell.run("stop")[0] == 0


def test_a_bridge_that_ends_loses_and_doubles_no_letter(tmp_path: Path) -> None:
    """Whoever writes while it is stopped is answered by it, or by the one that is started next."""
    shell = Shell(tmp_path)
    shell.ok("register", "ann")
    shell.ok("register", "ben")
    for around in range(2):
        telling = [shell.start("tell", "ben", f"{around}.{number}", name="ann") for number in range(12)]
        assert shell.run("stop")[0] == 0
        assert [(process.communicate(timeout=60)[1], process.returncode) for process in telling] == [("", 0)] * 12
    history = shell.ok("history", "ben", "--json", name="ann")
    bodies = sorted(one["body"] for one in json.loads(history)["messages"])
    assert bodies == sorted(f"{around}.{number}" for around in range(2) for number in range(12))
    assert shell.run("stop")[0] == 0


def test_keys_are_for_the_user_alone(shell: Shell) -> None:
    key = shell.keys() / "ann.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert shell.keys().stat().st_mode & 0o777 == 0o700


def test_a_replaced_key_is_an_error(shell: Shell) -> None:
    shell.ok("register", "dan")
    key = shell.keys() / "dan.key"
    kept = key.read_text()
    for wrong in ("00" * 32, "nonsense", ""):
        key.write_text(wrong)
        assert shell.run("read", "ann", "--timeout", "0", name="dan")[0] == 6
    key.write_text(kept)
    assert shell.run("read", "ann", "--timeout", "0", name="dan")[0] == 0
    shell.ok("unregister", name="dan")
    assert not key.exists()
    assert shell.run("read", "ann", "--timeout", "0", name="dan")[0] == 6


@pytest.mark.parametrize(
    ("old", "now", "words"),
    [("send", "tell", ["ben", "x"]), ("await", "read", ["ben", "--timeout", "0"]), ("session", "channels", [])],
)
def test_old_names(shell: Shell, old: str, now: str, words: list[str]) -> None:
    code, _, err = shell.run(old, *words, "--as", "ann")
    assert code == 0
    assert f"sidekicks {now}" in err


@pytest.mark.parametrize("word", ["tunnel", "close"])
def test_names_that_do_nothing(shell: Shell, word: str) -> None:
    code, out, err = shell.run(word, "anything")
    assert (code, out) == (0, "")
    assert word in err


def test_help_for_agents(shell: Shell) -> None:
    out = shell.ok("protocol")
    for verb in ("register", "tell", "ask", "read", "read-any", "peek", "post", "room create", "history"):
        assert f"sidekicks {verb}" in out
    assert "exit codes" in out
    assert "usage: sidekicks tell <peer>" in shell.ok("tell", "--help")
    assert "ann" in shell.ok("agents")
    assert shell.ok("renew", name="ann").startswith("name=ann until=")


def test_the_hub_that_a_verb_starts_is_found_by_the_next(shell: Shell) -> None:
    (place,) = shell.box.config_home.glob("sidekicks/data/*/bridge.lock")
    before = read_holder(place)
    shell.ok("agents")
    assert read_holder(place) == before


def test_verify_and_purge(shell: Shell) -> None:
    shell.ok("tell", "ben", "proved", name="ann")
    assert shell.run("transcript", "purge")[0] == 64
    shell.ok("transcript", "purge", "--yes")
    out = shell.ok("verify")
    assert re.fullmatch(r"\d+ messages, all as they were written\n", out)
    folder = Path(shell.ok("transcript", "path").strip())
    (page,) = [path for path in folder.glob("peers/ann--ben/*.md") if "proved" in path.read_text(encoding="utf-8")]
    page.write_text(page.read_text(encoding="utf-8").replace("proved", "forged"), encoding="utf-8")
    code, out, _ = shell.run("verify", "ben", "--json")
    assert (code, {finding["what"] for finding in json.loads(out)["findings"]}) == (1, {"changed", "unsigned"})
    assert shell.run("verify", "nobody")[0] == 5


# ── a history that cannot be used ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Shell]:
    """A shell whose hub, if there is one, ends with the test."""
    shell = Shell(tmp_path)
    yield shell
    assert shell.run("stop")[0] == 0


@pytest.mark.parametrize("words", [("register", "ann"), ("tell", "--as", "ann", "ben", "hi"), ("log", "#general")])
def test_a_file_where_the_data_folder_should_be(own: Shell, words: tuple[str, ...]) -> None:
    own.box.data.parent.mkdir(parents=True)
    own.box.data.touch()
    _, _, err = own.run(*words)
    assert f"{own.box.data} is no folder: move it away" in err


def test_a_hub_that_has_no_folder_says_so_to_whom_starts_it(own: Shell) -> None:
    own.box.data.parent.mkdir(parents=True)
    own.box.data.touch()
    _, _, err = own.run("say", "#general", "hi")
    assert f"{own.box.data} is no folder: move it away" in err
    assert "Errno" not in err


def test_a_history_that_cannot_be_read(own: Shell) -> None:
    """One hub goes on in memory, found by each verb, and says that it does not know what was kept."""
    own.ok("register", "ann")
    own.ok("stop")
    history = own.box.data / "history.db"
    with closing(sqlite3.connect(history)) as newer:
        newer.execute("PRAGMA user_version = 99")
        newer.commit()
    code, _, err = own.run("tell", "ann", "hi", name="ann")
    assert code == 6
    assert "Earlier registrations were not read: " in err
    assert "update Sidekicks Bridge" in err
    own.ok("register", "ann")
    own.ok("register", "ben")
    code, out, err = own.run("tell", "ben", "hi", name="ann")
    assert (code, out) == (0, "seq=1 peer=ben\n")
    assert "note: history is not kept: " in err
    assert own.ok("read", "ann", name="ben") == "hi\n"
    assert f"not kept: The history in {own.box.data}" in own.ok("status")


def test_status_shows_that_the_transcript_is_behind(own: Shell) -> None:
    own.ok("register", "ann")
    own.ok("register", "ben")
    (own.box.data / "transcript").touch()
    own.ok("tell", "ben", "hi", name="ann")
    assert own.run("transcript", "purge", "--yes")[0] == 1  # it has been tried now
    assert re.search(r"^history +kept: The transcript in .* is behind: ", own.ok("status"), re.MULTILINE)
