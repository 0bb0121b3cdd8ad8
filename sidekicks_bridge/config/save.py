"""Writing the configuration file: whole or not at all, to where a link points, with the mode it had."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from pathlib import Path

NEW_FILE_MODE = 0o600
BOM = b"\xef\xbb\xbf"


def write_text(path: Path, text: str, *, expected: str | None = None) -> None:
    """Replace the file's content at once: a reader sees the old or the new one. A byte order mark stays.

    ``expected``: what was read before; a file that changed since is left alone. Raises SidekicksError
    configUnwritable.
    """
    target = path.resolve()
    mark, mode = b"", NEW_FILE_MODE
    with contextlib.suppress(FileNotFoundError):
        mark, mode = _current(target, expected)
    try:
        _replace(target, mark + text.encode(), mode)
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from error


def _current(target: Path, expected: str | None) -> tuple[bytes, int]:
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        data = target.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from error
    if not mode & stat.S_IWUSR:
        raise _unwritable(target, "it is read-only")
    if expected is not None and data.removeprefix(BOM) != expected.encode():
        raise _unwritable(target, "it was changed meanwhile; try again")
    return (BOM if data.startswith(BOM) else b""), mode


def _replace(target: Path, data: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, NEW_FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)  # it is there only if something failed
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _unwritable(target: Path, reason: str) -> SidekicksError:
    return SidekicksError("configUnwritable", f"The file {target} cannot be written: {reason}.", {"file": str(target)})
