"""The border of the workspace and its ignore rules, with git and without."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.builtin import files
from sidekicks_bridge.builtin.files import Workspace, WorkspaceError

if TYPE_CHECKING:
    from pathlib import Path

SEEN = [
    ".gitignore",
    "README.md",
    "server/.gitignore",
    "server/blob.bin",
    "server/keep.log",
    "server/router.py",
    "server/store.py",
    "web/view.ts",
]


def listed(root: Path) -> list[str]:
    return Workspace(str(root)).files(lambda: None)


def git(root: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)


def test_ignore_rules_without_git(root: Path) -> None:
    assert listed(root) == SEEN


def test_git_and_our_own_rules_agree(root: Path) -> None:
    git(root, "init")
    (root / ".git/info/exclude").write_text("README.md\n", encoding="utf-8")
    with_git = listed(root)
    assert with_git == [path for path in SEEN if path != "README.md"]
    assert sorted(files._walked_files(str(root), lambda: None)) == with_git


def test_a_tracked_file_is_seen_though_ignored_and_a_deleted_one_is_not_read(root: Path) -> None:
    git(root, "init")
    git(root, "add", "-f", "server/secret.txt", "README.md")
    (root / "README.md").unlink()
    workspace = Workspace(str(root))
    assert "server/secret.txt" in workspace.files(lambda: None)
    assert workspace.text("README.md") is None


def test_a_repository_inside_is_listed_by_its_own_rules(root: Path) -> None:
    git(root, "init")
    inner = root / "vendor/inner"
    inner.mkdir(parents=True)
    git(inner, "init")
    (inner / "a.py").write_text("x = 1\n", encoding="utf-8")
    (inner / "b.tmp").write_text("x", encoding="utf-8")
    (inner / ".gitignore").write_text("*.tmp\n", encoding="utf-8")
    assert [path for path in listed(root) if path.startswith("vendor")] == [
        "vendor/inner/.gitignore",
        "vendor/inner/a.py",
    ]


def test_a_folder_that_the_repository_around_it_ignores_is_listed(root: Path) -> None:
    git(root, "init")
    assert listed(root / "build") == ["router.py"]


def test_the_repositorys_own_configuration_runs_nothing(root: Path) -> None:
    git(root, "init")
    script = root / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {root}/hacked\n", encoding="utf-8")
    script.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(script))
    listed(root)
    assert not (root / "hacked").exists()


def test_links_that_leave_the_root_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key.py").write_text("decide = 1\n", encoding="utf-8")
    (root / "link.py").symlink_to(outside / "key.py")
    (root / "linked").symlink_to(outside)
    workspace = Workspace(str(root))
    assert workspace.files(lambda: None) == SEEN
    assert workspace.text("link.py") is None
    assert workspace.text("linked/key.py") is None  # as git lists it when a tracked folder became a link
    for given in ("link.py", "linked/key.py", "../outside/key.py", str(outside / "key.py"), "~/x"):
        with pytest.raises(WorkspaceError, match="outside of this workspace"):
            workspace.resolve(given)


def test_paths_a_person_gives(root: Path) -> None:
    workspace = Workspace(str(root))
    assert workspace.resolve("server/../server/router.py") == "server/router.py"
    assert workspace.resolve(str(root / "README.md")) == "README.md"
    with pytest.raises(WorkspaceError, match=r"no file `server/nope\.py`"):
        workspace.resolve("server/nope.py")
    with pytest.raises(WorkspaceError, match="no file `server`"):
        workspace.resolve("server")


def test_a_root_that_is_a_link_keeps_its_name(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    workspace = Workspace(str(tmp_path / "alias"))
    assert workspace.text("README.md") is not None
    assert workspace.location("server/router.py", 3) == {"path": str(tmp_path / "alias/server/router.py"), "line": 3}


def test_texts(root: Path) -> None:
    (root / "big.txt").write_bytes(b"x" * (files.MAX_BYTES + 1))
    (root / "latin.txt").write_bytes("\ufeffcafé\r\n".encode() + b"\xe9")
    os.mkfifo(root / "pipe")
    workspace = Workspace(str(root))
    assert workspace.text("big.txt") is None
    assert workspace.text("server/blob.bin") is None
    assert workspace.text("pipe") == ""
    assert workspace.text("latin.txt") == "café\n\ufffd"


def test_a_check_that_raises_stops_the_listing(root: Path) -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        Workspace(str(root)).files(stop)
