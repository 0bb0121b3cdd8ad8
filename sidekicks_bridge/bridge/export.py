"""Writing a channel's history to a file, page by page: memory does not grow with the history."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from sidekicks_bridge.bridge.transcript import markdown_of
from sidekicks_bridge.private_files import private_file
from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path
    from typing import TextIO

    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store

PAGE = 200
Format = Literal["markdown", "json"]


async def pages(store: Store, channel_id: str) -> AsyncIterator[list[Message]]:
    """All finished messages of a channel, oldest first, a page at a time."""
    after = 0
    while True:
        page = await store.page(channel_id, after=after, limit=PAGE)
        if page.messages:
            yield page.messages
            after = page.messages[-1].seq or after
        if not page.has_more or not page.messages:
            return


def rendered(message: Message, kind: Format) -> str:
    """One message in the chosen form, with its line end."""
    return markdown_of(message) + "\n" if kind == "markdown" else encode(message).decode() + "\n"


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """A file that becomes ``path`` once it is written whole; of one that is not, nothing is left."""
    temporary = path.with_name(f".{path.name}.part")
    descriptor = private_file(temporary)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.truncate()
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


async def export_channel(
    store: Store,
    channel_id: str,
    title: str,
    kind: Format,
    path: Path,
    progress: Callable[[int], None] = lambda _count: None,
) -> int:
    """Write the whole history to ``path`` (0600), replacing it in one step; how many messages were written."""
    count = 0
    try:
        with _replacing(path) as file:
            if kind == "markdown":
                file.write(f"# {title}\n\n")
            async for messages in pages(store, channel_id):
                text = "".join(rendered(message, kind) for message in messages)
                await anyio.to_thread.run_sync(file.write, text)
                count += len(messages)
                progress(count)
    except (OSError, ValueError) as problem:  # ValueError: a path that no file can have
        cause = problem.strerror if isinstance(problem, OSError) else problem
        raise SidekicksError(
            "invalidParams", f"The file {path} cannot be written: {cause}.", {"path": str(path)}
        ) from problem
    return count
