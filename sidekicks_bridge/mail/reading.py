"""Reading mail: the verbs read, read-any, peek, history and channels (design: Verbs)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sidekicks_bridge.mail.mailbox import ANY, Waits, wait_for, with_peer
from sidekicks_bridge.mail.rooms import RoomVerbs, keep_of
from sidekicks_bridge.mail.shown import letter, letters, timed_out
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import AnyLetter, Letters, MailChannel, MailChannels

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.channels.letters import Mail as Unread
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.mail.pairs import PairVerbs
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store

T = TypeVar("T")
_PAGE = 500
HISTORY_LIMIT = 500


class ReadingVerbs:
    """What participants can read."""

    def __init__(self, store: Store, directory: Directory, pairs: PairVerbs, rooms: RoomVerbs, waits: Waits) -> None:
        self._store = store
        self._directory = directory
        self._pairs = pairs
        self._rooms = rooms
        self._waits = waits

    def _source(self, caller: Caller, peer: str | None, room: str | None) -> tuple[str, Callable[[], Channel | None]]:
        """The place named by exactly one of ``peer`` and ``room``, and how to find its channel (maybe later)."""
        if (peer is None) == (room is None):
            raise SidekicksError("invalidParams", "Name exactly one: a peer, or a room ('#name' in quotes, or --room).")
        if room is not None:
            channel = self._rooms.member_of(caller, room)
            return channel.id, lambda: channel
        assert peer is not None
        other = fold(peer.removeprefix("@"))
        if self._directory.pair_of(caller.name, other) is None:
            self._pairs.resolve(caller, peer)

        def pair() -> Channel | None:
            found = self._directory.pair_of(caller.name, other)
            return found if found is not None and caller.name in found.state.members else None

        return with_peer(other), pair

    async def read(self, caller: Caller, peer: str | None, room: str | None, patience: float) -> Letters:
        """Consume the oldest message of a pair or everything of a room."""
        place, find = self._source(caller, peer, room)
        count, first = (_all, None) if room is not None else (_one, 1)

        async def look() -> Unread | None:
            channel = find()
            if channel is None:
                return None
            taken = await channel.letters.take(caller.name, count, keep_of(channel, caller.kind), first)
            return taken if taken.messages else None

        found = await self._wait(caller, place, patience, look)
        return Letters(messages=[]) if found is None else letters(found)

    async def _wait(
        self, caller: Caller, place: str, patience: float, look: Callable[[], Awaitable[T | None]]
    ) -> T | None:
        if patience <= 0:
            return await look()
        with self._waits.waiting(caller.name, place) as wait:
            found = await wait_for(wait, patience, look)
        if found is None:
            raise timed_out("Nothing came", {"name": caller.name})
        return found

    async def read_any(self, caller: Caller, patience: float) -> AnyLetter:
        """Consume the oldest unread message of all the caller's channels."""

        async def look() -> AnyLetter | None:
            oldest: list[tuple[str, Channel]] = []
            for channel in self._mine(caller):
                unread = await channel.letters.unread(caller.name, keep_of(channel, caller.kind), 1)
                if unread.messages:
                    oldest.append((unread.messages[0].id, channel))
            for _, channel in sorted(oldest, key=lambda one: one[0]):
                taken = await channel.letters.take(caller.name, _one, keep_of(channel, caller.kind), 1)
                if taken.messages:
                    peer, room = self._named(channel, caller)
                    return AnyLetter(peer=peer, room=room, message=letter(taken.messages[0]), dropped=taken.dropped)
            return None

        return await self._wait(caller, ANY, patience, look) or AnyLetter()

    async def peek(self, caller: Caller, peer: str | None, room: str | None) -> Letters:
        """Everything that waits, left where it is."""
        channel = self._source(caller, peer, room)[1]()
        return (
            Letters(messages=[])
            if channel is None
            else letters(await channel.letters.unread(caller.name, keep_of(channel, caller.kind)))
        )

    async def history(self, caller: Caller, peer: str | None, room: str | None, since: int, limit: int) -> Letters:
        """What was written after ``since``, the last ``limit`` of it; the system's messages are left out."""
        channel = self._source(caller, peer, room)[1]()
        limit = max(1, min(limit, HISTORY_LIMIT))
        found: list[Message] = []
        before: int | None = None
        more = channel is not None
        while channel is not None and more and len(found) < limit:
            page = await self._store.page(channel.id, before=before, limit=_PAGE)
            said = [one for one in page.messages if (one.seq or 0) > since and one.author.kind != "system"]
            found = said + found
            more = page.has_more and bool(page.messages) and (page.messages[0].seq or 0) > since
            before = page.messages[0].seq if page.messages else None
        return Letters(messages=[letter(one) for one in found[-limit:]])

    async def channels(self, caller: Caller) -> MailChannels:
        """The caller's channels with what waits in each."""
        found: list[MailChannel] = []
        for channel in self._mine(caller):
            unread = await channel.letters.unread(caller.name, keep_of(channel, caller.kind))
            peer, room = self._named(channel, caller)
            found.append(
                MailChannel(
                    channel_id=channel.id, peer=peer, room=room, pending=len(unread.messages), dropped=unread.dropped
                )
            )
        return MailChannels(channels=found)

    def _mine(self, caller: Caller) -> list[Channel]:
        """The pairs and rooms the caller is a member of."""
        return [
            channel
            for channel in self._directory.all()
            if channel.state.stored.kind != "direct" and caller.name in channel.state.members
        ]

    def _named(self, channel: Channel, caller: Caller) -> tuple[str | None, str | None]:
        """A channel as its member calls it: the other one of a pair, or a room."""
        stored = channel.state.stored
        if stored.kind != "pair":
            return None, stored.name
        return next(peer for peer in stored.peers if fold(peer) != fold(caller.name)), None


def _one(_unread: list[Message]) -> int:
    return 1


def _all(unread: list[Message]) -> int:
    return len(unread)
