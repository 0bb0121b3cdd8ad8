"""A folder on this machine as an agent's workspace: text files inside it, nothing outside it.

Everything here blocks: call it in a worker thread. Knows no agent and no protocol.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_READ_BYTES = 32 << 20


class LocalWorkspace:
    """The folder ``root`` (absolute); symbolic links are followed before a path is judged."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)

    def resolve(self, path: str) -> Path:
        """The real place of ``path`` (a relative one counts from the root); raises pathOutsideWorkspace."""
        if "\0" in path:
            raise SidekicksError("invalidParams", "A path cannot hold a NUL character.")
        real = Path(os.path.realpath(Path(self._root, path)))
        if not real.is_relative_to(self._root):
            raise SidekicksError(
                "pathOutsideWorkspace",
                f"{path} lies outside the folder {self._root} in which this agent works.",
                {"path": path, "root": self._root},
            )
        return real

    def read_text(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, from ``line`` (1-based) on, at most ``limit`` lines; line ends untouched.

        Raises FileNotFoundError, another OSError, or SidekicksError (outside, no text, too large).
        """
        real = self.resolve(path)
        if not stat.S_ISREG(real.stat().st_mode):
            raise SidekicksError("invalidParams", f"{path} is not a regular file.")
        try:
            with real.open(encoding="utf-8", newline="\n") as file:
                if line is not None or limit is not None:
                    return _window(file, line, limit)
                words = file.read(MAX_READ_BYTES + 1)
        except UnicodeDecodeError as problem:
            raise SidekicksError("invalidParams", f"{path} is not UTF-8 text.") from problem
        if len(words) > MAX_READ_BYTES:
            raise SidekicksError("tooLarge", f"{path} is larger than 32 MiB; read it in pieces (line, limit).")
        return words

    def write_text(self, path: str, words: str) -> None:
        """Replace a file's text at one stroke; missing folders are made, an existing file keeps its mode.

        Raises OSError or pathOutsideWorkspace.
        """
        real = self.resolve(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = None
        if real.exists():
            if real.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
            if not os.access(real, os.W_OK):
                raise PermissionError(f"{path} is write-protected")
            mode = stat.S_IMODE(real.stat().st_mode)
        _replace(real, words.encode("utf-8"), mode)


def slice_text(words: str, line: int | None, limit: int | None) -> str:
    """The lines of ``words`` from ``line`` (1-based) on, at most ``limit``."""
    if line is None and limit is None:
        return words
    return _window(io.StringIO(words, newline="\n"), line, limit)


def _window(lines: Iterable[str], line: int | None, limit: int | None) -> str:
    first = max((line or 1) - 1, 0)
    return "".join(islice(lines, first, None if limit is None else first + max(limit, 0)))


def _replace(real: Path, content: bytes, mode: int | None) -> None:
    temporary = real.with_name(f".{real.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except PermissionError:
        if mode is None:
            raise
        real.write_bytes(content)  # the folder takes no new file, but this one may be written
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
