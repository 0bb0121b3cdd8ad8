"""Files that go with a message, named by a path as people type, paste or drag it."""

from __future__ import annotations

import mimetypes
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidekicks_bridge.protocol.types import Attachment


class NoFileError(Exception):
    """There is no such file; the message says so."""


def attached(words: str, folder: str) -> Attachment:
    """The file that ``words`` name: a path (from ``folder`` or ``~``) or a `file:` URI. Raises NoFileError."""
    path = Path(folder, _path(words)).resolve()
    if not path.is_file():
        raise NoFileError(f"There is no file {path}.")
    return Attachment(uri=path.as_uri(), title=path.name)


def pasted_image(words: str, folder: str) -> Attachment | None:
    """The image whose path was pasted (a terminal pastes the path of a file that is dragged into it), if it was one."""
    if "\n" in words.strip() or not (mimetypes.guess_type(_path(words).name)[0] or "").startswith("image/"):
        return None
    try:
        return attached(words, folder)
    except (NoFileError, OSError):
        return None


def _path(words: str) -> Path:
    """Terminals quote and escape what is dragged into them."""
    text = words.strip()
    if text.startswith("file://"):
        return Path(unquote(urlsplit(text).path))
    try:
        unquoted = shlex.split(text)
    except ValueError:
        unquoted = []
    return Path(unquoted[0] if len(unquoted) == 1 else text).expanduser()
