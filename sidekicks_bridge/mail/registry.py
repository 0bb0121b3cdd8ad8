"""Who is registered: peers with their keys and leases, kept in the store over restarts.

One name space with the agents of the configuration. A lease that ran out leaves the record (its key may come back for
what waits), but the peer cannot be written to.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge.names import fold, name_problem
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.channels.journal import Journal
    from sidekicks_bridge.clock import Clock
    from sidekicks_bridge.store.contract import Store

LEASE = timedelta(minutes=60)
_PREFIX = "mail/peer/"
_SAVE_EVERY = timedelta(minutes=1)
"""A renewal is written when it is so much longer than the one on disk: not with every request."""


class Peer(msgspec.Struct, kw_only=True):
    """A registered peer. ``gone``: its lease ran out and it was taken out of its rooms.

    ``folder``: where it registered, and where agents work that it writes to.
    """

    name: str
    key: str
    registered_at: str
    expires_at: str
    gone: bool = False
    folder: str | None = None


def seconds(time: str) -> float:
    """An RFC 3339 time as seconds since 1970. Raises ValueError."""
    parsed = datetime.fromisoformat(time)
    if parsed.tzinfo is None or time[10:11] != "T":  # Python takes any character there, a line's end too
        raise ValueError("a time without its zone, or without the T")
    return parsed.timestamp()


async def kept_peers(store: Store) -> list[Peer]:
    """The peers as an earlier bridge kept them."""
    return [msgspec.convert(value, Peer) for value in (await store.values(_PREFIX)).values()]


class Registry:
    """The peers. Lives on the loop; every change is written before it is answered."""

    def __init__(self, journal: Journal, clock: Clock, agents: Callable[[], list[str]]) -> None:
        self._journal = journal
        self._clock = clock
        self._agents = agents
        self._peers: dict[str, Peer] = {}
        self._saved: dict[str, str] = {}
        self.unread: str | None = None
        """Why the registrations of earlier bridges could not be read."""

    async def load(self, store: Store) -> None:
        """Read what an earlier bridge kept."""
        self.unread = None if store.persistent else store.reason
        for peer in await kept_peers(store):
            self._peers[fold(peer.name)] = peer
            self._saved[fold(peer.name)] = peer.expires_at

    def live(self, name: str) -> Peer | None:
        """The registered peer of that name, in any case, if its lease runs."""
        peer = self._peers.get(fold(name))
        return peer if peer is not None and not peer.gone and peer.expires_at > self._clock.now() else None

    def known(self, name: str) -> Peer | None:
        """The peer of that name, also one whose lease ran out."""
        return self._peers.get(fold(name))

    def names(self) -> list[str]:
        """The names of the peers whose lease runs."""
        return [peer.name for peer in self.all()]

    def all(self) -> list[Peer]:
        """The peers whose lease runs, in the order they registered."""
        return [peer for peer in self._peers.values() if self.live(peer.name) is peer]

    def check_name(self, name: str, key: str) -> None:
        """Raises invalidName, nameTaken when ``name`` cannot be registered with that key."""
        if problem := name_problem(name):
            raise SidekicksError("invalidName", problem, {"name": name})
        if fold(name) in map(fold, self._agents()):
            raise SidekicksError(
                "nameTaken", f"@{name} is an agent of the configuration; choose another name.", {"name": name}
            )
        present = self.live(name)
        if present is not None and present.key != key:
            raise SidekicksError(
                "nameTaken",
                f"@{present.name} is registered with another key. Choose another name, or `unregister` it there.",
                {"name": name},
            )

    async def register(self, name: str, key: str, folder: str | None = None) -> Peer:
        """Begin (or, with the same key, go on with) a registration; `check_name` comes first."""
        now = self._clock.now()
        known = self.known(name)
        same = known if known is not None and known.key == key else None
        peer = Peer(
            name=same.name if same else name,
            key=key,
            registered_at=same.registered_at if same else now,
            expires_at=self._lease(),
            folder=folder or (same.folder if same else None),
        )
        await self._save(peer)
        self._peers[fold(name)] = peer
        return peer

    async def renew(self, peer: Peer) -> None:
        """Let a lease run anew."""
        peer.expires_at = self._lease()
        saved = datetime.fromisoformat(self._saved[fold(peer.name)])
        if datetime.fromisoformat(peer.expires_at) - saved >= _SAVE_EVERY:
            await self._save(peer)

    async def forget(self, peer: Peer) -> None:
        """End a registration."""
        del self._peers[fold(peer.name)]
        self._saved.pop(fold(peer.name), None)
        await self._journal.keep(PutValue(_PREFIX + fold(peer.name), None))

    async def expire(self) -> list[Peer]:
        """Mark the peers whose lease has run out since the last call."""
        now = self._clock.now()
        out = [peer for peer in self._peers.values() if not peer.gone and peer.expires_at <= now]
        for peer in out:
            peer.gone = True
            await self._save(peer)
        return out

    async def save(self) -> None:
        """Write the leases as they stand: the bridge ends."""
        changed = [peer for name, peer in self._peers.items() if self._saved[name] != peer.expires_at]
        for peer in changed:
            await self._save(peer)

    async def _save(self, peer: Peer) -> None:
        self._saved[fold(peer.name)] = peer.expires_at
        await self._journal.keep(PutValue(_PREFIX + fold(peer.name), msgspec.to_builtins(peer)))

    def _lease(self) -> str:
        now = datetime.fromtimestamp(seconds(self._clock.now()), UTC)
        return (now + LEASE).isoformat(timespec="milliseconds").replace("+00:00", "Z")
