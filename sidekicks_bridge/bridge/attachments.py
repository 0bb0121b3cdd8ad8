"""What is pasted into a message is kept as a file, so that history stays small and every agent can be given it."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
from typing import TYPE_CHECKING

import anyio.to_thread
from msgspec.structs import replace

from sidekicks_bridge.private_files import private_file, private_folder
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.ids import Ids
    from sidekicks_bridge.protocol.types import Attachment

MAX_BYTES = 10 << 20


async def keep_pasted(attachments: list[Attachment], folder: Path, ids: Ids) -> list[Attachment]:
    """The attachments, those with ``data`` as files in ``folder``. Raises invalidParams, tooLarge, storeUnavailable."""
    kept = []
    for one in attachments:
        kept.append(one if one.data is None else await anyio.to_thread.run_sync(_keep, one, folder, ids.new()))
    return kept


def _keep(attachment: Attachment, folder: Path, name: str) -> Attachment:
    try:
        content = base64.b64decode(attachment.data or "", validate=True)
    except binascii.Error:
        raise SidekicksError("invalidParams", f"The data of {attachment.uri!r} is no base64.") from None
    if len(content) > MAX_BYTES:
        raise SidekicksError(
            "tooLarge",
            f"What was pasted has {len(content):,} bytes; the limit is {MAX_BYTES:,}. Attach a file instead.",
            {"bytes": len(content), "limit": MAX_BYTES},
        )
    file = folder / f"{name}{mimetypes.guess_extension(attachment.mime_type or '') or '.bin'}"
    try:
        private_folder(folder)
        with os.fdopen(private_file(file), "wb") as stream:
            stream.write(content)
    except OSError as problem:
        raise SidekicksError(
            "storeUnavailable", f"What was pasted cannot be kept in {folder}: {problem.strerror}."
        ) from problem
    return replace(attachment, uri=file.as_uri(), data=None, title=attachment.title or file.name)
