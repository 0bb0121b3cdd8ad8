"""Which folder a client works in: what it says in `initialize`, as an absolute path. Pure."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"^/([A-Za-z]:)")


def folder_of(params: dict[str, Any]) -> str | None:
    """The first workspace folder, else the root; None if the client has no folder on this machine's disk."""
    folders = params.get("workspaceFolders")
    if isinstance(folders, list):
        for folder in folders:
            if isinstance(folder, dict) and (path := path_of_uri(folder.get("uri"))):
                return path
    if path := path_of_uri(params.get("rootUri")):
        return path
    root = params.get("rootPath")
    return root if isinstance(root, str) and root else None


def path_of_uri(uri: object) -> str | None:
    """The path of a `file:` URI (`file:///c%3A/x` is `c:/x`), or None for any other."""
    if not isinstance(uri, str):
        return None
    parts = urlsplit(uri)
    if parts.scheme != "file" or not parts.path:
        return None
    path = _DRIVE.sub(r"\1", unquote(parts.path))
    path = f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path
    return path.rstrip("/") or "/"
