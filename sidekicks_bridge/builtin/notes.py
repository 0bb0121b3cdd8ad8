"""The notes file: how a conversation is written down in it, and how it is read and replaced.

Owns the shape of NOTES.md and its safety: what others said is quoted, so that no Markdown of theirs reaches
the rest of the file; a file is replaced whole or not at all. It asks nobody: permission is for `scribe`.
"""

from __future__ import annotations

import os
import re
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.markdown import quote
from sidekicks_bridge.builtin.rpc import RpcError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sidekicks_bridge.builtin.prompt import Message
    from sidekicks_bridge.builtin.turn import Turn

FILE_NAME = "NOTES.md"
MAX_BYTES = 4 * 1024 * 1024
_WRITE_PATIENCE = 30.0  # seconds the editor has to say whether it wrote

_ENTRY = re.compile(r"^## \d{4}-\d\d-\d\d \d\d:\d\d · ", re.MULTILINE)


class NotesError(Exception):
    """The notes cannot be read or written; the message says why and what to do."""


def entry(what: str, messages: Iterable[Message]) -> str:
    """Return Markdown that records messages under a heading with the local date and time."""
    parts = [f"## {time.strftime('%Y-%m-%d %H:%M')} · {what}"]
    for message in messages:
        parts += [f"**{message.speaker}:**", quote(message.text) or "> (nothing)"]
    return "\n\n".join(parts) + "\n"


def appended(old: str | None, new_entry: str) -> str:
    """Return the notes with an entry at their end, in the line ends they have."""
    if old is None or not old.strip("\ufeff \t\r\n"):
        return f"{old or ''}# Notes\n\n{new_entry}"
    ending = "\r\n" if "\r\n" in old else "\n"
    return old.rstrip("\r\n") + ending * 2 + new_entry.replace("\n", ending)


def without_entries(notes: str) -> str:
    """Return what stands in a notes file before the first entry: its author's own words, if any."""
    first = _ENTRY.search(notes)
    return notes if first is None else notes[: first.start()].removeprefix("# Notes\n")


class NotesFile:
    """NOTES.md in a root folder, read and written through the editor where it offers that."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self.path = str(self._root / FILE_NAME)

    def read(self, turn: Turn) -> str | None:
        """Return the notes, unsaved changes in the editor included; None if there are none yet."""
        target = self._target()
        if not turn.files.reads:
            return _read(target)
        try:
            content = turn.request("fs/read_text_file", {"path": self.path}).get("content")
        except RpcError as error:
            if target.exists():
                raise NotesError(f"The editor could not read `{FILE_NAME}`: {error.message}") from error
            return None  # agents are told of a missing file in many ways; the disk knows best
        return content if isinstance(content, str) else None

    def write(self, turn: Turn, text: str) -> None:
        """Replace the notes. From here on a cancel is too late: the editor's answer is awaited."""
        target = self._target()
        if not turn.files.writes:
            _replace(target, text)
            return
        try:
            turn.request("fs/write_text_file", {"path": self.path, "content": text}, patience=_WRITE_PATIENCE)
        except RpcError as error:
            raise NotesError(f"The editor could not write `{FILE_NAME}`: {error.message}") from error

    def _target(self) -> Path:
        """Return where the notes really are; a link may lead elsewhere, but not out of the root."""
        try:
            root = self._root.resolve(strict=True)
            target = (root / FILE_NAME).resolve()
        except (OSError, RuntimeError) as error:
            raise NotesError(f"`{self.path}` cannot be reached: {error}.") from error
        if not target.is_relative_to(root):
            raise NotesError(f"`{FILE_NAME}` is a link that leads out of this workspace; I leave it alone.")
        if target.exists() and not target.is_file():
            raise NotesError(f"`{FILE_NAME}` is not a file; rename it, then ask me again.")
        return target


def _read(target: Path) -> str | None:
    try:
        if target.stat().st_size > MAX_BYTES:
            limit = MAX_BYTES // (1024 * 1024)
            raise NotesError(f"`{FILE_NAME}` is larger than {limit} MiB; rename it and I begin a new one.")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotesError(f"I could not read `{FILE_NAME}`: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise NotesError(f"`{FILE_NAME}` is not UTF-8 text; save it as UTF-8, then ask me again.") from error


def _replace(target: Path, text: str) -> None:
    """Write a file as a whole or not at all, with the permissions it had."""
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(text.encode("utf-8", errors="replace"))
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise NotesError(f"I could not write `{FILE_NAME}`: {error.strerror or error}.") from error
