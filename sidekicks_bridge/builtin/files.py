"""The files of a workspace: which ones there are, by its ignore rules, and their text.

Owns the border of the workspace: nothing outside the root is listed or read, whatever links lead there.
Writes nothing.
"""
# ruff: noqa: PTH110, PTH112, PTH114, PTH118 - tens of thousands of paths: pathlib doubles the time

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sidekicks_bridge.builtin.rpc import Json

MAX_FILES = 100_000  # a home folder opened by mistake must not be walked for ever
MAX_BYTES = 1024 * 1024  # larger files are data or generated
_BINARY_PROBE = 8192  # bytes looked at for a NUL, as git does
_SECRET_NAMES = frozenset({".env", ".netrc", ".npmrc", ".pypirc", "id_rsa", "id_ed25519", "id_ecdsa"})
_SECRET_ENDS = (".pem", ".key", ".p12", ".pfx", ".kdbx")
_GENERATED_ENDS = (
    ".min.js",
    ".min.css",
    ".map",
    ".lock",
    ".svg",
    "package-lock.json",
    "pnpm-lock.yaml",
    "go.sum",
)


class WorkspaceError(Exception):
    """A path that cannot be used; the message names it and says what to do."""


class Workspace:
    """A root folder, seen through its ignore rules. Paths go in and out relative to it, with ``/``."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._inside: dict[str, bool] = {}

    def files(self, check: Callable[[], None]) -> list[str]:
        """Return all files that are not ignored, sorted; ``check`` is called often and may raise to stop."""
        found = []
        for path in self._listed(self._real_root, "", check):
            found.append(path)
            if len(found) >= MAX_FILES:
                break
        return sorted(found)

    def location(self, path: str, line: int | None = None) -> Json:
        """Return a listed file as an ACP location, under the root as the client named it."""
        place: Json = {"path": os.path.join(self.root, *path.split("/"))}
        return place if line is None else {**place, "line": line}

    def resolve(self, given: str) -> str:
        """Return a path a person gave, relative or absolute, as one of ours.

        Raises WorkspaceError if it leads outside of the root or is no file.
        """
        try:
            real = Path(self._real_root, Path(given).expanduser()).resolve()
            inside = real.relative_to(self._real_root)
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkspaceError(
                f"`{given}` is outside of this workspace (`{self.root}`), so I do not read it."
            ) from error
        if not real.is_file():
            raise WorkspaceError(
                f"There is no file `{given}` in this workspace. `/files {Path(given).name}` looks for it."
            )
        return inside.as_posix()

    def text(self, path: str) -> str | None:
        """Return a listed file's text; None if it is binary, too large, gone, or a link to elsewhere."""
        folder, _, _ = path.rpartition("/")
        if not self._is_inside(folder):
            return None
        full = os.path.join(self._real_root, path)
        try:
            handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return None
        try:
            data = os.read(handle, MAX_BYTES + 1)
        except OSError:
            return None
        finally:
            os.close(handle)
        if len(data) > MAX_BYTES or b"\0" in data[:_BINARY_PROBE]:
            return None
        return data.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")

    def _is_inside(self, folder: str) -> bool:
        if folder not in self._inside:
            real = os.path.realpath(os.path.join(self._real_root, folder))
            self._inside[folder] = os.path.commonpath([real, self._real_root]) == self._real_root
        return self._inside[folder]

    def _listed(self, folder: str, prefix: str, check: Callable[[], None]) -> Iterator[str]:
        # Nothing from git: no git, no repository, or a folder that a repository around it ignores.
        for path in _git_files(folder) or _walked_files(folder, check):
            check()
            full = os.path.join(folder, path)
            if os.path.islink(full):
                continue
            if not os.path.isdir(full):
                yield prefix + path
            elif os.path.exists(os.path.join(full, ".git")):  # a submodule or a repository of its own inside
                yield from self._listed(full, f"{prefix}{path.rstrip('/')}/", check)


def is_searched(path: str) -> bool:
    """Whether a file's text is searched: not what usually holds secrets, for answers go to other agents."""
    name = path.rpartition("/")[2].lower()
    return not (name in _SECRET_NAMES or name.startswith(".env.") or name.endswith(_SECRET_ENDS))


def is_generated(path: str) -> bool:
    """Whether a file is written by a tool, so that it is no answer to a question."""
    return path.lower().endswith(_GENERATED_ENDS)


def _git_files(folder: str) -> list[str]:
    """Return what git would show in a folder (it knows every ignore rule); nothing when git cannot say."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    # fsmonitor would run a program that the repository's own configuration names.
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    return list(dict.fromkeys(os.fsdecode(name) for name in done.stdout.split(b"\0") if name))


def _walked_files(folder: str, check: Callable[[], None]) -> Iterator[str]:
    """Yield the files below a folder, by the `.gitignore` files on the way; links are not followed."""
    rules: dict[str, list[tuple[str, Any]]] = {"": _rules(folder, "", [".gitignore", ".git/info/exclude"])}
    for place, folders, names in os.walk(folder):
        check()
        relative = os.path.relpath(place, folder).replace(os.sep, "/")
        prefix = "" if relative == "." else f"{relative}/"
        here = rules.setdefault(prefix, [])
        if prefix and ".gitignore" in names:
            here = rules[prefix] = [*here, *_rules(folder, prefix, [".gitignore"])]
        kept = [name for name in sorted(folders) if name != ".git" and not _ignored(f"{prefix}{name}/", here)]
        folders[:] = kept
        for name in kept:
            rules[f"{prefix}{name}/"] = here
        yield from (f"{prefix}{name}" for name in sorted(names) if not _ignored(f"{prefix}{name}", here))


def _rules(folder: str, prefix: str, names: list[str]) -> list[tuple[str, Any]]:
    from pathspec import GitIgnoreSpec

    found = []
    for name in reversed(names):  # the later rule wins: the folder's own file over the exclude list
        try:
            lines = Path(folder, prefix, name).read_text(encoding="utf-8", errors="replace").splitlines()
            found.append((prefix, GitIgnoreSpec.from_lines(lines)))
        except (OSError, ValueError):
            continue  # no such file, or a pattern git would not take either
    return found


def _ignored(path: str, rules: list[tuple[str, Any]]) -> bool:
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(path[len(prefix) :]).include
        if verdict is not None:
            return bool(verdict)
    return False
