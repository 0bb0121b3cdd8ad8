"""The file on disk: which one, its first text, changing it, and noticing that it changed."""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import msgspec
import pytest

from sidekicks_bridge.config.edit import edit_file
from sidekicks_bridge.config.first_run import create
from sidekicks_bridge.config.load import load
from sidekicks_bridge.config.locate import ensure, locate
from sidekicks_bridge.config.save import write_text
from sidekicks_bridge.config.schema import SCHEMA_FILE, config_schema_text
from sidekicks_bridge.config.watch import signature, watch
from sidekicks_bridge.paths import default_config_path
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = "agents:\n  - name: a # first\n    command: x\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "config.yaml"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- which file ---


def test_who_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    variable = {"SIDEKICKS_CONFIG": "/v.yaml"}
    (tmp_path / ".sidekicks.yaml").touch()
    named = [
        locate("/a.yaml", "/c.yaml", tmp_path, variable),
        locate(None, "/c.yaml", tmp_path, variable),
        locate(None, None, tmp_path, variable),
        locate(None, None, tmp_path, {}),
        locate(None, None, tmp_path / "other", {}),
    ]
    assert [(location.origin, str(location.path)) for location in named] == [
        ("argument", "/a.yaml"),
        ("client", "/c.yaml"),
        ("environment", "/v.yaml"),
        ("workspace", f"{tmp_path}/.sidekicks.yaml"),
        ("default", f"{tmp_path}/sidekicks/config.yaml"),
    ]


def test_a_relative_configuration_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be another place, with another history, for each folder that somebody works in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "here")
    assert default_config_path().is_absolute()
    assert "here" not in default_config_path().parts


def test_only_the_default_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(SidekicksError, match=r"none\.yaml, named by --config, does not exist"):
        ensure(locate(str(tmp_path / "none.yaml")))
    with pytest.raises(SidekicksError, match=r"named by \$SIDEKICKS_CONFIG, does not exist"):
        ensure(locate(environ={"SIDEKICKS_CONFIG": str(tmp_path / "none.yaml")}))
    assert list(tmp_path.iterdir()) == []
    default = locate(environ={})
    ensure(default)
    assert default.path.exists()


# --- the first run ---


def test_the_first_file_is_good_private_and_explained(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.yaml"
    assert create(path)
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema=./{SCHEMA_FILE}\n")
    assert (path.parent / SCHEMA_FILE).read_text(encoding="utf-8") == config_schema_text()
    parsed = load(path)
    assert parsed.problems == []
    assert parsed.config is not None
    assert [agent.builtin for agent in parsed.config.agents] == ["scout", "scribe"]
    assert [(channel.name, channel.members) for channel in parsed.config.channels] == [("general", ["scout", "scribe"])]


def test_its_commented_lines_are_good_and_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    create(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    after = lines.index("  # arguments go into `args`. Remove the `#` and adapt.") + 1
    adapted = [line.replace("# ", "", 1) if line.startswith("  # ") else line for line in lines[after:]]
    examples = lines[:after] + adapted
    path.write_text("\n".join(examples), encoding="utf-8")
    parsed = load(path, {"SOME_API_KEY": "k"})
    assert parsed.problems == []
    assert parsed.config is not None
    names = [agent.name for agent in parsed.config.agents]  # between them what is found on this computer
    assert (names[:2], names[-1]) == (["scout", "scribe"], "reviewer")
    create(tmp_path / "plain.yaml")
    plain = load(tmp_path / "plain.yaml").config
    assert plain is not None
    assert msgspec.structs.replace(parsed.config, agents=[]) == msgspec.structs.replace(plain, agents=[])


def test_a_file_that_exists_is_not_touched_but_the_schema_is_refreshed(file: Path) -> None:
    (file.parent / SCHEMA_FILE).write_text("old", encoding="utf-8")
    assert not create(file)
    assert file.read_text(encoding="utf-8") == TEXT
    assert (file.parent / SCHEMA_FILE).read_text(encoding="utf-8") == config_schema_text()


def test_a_place_where_nothing_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "plain"))
    with pytest.raises(SidekicksError, match=r"cannot be made: .* Name another one with --config") as caught:
        ensure(locate(environ={}))
    assert caught.value.code == "configUnwritable"


# --- changing it ---


def test_an_edit_keeps_mode_link_and_byte_order_mark(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    file.chmod(0o640)
    link = file.parent / "link.yaml"
    link.symlink_to("config.yaml")
    parsed = edit_file(link, ["agents", 0, "args"], ["--acp"])
    assert file.read_bytes() == b"\xef\xbb\xbf" + (TEXT + "    args: [--acp]\n").encode()
    assert mode(file) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in file.parent.iterdir()) == ["config.yaml", "link.yaml"]
    assert parsed.config is not None
    assert parsed.config.agents[0].args == ["--acp"]


@pytest.mark.parametrize(
    ("text", "keys", "value", "code", "message"),
    [
        ("agents: [\n", ["ui"], {}, "configInvalid", "cannot be read"),
        (TEXT, ["limits", "idleStop"], "soon", "configInvalid", "must be a duration"),
        (TEXT, ["agents", 1], {"name": "A", "command": "y"}, "configInvalid", "Another agent is named A"),
        (TEXT, ["agents", 0, "command"], None, "configInvalid", 'needs a "command"'),
    ],
)
def test_an_edit_never_makes_it_worse(
    file: Path, text: str, keys: list[str | int], value: object, code: str, message: str
) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SidekicksError, match=message) as caught:
        edit_file(file, keys, value)
    assert caught.value.code == code
    assert file.read_text(encoding="utf-8") == text


def test_a_file_with_an_error_elsewhere_can_be_edited(file: Path) -> None:
    file.write_text(TEXT + "limits: 5\n", encoding="utf-8")
    parsed = edit_file(file, ["agents", 0, "command"], "y")
    assert [problem.line for problem in parsed.errors] == [4]


def test_a_read_only_file_and_one_changed_meanwhile(file: Path) -> None:
    with pytest.raises(SidekicksError, match=r"was changed meanwhile; try again") as caught:
        write_text(file, "new", expected="other")
    assert caught.value.code == "configUnwritable"
    file.chmod(0o400)
    with pytest.raises(SidekicksError, match=r"cannot be written: it is read-only") as caught:
        edit_file(file, ["agents", 0, "command"], "y")
    assert caught.value.code == "configUnwritable"
    assert file.read_text(encoding="utf-8") == TEXT


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SidekicksError, match=r"cannot be written: No such file or directory"):
        write_text(tmp_path / "gone" / "config.yaml", "x")


# --- noticing ---


def in_place(file: Path) -> None:
    file.write_text("in place", encoding="utf-8")


def by_rename(file: Path) -> None:
    temporary = file.with_name("4913~")
    temporary.write_text("by rename", encoding="utf-8")
    temporary.replace(file)


def away_and_back(file: Path) -> None:  # as some editors keep a backup
    file.rename(file.with_suffix(".bak"))
    file.write_text("again", encoding="utf-8")


def folder_away_and_back(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.mkdir()
    file.write_text("new folder", encoding="utf-8")


def folder_swapped(file: Path) -> None:
    other = file.parent.with_name("other")
    other.mkdir()
    (other / file.name).write_text("swapped", encoding="utf-8")
    file.parent.rename(file.parent.with_name("old"))
    other.rename(file.parent)


def to_a_link(file: Path) -> None:
    target = file.parent.parent / "elsewhere" / "real.yaml"
    target.parent.mkdir()
    target.write_text("linked", encoding="utf-8")
    file.unlink()
    file.symlink_to(target)


CHANGES = [by_rename, away_and_back, os.remove, folder_away_and_back, folder_swapped, to_a_link]


class Seen:
    """What the watcher's caller read, each time it was told; a test waits for a content."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changed = anyio.Event()
        self.contents: list[str | None] = []

    async def on_change(self) -> None:
        self.contents.append(content(self._file))
        self._changed.set()

    async def wait_for(self, content: str | None) -> None:
        with anyio.fail_after(10):
            while not self.contents or self.contents[-1] != content:
                self._changed = anyio.Event()
                await self._changed.wait()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def content(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None


def save_where_it_is(file: Path) -> None:
    file.resolve().write_text("and then", encoding="utf-8")


@pytest.mark.anyio
@pytest.mark.parametrize("change", CHANGES)
async def test_every_way_of_saving_is_noticed(file: Path, change: Callable[[Path], object]) -> None:
    seen = Seen(file)
    async with anyio.create_task_group() as group:
        group.start_soon(watch, file, seen.on_change, signature(file))
        in_place(file)
        await seen.wait_for("in place")
        change(file)
        await seen.wait_for(content(file))
        save_where_it_is(file)
        await seen.wait_for("and then")
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_change_before_the_watch_began_is_not_missed(file: Path) -> None:
    before = signature(file)
    in_place(file)
    seen = Seen(file)
    async with anyio.create_task_group() as group:
        group.start_soon(watch, file, seen.on_change, before)
        await seen.wait_for("in place")
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_other_files_of_the_folder_are_no_change(file: Path) -> None:
    seen = Seen(file)
    async with anyio.create_task_group() as group:
        group.start_soon(watch, file, seen.on_change, signature(file))
        for number in range(20):
            (file.parent / f"{number}.txt").write_text("x", encoding="utf-8")
        in_place(file)
        await seen.wait_for("in place")
        group.cancel_scope.cancel()
    assert set(seen.contents) == {"in place"}


@pytest.mark.anyio
async def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    file = tmp_path / "later" / "config.yaml"
    seen = Seen(file)
    async with anyio.create_task_group() as group:
        group.start_soon(watch, file, seen.on_change)
        await anyio.lowlevel.checkpoint()
        file.parent.mkdir()
        in_place(file)
        await seen.wait_for("in place")
        group.cancel_scope.cancel()
