"""Mail, put together: its parts, registrations, and what the rest of the bridge tells it. One for each bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.mail.callers import Callers
from sidekicks_bridge.mail.mailbox import ANY, Waits, with_peer
from sidekicks_bridge.mail.pairs import PairVerbs
from sidekicks_bridge.mail.reading import ReadingVerbs
from sidekicks_bridge.mail.registry import Registry, seconds
from sidekicks_bridge.mail.rooms import RoomVerbs
from sidekicks_bridge.mail.transcript.projector import Projector
from sidekicks_bridge.mail.waking import Waking
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.mail.registry import Peer
    from sidekicks_bridge.protocol.types import Message

SWEEP_SECONDS = 30.0


class Mail:
    """Everything agents and peers can do with mail. ``attended``: whether somebody is there to ask.

    ``folder``: the data folder, where the transcript lies; None: history is not kept, so neither is a transcript.
    """

    def __init__(
        self,
        env: Env,
        directory: Directory,
        began: str,
        attended: Callable[[], bool],
        folder: Path | None,
        on_problem: Callable[[], None],
    ) -> None:
        self._env = env
        self._directory = directory
        self.registry = Registry(env.journal, env.clock, lambda: [spec.name for spec in env.config().agents])
        self.callers = Callers(self.registry, env.agents, env.clock, seconds(began))
        self.waking = Waking(env, directory, attended)
        self.waits = Waits()
        self.pairs = PairVerbs(env, directory, self.registry, self.waking, self.waits)
        self.transcript = Projector(env, directory, folder, on_problem) if folder is not None else None
        self.rooms = RoomVerbs(directory, self.waking, self.touched)
        self.reading = ReadingVerbs(env.store, directory, self.pairs, self.rooms, self.waits)

    async def load(self) -> None:
        """Read what an earlier bridge kept."""
        await self.registry.load(self._env.store)
        await self.waking.load()

    async def run_transcript(self) -> None:
        """Keep the transcript up to date; runs until cancelled."""
        if self.transcript is not None:
            await self.transcript.load()
            await self.transcript.run()

    async def stop(self) -> None:
        """The bridge ends: the transcript rests, and leases are written as they stand."""
        if self.transcript is not None:
            self.transcript.stop()
        await self.registry.save()

    async def sweep(self) -> None:
        """Take peers whose lease ran out from their rooms; runs until cancelled."""
        while True:
            await self.expire()
            await anyio.sleep(SWEEP_SECONDS)

    async def expire(self) -> None:
        """Take peers whose lease has run out from their rooms, and end their waits."""
        for peer in await self.registry.expire():
            await self._part(peer, pairs=False)
            self.waits.close_all(peer.name, f"The registration of @{peer.name} has run out: register again.")

    # ── what the bridge tells ────────────────────────────────────────────────────────────────────────────────────

    def arrived(self, message: Message) -> None:
        """A message was finished in some channel."""
        channel = self._directory.find(message.channel_id)
        if channel is None:
            return
        self.touched(channel.id)
        if message.author.kind == "system":
            return
        members = list(channel.state.members)
        for name in members:
            if name != message.author.name:
                self.waits.arrived(name, self._place(channel, name))

    def touched(self, channel_id: str) -> None:
        """A channel has a message, a member or a name more or less, or was deleted."""
        if self.transcript is not None:
            self.transcript.touch(channel_id)

    def _place(self, channel: Channel, name: str) -> str:
        peers = channel.state.stored.peers
        return with_peer(next(peer for peer in peers if fold(peer) != fold(name))) if peers else channel.id

    def channels_changed(self) -> None:
        """A channel or membership may have ended: whoever waits there need not."""
        for wait in self.waits.all():
            if wait.place == ANY or wait.place.startswith("@"):
                continue
            channel = self._directory.find(wait.place)
            if channel is None or wait.name not in channel.state.members:
                self.waits.close(wait, "The room was deleted, or the membership ended.")

    # ── identity ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def register(self, name: str, key: str, folder: str | None) -> Peer:
        """Register a peer whose key has signed for it."""
        self.registry.check_name(name, key)
        known = self.registry.known(name)
        if known is not None and known.key != key:
            await self._part(known, pairs=True)  # another one under an old name: nothing of the former is its mail
        return await self.registry.register(name, key, folder)

    def taken(self) -> list[tuple[int, str]]:
        """The agents of the configuration that have a registered peer's name: their place in its list, the name."""
        agents = self._env.config().agents
        return [(index, spec.name) for index, spec in enumerate(agents) if self.registry.live(spec.name) is not None]

    async def unregister(self, caller: Caller) -> None:
        """End a peer's registration and all its memberships. Raises notSupported for an agent."""
        peer = self.registry.known(caller.name) if caller.kind == "peer" else None
        if peer is None:
            raise SidekicksError("notSupported", "Only a peer can be unregistered; agents stand in the configuration.")
        await self._part(peer, pairs=True)
        self.waits.close_all(peer.name, f"@{peer.name} was unregistered.")
        await self.registry.forget(peer)

    async def _part(self, peer: Peer, *, pairs: bool) -> None:
        for channel in list(self._directory.all()):
            member = channel.state.members.get(peer.name)
            if member is not None and member.stored.kind == "peer" and (pairs or channel.state.stored.kind != "pair"):
                await channel.letters.leave(peer.name)
                self.touched(channel.id)
