"""A file of an image type as the image block of a prompt."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import Attachment

TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_BYTES = 10 << 20
"""A larger one goes as a link: models refuse them, and everything passes through one pipe."""


def image_block(attachment: Attachment) -> dict[str, Any] | None:
    """The block; None for what is no image that can be read here and now."""
    where = urlsplit(attachment.uri)
    path = Path(unquote(where.path))
    mime = attachment.mime_type or mimetypes.guess_type(path.name)[0]
    if where.scheme != "file" or mime not in TYPES or attachment.range is not None:
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return {
        "type": "image",
        "mimeType": mime,
        "data": base64.b64encode(content).decode("ascii"),
        "uri": attachment.uri,
    }
