"""`sidekicks config` as a person meets it: what it prints, and its exit code."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.cli.config import main
from sidekicks_bridge.config.schema import config_schema_text

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "agents: []\n"
BAD = "agents:\n  - name: a\nfoo: 1\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SIDEKICKS_CONFIG", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    return tmp_path


def test_path(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["path"]) == 0
    assert capsys.readouterr().out == f"{home}/sidekicks/config.yaml\n"
    monkeypatch.setenv("SIDEKICKS_CONFIG", "/v.yaml")
    assert main(["path"]) == 0
    assert main(["path", "--config", "/a.yaml"]) == 0
    assert capsys.readouterr().out == "/v.yaml\n/a.yaml\n"
    assert list(home.iterdir()) == []


def test_check(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "c.yaml"
    file.write_text(BAD, encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().out == (
        f'{file}:2:5: error: Agent a needs a "command" that starts it (or "builtin": scout or scribe).\n'
        f"{file}:3:1: warning: The key 'foo' is unknown and ignored. "
        "Known here: agents, channels, limits, permissions, messaging, ui.\n"
    )
    assert main(["check", "--json", "--config", str(file)]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert [(problem["line"], problem["path"]) for problem in problems] == [(2, ["agents", 0]), (3, ["foo"])]
    file.write_text(GOOD + "foo: 1\n", encoding="utf-8")
    assert main(["check", str(file)]) == 0


def test_check_of_what_is_good_or_not_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "c.yaml").write_text(GOOD, encoding="utf-8")
    assert main(["check", str(home / "c.yaml")]) == 0
    assert main(["check"]) == 0
    assert main(["check", str(home / "none.yaml")]) == 1
    printed = capsys.readouterr()
    assert printed.err == (
        f"{home}/c.yaml: no problems\n"
        f"{home}/sidekicks/config.yaml does not exist yet; it is made on the first run.\n"
    )  # fmt: skip
    assert printed.out == (
        f"{home}/none.yaml:1:1: error: The file {home}/none.yaml cannot be read: No such file or directory.\n"
    )


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == config_schema_text()


def editor(home: Path, code: str) -> str:
    script = home / "an editor.py"
    script.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[-1])\n{code}\n", encoding="utf-8")
    return f"'{sys.executable}' '{script}' --wait"


def test_edit_makes_opens_and_checks(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(home, "file.write_text(file.read_text() + 'foo: 1\\nlimits: 5\\n')"))
    assert main(["edit"]) == 1
    unknown, twice = capsys.readouterr().out.splitlines()
    assert unknown.startswith(f"{home}/sidekicks/config.yaml:")
    assert "warning: The key 'foo' is unknown" in unknown
    assert "error: The key 'limits' stands twice" in twice


@pytest.mark.parametrize(
    ("command", "said"),
    [("no-such-editor-here", "cannot be started"), ("'unclosed", "cannot be started"), ("false", "ended with 1")],
)
def test_an_editor_that_fails(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.setenv("VISUAL", command)
    assert main(["edit"]) == 1
    assert said in capsys.readouterr().err


def test_edit_of_a_file_that_does_not_exist(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["edit", "--config", str(home / "none.yaml")]) == 1
    assert "named by --config, does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [[], ["nothing"], ["check", "--jsn"]])
def test_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 64
    assert "usage: sidekicks config" in capsys.readouterr().err
