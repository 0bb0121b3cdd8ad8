"""What agents read and write through us: inside their folder, unsaved buffers first, errors in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.workspaces.local import LocalWorkspace, slice_text
from tests.agents.world import world

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.anyio
async def test_reading_and_writing_through_the_bridge(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (root / "link").symlink_to(tmp_path)
    async with world(root) as w:
        for directive, said in (
            ("!read a.txt|2|1", "read a.txt: two\n\n"),
            ("!read ../secret", "outside the folder"),
            ("!read link/secret", "outside the folder"),
            ("!read gone.txt", "refused: -32002 Resource not found: ENOENT"),
            ("!read link", "outside the folder"),
            ("!write new/deep/b.txt|hello", "write new/deep/b.txt: ok"),
            ("!write ../c.txt|x", "outside the folder"),
            ("!write link/c.txt|x", "outside the folder"),
            ("!write new|x", "refused: -32603"),
            ("!request fs/read_text_file {}", "`path` must be"),
            ("!request terminal/create {}", "-32601"),
        ):
            before = len(w.sink.text())
            await w.ask(directive)
            assert said in w.sink.text()[before:], directive
        w.buffers[str(root / "a.txt")] = "unsaved\nbuffer"
        before = len(w.sink.text())
        await w.ask("!read a.txt|2")
        assert w.sink.text()[before:] == "read a.txt: buffer\n"
    assert (root / "new/deep/b.txt").read_text(encoding="utf-8") == "hello"
    assert not (tmp_path / "c.txt").exists()


def test_windows_of_lines(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\nb\rc\nd")
    workspace = LocalWorkspace(str(tmp_path))
    for line, limit, expected in (
        (None, None, "a\r\nb\rc\nd"),
        (1, 1, "a\r\n"),
        (0, 1, "a\r\n"),
        (2, None, "b\rc\nd"),
        (2, 1, "b\rc\n"),
        (9, None, ""),
        (1, 0, ""),
        (None, 2, "a\r\nb\rc\n"),
    ):
        assert workspace.read_text("f", line, limit) == expected
        assert slice_text("a\r\nb\rc\nd", line, limit) == expected


def test_writing_keeps_mode_and_links_and_leaves_nothing_behind(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old", encoding="utf-8")
    script.chmod(0o750)
    (tmp_path / "alias").symlink_to("run.sh")
    workspace = LocalWorkspace(str(tmp_path))
    workspace.write_text("alias", "new")
    assert script.read_text(encoding="utf-8") == "new"
    assert script.stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "alias").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alias", "run.sh"]


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    workspace = LocalWorkspace(str(tmp_path))
    for path, words in (("binary", "not UTF-8"), (".", "not a regular file"), ("a\0b", "NUL")):
        with pytest.raises(SidekicksError, match=words):
            workspace.read_text(path)


def test_a_root_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    workspace = LocalWorkspace(str(tmp_path / "link"))
    workspace.write_text(str(tmp_path / "link" / "f"), "x")
    assert workspace.read_text(str(tmp_path / "real" / "f")) == "x"
