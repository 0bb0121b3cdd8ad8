"""What the bridge knows of an attached client, whatever it is attached by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire


class Client(Protocol):
    """An attached client: an editor, the terminal, a script. Also a channel's `Subscriber`."""

    id: str
    name: str
    """What it calls itself."""
    attached_at: str
    folder: str | None
    """Its workspace folder, absolute."""
    trusted: bool | None
    """Whether that folder is trusted; None: it did not say."""
    document_read: bool
    """Whether it answers `sidekicks/document/read`."""

    def notify(self, event: Wire) -> bool:
        """Queue an event; False: it is too slow, and its subscription must be dropped."""
        ...

    async def read_document(self, path: str) -> str | None:
        """The unsaved text of a buffer, or None."""
        ...
