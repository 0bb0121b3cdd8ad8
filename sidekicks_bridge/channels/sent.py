"""What was sent with a client's token, so that a client that sends again after a broken connection sends nothing twice.

Kept beside the messages: the bridge that answers the second time may be another than the one that took the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from sidekicks_bridge.channels.turns import Delivery
    from sidekicks_bridge.store.contract import Store

TOKENS_KEPT = 32
"""Of each channel; a client repeats what it sent last."""
_PREFIX = "sent/"


class SentTokens:
    """The tokens of one channel, the newest last."""

    def __init__(self, store: Store, channel_id: str) -> None:
        self._store = store
        self._key = _PREFIX + channel_id
        self._ids: dict[str, str] | None = None
        self._deliveries: dict[str, Delivery] = {}

    async def message_id(self, token: str) -> str | None:
        """The message that was sent with ``token``."""
        return (await self._known()).get(token)

    def delivery(self, token: str) -> Delivery | None:
        """What became of it, if this bridge took it."""
        return self._deliveries.get(token)

    async def note(self, token: str, message_id: str) -> PutValue:
        """The change that remembers a message, to be written with it."""
        ids = {known: one for known, one in (await self._known()).items() if known != token}
        self._ids = dict([*ids.items(), (token, message_id)][-TOKENS_KEPT:])
        return PutValue(self._key, self._ids)

    def accepted(self, token: str, delivery: Delivery) -> None:
        """It is on its way."""
        assert self._ids is not None  # noted before
        self._deliveries[token] = delivery
        self._deliveries = {known: one for known, one in self._deliveries.items() if known in self._ids}

    def forget(self) -> PutValue:
        """The change that forgets the channel's."""
        return PutValue(self._key, None)

    async def _known(self) -> dict[str, str]:
        if self._ids is None:
            self._ids = dict(await self._store.value(self._key) or {})
        return self._ids
