"""`sidekicks`: the first word names an entry point; nothing else is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import __version__
from sidekicks_bridge.__main__ import main
from tests.support.sandbox import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {word}" in shown for word in ("chat", "say", "config", "serve", "version"))
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == main(["version"]) == 0
    assert capsys.readouterr().out == f"sidekicks {__version__}\n" * 2


@pytest.mark.parametrize(("word", "hint"), [("chta", " Did you mean `sidekicks chat`?"), ("frobnicate", "")])
def test_an_unknown_command(capsys: pytest.CaptureFixture[str], word: str, hint: str) -> None:
    assert main([word]) == 64
    assert capsys.readouterr().err == (f"sidekicks: there is no command '{word}'.{hint} `sidekicks help` lists them.\n")


def shell(line: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``sidekicks LINE``, by a shell, with no configuration but the one it makes."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m sidekicks_bridge {line}"],
        cwd=folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(REPOSITORY), **env},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("verb", ["status", "help", "config path", "config schema", "protocol", "agents available"])
def test_a_reader_that_has_seen_enough_ends_it_quietly(tmp_path: Path, verb: str) -> None:
    ended = shell(f"{verb} | (exec 0<&-; sleep 0.2)", tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("status >&-", 0, ""),
        ("status 2>&-", 0, "No bridge is running"),
        ("say '#general' - <&-", 64, "there is nothing to say"),
        ("frobnicate 2>&-", 64, ""),
    ],
)
def test_a_standard_stream_that_is_closed_is_taken_for_nothing(tmp_path: Path, line: str, code: int, said: str) -> None:
    ended = shell(line, tmp_path)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert said in ended.stdout + ended.stderr


def test_a_user_without_a_home_folder_is_told_what_to_set(tmp_path: Path) -> None:
    """A container's user may stand in no list of users."""
    line = (
        "import pwd, sys; from sidekicks_bridge.__main__ import main\n"
        "def unknown(_): raise KeyError\n"
        "pwd.getpwuid = unknown; sys.exit(main(['status']))"
    )
    env = {key: value for key, value in os.environ.items() if key not in ("XDG_CONFIG_HOME", "HOME")}
    ended = subprocess.run(
        [sys.executable, "-c", line],
        env={**env, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("sidekicks: Your home folder is not known: set HOME")


def test_ctrl_c_while_a_command_is_still_imported_leaves_no_traceback(tmp_path: Path) -> None:
    program = (
        "import importlib.abc, sys\n"
        "class Interrupted(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'sidekicks_bridge.cli.say':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from sidekicks_bridge.__main__ import main\n"
        "sys.exit(main(['say', '#general', 'hi']))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run([sys.executable, "-c", program], env=env, cwd=tmp_path, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


@pytest.mark.parametrize("line", ["help", "protocol", "config schema"])
def test_output_that_does_not_fit_on_the_disk_is_said_in_a_sentence(tmp_path: Path, line: str) -> None:
    program = f"ulimit -f 0; exec {sys.executable} -m sidekicks_bridge {line} > out"
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(["/bin/sh", "-c", program], env=env, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == b"sidekicks: what is printed here cannot be written: File too large\n"
