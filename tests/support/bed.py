"""A test's place in a bridge that several tests share: channels of its own, and only what happened since it began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.client import Client
    from tests.support.room import Room
    from tests.support.sandbox import BridgeSandbox


class Bed:
    """``box`` and ``client`` of a bridge in use; `end` checks the law and that nothing is left running."""

    _channels = 0

    def __init__(self, box: BridgeSandbox, client: Client) -> None:
        self.box = box
        self.client = client
        box.begin()
        client.events.clear()
        client.rooms.clear()

    async def room(self, *members: str, name: str | None = None) -> Room:
        """A new channel with these members, opened."""
        Bed._channels += 1
        name = name or f"general-{Bed._channels}"
        made = await self.client.request("channel/create", name=name, members=list(members))
        return await self.client.open_id(made["id"])

    async def end(self) -> None:
        """The test is over."""
        await self.client.check_law()
        for room in list(self.client.rooms.values()):
            assert room.turns == [], self.client.report("The test left a turn behind.")
            await room.close()
