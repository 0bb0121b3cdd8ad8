"""All attached clients: broadcasting, who follows which agent's log, unsaved buffers. Owns the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.protocol.base import Wire

READ_SECONDS = 0.5
"""How long an editor may take to say what stands in an unsaved buffer."""


class Clients:
    """The clients that are attached now."""

    def __init__(self) -> None:
        self._clients: list[Client] = []
        self._following: dict[str, list[Client]] = {}

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients)

    def attach(self, client: Client) -> None:
        """A client has finished its handshake."""
        self._clients.append(client)

    def detach(self, client: Client) -> None:
        """A client is gone."""
        if client in self._clients:
            self._clients.remove(client)
        for followers in self._following.values():
            if client in followers:
                followers.remove(client)

    def to_all(self, event: Wire) -> None:
        """Send an event to every client."""
        for client in self._clients:
            client.notify(event)

    def are_there(self) -> bool:
        """Whether anybody is attached."""
        return bool(self._clients)

    def others_can_answer(self, client: Client) -> bool:
        """Whether a client other than this one could answer a permission question."""
        return any(other is not client for other in self._clients)

    def follow(self, agent: str, client: Client) -> None:
        """The client wants the lines that an agent writes to stderr from now on."""
        followers = self._following.setdefault(agent, [])
        if client not in followers:
            followers.append(client)

    def to_followers(self, agent: str, event: Wire) -> None:
        """Send an event to those who follow an agent's log."""
        for client in self._following.get(agent, ()):
            client.notify(event)

    async def read_buffer(self, path: str) -> str | None:
        """The unsaved text of ``path`` in any editor that has it open and changed; the first answer counts."""
        for client in [client for client in self._clients if client.document_read]:
            with anyio.move_on_after(READ_SECONDS):
                text = await client.read_document(path)
                if text is not None:
                    return text
        return None
