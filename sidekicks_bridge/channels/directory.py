"""All channels: making, finding, renaming, deleting them and their members. Owned by one task with an inbox of its own.

What happens inside a channel is the channel's; names are unique here without regard to case.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.channel import Channel
from sidekicks_bridge.channels.inbox import Inbox
from sidekicks_bridge.channels.recovery import recover
from sidekicks_bridge.names import fold, name_problem
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import (
    PutChannel,
    PutMember,
    PutValue,
    StoredChannel,
    StoredMember,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.config.model import ChannelSpec

_DECLARED = "declared/"
LOADED_MESSAGES = 20
"""How many of the newest messages are looked at when a channel is loaded: for its last time and unread failures."""


class Directory:
    """The channels of a bridge."""

    def __init__(self, env: Env, read_mark: Callable[[str], int]) -> None:
        self._env = env
        self._read_mark = read_mark
        self._channels: dict[str, Channel] = {}
        self._pairs: dict[frozenset[str], Channel] = {}
        self._inbox = Inbox()

    async def run(self) -> None:
        """The directory's task."""

        async def never() -> None:
            """There is nothing to do when idle."""

        await self._inbox.serve(lambda: None, never)

    async def load(self) -> None:
        """Read all channels from the store and settle what a kill left behind; before any task runs."""
        store = self._env.store
        for stored in await store.channels():
            channel = self._add(stored, await store.members(stored.id))
            state = channel.state
            newest = (await store.page(stored.id, limit=LOADED_MESSAGES)).messages
            state.last_seq = await store.last_seq(stored.id)
            state.last_message_at = newest[-1].created_at if newest else None
            state.read_mark = self._read_mark(stored.id)
            state.unread = await store.unread(stored.id, state.read_mark)
            for message in newest:
                state.note_failure(message)
        await recover(self._env, self._channels)
        for channel in self._channels.values():
            self._env.spawn(channel.run)

    def _add(self, stored: StoredChannel, members: list[StoredMember]) -> Channel:
        channel = Channel(self._env, stored, members)
        self._channels[stored.id] = channel
        if stored.kind == "pair":
            self._pairs[frozenset(map(fold, stored.peers))] = channel
        return channel

    # ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────

    def all(self) -> list[Channel]:
        """Every channel there is now, in order of creation."""
        return list(self._channels.values())

    def get(self, channel_id: str) -> Channel:
        """The channel with that id; raises channelNotFound."""
        channel = self._channels.get(channel_id)
        if channel is None:
            raise SidekicksError("channelNotFound", f"There is no channel {channel_id!r}.", {"channelId": channel_id})
        return channel

    def find(self, channel_id: str) -> Channel | None:
        """The channel with that id, if there is one."""
        return self._channels.get(channel_id)

    def named(self, name: str) -> Channel | None:
        """The channel of that name, in any case."""
        for channel in self._channels.values():
            if channel.state.stored.name is not None and fold(channel.state.stored.name) == fold(name):
                return channel
        return None

    # ── making ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def create(self, name: str, description: str | None, members: list[str], root: str | None) -> Channel:
        """Make a named channel; raises invalidName, channelExists, agentNotFound, invalidParams (a relative root)."""
        return await self._inbox.call(self._create, name, description, members, root, None)

    async def _create(
        self, name: str, description: str | None, members: list[str], root: str | None, declared: str | None
    ) -> Channel:
        name = name.removeprefix("#")
        self._check_name(name, None)
        _check_root(root)
        agents = [self.agent_name(member) for member in members]
        now = self._env.clock.now()
        stored = StoredChannel(
            id=self._env.ids.new(),
            kind="named",
            name=name,
            description=description,
            root=root,
            declared=declared,
            created_at=now,
            updated_at=now,
        )
        return await self._store_new(stored, agents)

    async def direct(self, agent: str, root: str | None) -> Channel:
        """The direct conversation with an agent in a folder; made on first use."""
        return await self._inbox.call(self._direct, agent, root)

    async def _direct(self, agent: str, root: str | None) -> Channel:
        name = self.agent_name(agent)
        if known := self._direct_with(name, root):
            return known
        now = self._env.clock.now()
        stored = StoredChannel(
            id=self._env.ids.new(), kind="direct", agent=name, root=root, created_at=now, updated_at=now
        )
        return await self._store_new(stored, [name])

    def _direct_with(self, agent: str | None, root: str | None) -> Channel | None:
        for channel in self._channels.values():
            stored = channel.state.stored
            if stored.kind == "direct" and stored.agent == agent and same_folder(stored.root, root):
                return channel
        return None

    async def pair(self, one: tuple[str, str], other: tuple[str, str], root: str | None) -> Channel:
        """The channel of two participants, given as (name, kind); made on first use, in the folder ``root``."""
        return await self._inbox.call(self._pair, one, other, root)

    async def _pair(self, one: tuple[str, str], other: tuple[str, str], root: str | None) -> Channel:
        channel = self.pair_of(one[0], other[0])
        if channel is None:
            now = self._env.clock.now()
            names = sorted((one[0], other[0]), key=fold)
            stored = StoredChannel(
                id=self._env.ids.new(), kind="pair", peers=names, root=root, created_at=now, updated_at=now
            )
            return await self._store_new(stored, names, dict([one, other]))
        for name, kind in (one, other):
            member = channel.state.members.get(name)
            if member is None or member.stored.kind != kind:
                await channel.letters.join(name, kind)
        return channel

    def pair_of(self, one: str, other: str) -> Channel | None:
        """The channel of two participants, if they ever wrote to each other."""
        return self._pairs.get(frozenset((fold(one), fold(other))))

    async def _store_new(
        self, stored: StoredChannel, names: list[str], kinds: Mapping[str, str] | None = None
    ) -> Channel:
        members = [
            StoredMember(
                channel_id=stored.id, name=name, kind=(kinds or {}).get(name, "agent"), joined_at=stored.created_at
            )
            for name in dict.fromkeys(names)
        ]
        made = [] if stored.declared is None else [PutValue(_DECLARED + fold(stored.declared), stored.id)]
        await self._env.journal.write(PutChannel(stored), *[PutMember(member) for member in members], *made)
        channel = self._add(stored, members)
        self._env.spawn(channel.run)
        self._env.channel_changed()
        return channel

    async def declare(self, specs: list[ChannelSpec]) -> None:
        """Make the channels that the configuration declares and nobody has made or deleted yet (design rule 12)."""
        await self._inbox.call(self._declare, specs)

    async def _declare(self, specs: list[ChannelSpec]) -> None:
        remembered = await self._env.store.values(_DECLARED)
        declared = {_DECLARED + fold(spec.name) for spec in specs}
        gone = [PutValue(key, None) for key in remembered if key not in declared]
        if gone:
            await self._env.journal.keep(*gone)
        await self._respell()
        known = {spec.name for spec in self._env.config().agents}
        for spec in specs:
            if _DECLARED + fold(spec.name) not in remembered and self.named(spec.name) is None:
                members = [member for member in spec.members if member in known]
                await self._create(spec.name, spec.description, members, None, spec.name)

    async def _respell(self) -> None:
        """An agent whose name is now written in another case is the same agent."""
        names = {fold(spec.name): spec.name for spec in self._env.config().agents}
        for channel in self._channels.values():
            await channel.inbox.call(self._respell_in, channel, names)

    async def _respell_in(self, channel: Channel, names: Mapping[str, str]) -> None:
        if changes := channel.state.respell(names):
            await self._env.journal.keep(*changes)
            self._env.channel_changed()

    # ── changing ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def update(self, channel: Channel, name: str | None, description: str | None, root: str | None) -> None:
        """Rename, describe or move a channel; moving closes its sessions, so that next prompts are fresh."""
        await self._inbox.call(self._update, channel, name, description, root)

    async def _update(self, channel: Channel, name: str | None, description: str | None, root: str | None) -> None:
        stored = channel.state.stored
        if name is not None:
            if stored.kind != "named":
                raise SidekicksError("invalidParams", "Only a named channel can be renamed.", {"name": name})
            self._check_name(name.removeprefix("#"), channel)
        _check_root(root)
        await channel.inbox.call(self._apply_update, channel, name, description, root)
        self._env.channel_changed()

    async def _apply_update(
        self, channel: Channel, name: str | None, description: str | None, root: str | None
    ) -> None:
        stored = channel.state.stored
        stored.name = stored.name if name is None else name.removeprefix("#")
        stored.description = stored.description if description is None else description
        if root is not None and not same_folder(root, stored.root):
            stored.root = root
            channel.sessions.forget_all()
        stored.updated_at = self._env.clock.now()
        members = [PutMember(member.stored) for member in channel.state.members.values()]
        await self._env.journal.keep(PutChannel(stored), *members)

    async def settle_root(self, channel: Channel, folder: str) -> None:
        """Let a channel without a folder work in ``folder``: the first client's that opens it (design rule 13)."""
        if channel.state.stored.root is None:
            await self._inbox.call(self._settle_root, channel, folder)

    async def _settle_root(self, channel: Channel, folder: str) -> None:
        stored = channel.state.stored
        taken = stored.kind == "direct" and self._direct_with(stored.agent, folder) is not None
        if stored.root is None and not taken:
            await self._update(channel, None, None, folder)

    async def delete(self, channel: Channel, confirm: str) -> None:
        """Delete a channel with its history; ``confirm`` must repeat its name (or its agent's)."""
        await self._inbox.call(self._delete, channel, confirm)

    async def _delete(self, channel: Channel, confirm: str) -> None:
        stored = channel.state.stored
        wanted = stored.name or stored.agent or "--".join(stored.peers)
        if fold(confirm.removeprefix("#").removeprefix("@")) != fold(wanted):
            projected = stored.kind == "pair" or stored.projected
            kept = "Older commits of its transcript keep it until `sidekicks transcript purge`. " if projected else ""
            raise SidekicksError(
                "confirmationMissing",
                f"Deleting {channel.state.title} deletes its history. {kept}Repeat {wanted!r} in `confirm` to do it.",
                {"confirm": wanted},
            )
        await channel.delete()
        del self._channels[channel.id]
        self._pairs.pop(frozenset(map(fold, stored.peers)), None)
        self._env.channel_changed()

    async def invite(self, channel: Channel, agent: str) -> None:
        """Make an agent a member; no change if it is one."""
        await channel.inbox.call(self._invite, channel, self.agent_name(agent))

    async def _invite(self, channel: Channel, agent: str) -> None:
        if channel.state.stored.kind != "named":
            raise SidekicksError("invalidParams", f"Nobody can be invited to {channel.state.title}.", {"agent": agent})
        if agent in channel.state.members:
            return
        member = StoredMember(channel_id=channel.id, name=agent, joined_at=self._env.clock.now())
        await self._env.journal.write(PutMember(member))
        channel.state.add_member(member)
        self._env.channel_changed()

    async def remove(self, channel: Channel, agent: str) -> None:
        """End a membership: the agent's turns here are cancelled, its session closed. Raises notMember."""
        name = next((member for member in channel.state.members if fold(member) == fold(agent)), None)
        if name is None or channel.state.stored.kind != "named":
            raise SidekicksError("notMember", f"@{agent} is not a member of {channel.state.title}.", {"agent": agent})
        await channel.remove(name)

    # ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────

    def agent_name(self, agent: str) -> str:
        """The configured agent of that name, in any case; raises agentNotFound."""
        wanted = fold(agent.removeprefix("@"))
        for spec in self._env.config().agents:
            if fold(spec.name) == wanted:
                return spec.name
        names = ", ".join(f"@{spec.name}" for spec in self._env.config().agents) or "none"
        raise SidekicksError("agentNotFound", f"No agent is named {agent!r}. Configured: {names}.", {"agent": agent})

    def _check_name(self, name: str, channel: Channel | None) -> None:
        if problem := name_problem(name):
            raise SidekicksError("invalidName", problem, {"name": name})
        other = self.named(name)
        if other is not None and other is not channel:
            raise SidekicksError(
                "channelExists", f"There is already a channel #{other.state.stored.name}.", {"name": name}
            )


def _check_root(root: str | None) -> None:
    if root is not None and not Path(root).is_absolute():
        raise SidekicksError("invalidParams", f"The folder {root!r} is not an absolute path.", {"root": root})
