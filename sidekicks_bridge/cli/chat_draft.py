"""The draft of the channel on screen: the composer's text as the bridge keeps it and shows it to other clients.

Whoever writes counts: what another client writes is shown only while nobody writes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.requests import ChannelText, Empty

if TYPE_CHECKING:
    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.cli.composer import Composer


class Draft:
    """Keeps the composer and the bridge in step."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self._channel_id: str | None = None
        self._known = ""
        self._others = False

    def opened(self, channel_id: str, draft: str) -> None:
        """A channel came on screen with this draft; what stands in the composer already counts more."""
        self._channel_id, self._known = channel_id, draft
        if draft and not self._composer.text:
            self._composer.put(draft)

    def deleted(self) -> None:
        """The channel is gone; what was being written stays in the composer."""
        self._channel_id = None

    async def keep(self, client: BridgeClient) -> None:
        """Tell the bridge what stands in the composer, if it does not know."""
        text = self._composer.text
        if self._channel_id is None or text == self._known:
            return
        self._known, self._others = text, False
        await client.request("sidekicks/draft/set", ChannelText(channel_id=self._channel_id, text=text), Empty)

    async def leave(self, client: BridgeClient, *, carry: bool) -> None:
        """The channel leaves the screen. Its text stays with it, or (``carry``) in the composer."""
        text = self._composer.text
        if carry:
            self._composer.put("")
        await self.keep(client)
        self._channel_id = None
        self._composer.put(text if carry else "")

    def changed(self, channel_id: str, text: str, *, asked: bool) -> None:
        """Another client changed the draft. Not shown while a question is open (``asked``): digits answer it."""
        if channel_id == self._channel_id and self._composer.text == self._known and not asked:
            self._known, self._others = text, True
            self._composer.put(text)

    def make_room(self) -> None:
        """A question came: what another client writes gives way, since only an empty composer lets a digit answer."""
        if self._others and self._composer.text == self._known:
            self._known = ""
            self._composer.put("")
