"""The git program on the transcript's repository: blocking calls, for a worker thread. Decides nothing.

Nothing of the user's own git takes part: no hooks, no signing, no global configuration; and no repository in a folder
above, should this one be damaged.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from sidekicks_bridge.private_files import private_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GIT_SECONDS = 120.0
STALE_LOCK_SECONDS = 60.0
"""A lock file of git so old was left by one that was killed: no git of ours runs so long between two looks."""
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "commit.gpgSign": "false",
    "core.autocrlf": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_WHO = {"NAME": "Sidekicks Bridge", "EMAIL": "bridge@sidekicks.invalid"}


class GitFailed(Exception):
    """Git could not do it; the message says why, for a person."""


class Repository:
    """The transcript's repository. Only one thread at a time may use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Whether there is a repository with a commit."""
        return (self.folder / ".git" / "HEAD").is_file() and bool(
            self._git("rev-parse", "-q", "--verify", "HEAD", check=False)
        )

    def make(self) -> None:
        """Make the repository if it is missing, or what is missing of it. Raises GitFailed, OSError."""
        private_folder(self.folder)
        if not (self.folder / ".git" / "HEAD").is_file():
            self._git("init", "-q", "-b", "main")

    def commit(self, paths: Sequence[str], message: str) -> None:
        """Commit these paths (relative; files or folders, there or gone) as they are now; nothing if nothing changed.

        Raises GitFailed.
        """
        self._drop_stale_lock()
        listed = "\0".join(paths).encode()
        self._git("add", "-A", "-f", "--pathspec-from-file=-", "--pathspec-file-nul", given=listed)
        if not self._git("diff", "--cached", "--quiet", check=False, code=True):
            return
        self._git("commit", "-q", "--no-verify", "-m", message)

    def known(self, folder: str) -> bool:
        """Whether anything is tracked in a folder."""
        return bool(self._git("ls-files", "--", folder, check=False))

    def tidy(self) -> None:
        """Git's own housekeeping."""
        self._git("gc", "--quiet", "--prune=now")

    def begin_anew(self) -> None:
        """Throw all commits and files away. Raises OSError."""
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def _drop_stale_lock(self) -> None:
        lock = self.folder / ".git" / "index.lock"
        try:
            if time.time() - lock.stat().st_mtime > STALE_LOCK_SECONDS:
                lock.unlink()
        except OSError:
            pass  # there is none

    def _git(self, *words: str, given: bytes = b"", check: bool = True, code: bool = False) -> str:
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = ["git", *settings, "--literal-pathspecs", *words]
        try:
            done = subprocess.run(
                command,
                input=given,
                cwd=self.folder,
                env={**_environment(), "GIT_DIR": str(self.folder / ".git"), "GIT_WORK_TREE": str(self.folder)},
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except FileNotFoundError as missing:
            raise GitFailed("The git program is not installed (or not on PATH).") from missing
        except (OSError, subprocess.TimeoutExpired) as problem:
            why = f"{problem.strerror}: {problem.filename}" if isinstance(problem, OSError) else str(problem)
            raise GitFailed(f"Git does not work: {why}.") from problem
        if code:
            return "" if done.returncode == 0 else str(done.returncode)
        if check and done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitFailed(f"`git {words[0]}` failed: {said[0] if said else f'exit code {done.returncode}'}")
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in _WHO.items()}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return {**ours, **who, **quiet}
