"""Rooms: named channels that peers and agents make, join, leave and write to (design: Verbs).

A non-member is told that the room does not exist, except where joining is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.channels.mentions import ALL, find_mentions
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import Posted, Room, RoomMember, RoomMembers, Rooms

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.mail.waking import Waking
    from sidekicks_bridge.protocol.mail import ParticipantKind

MOST_PEERS = 8
MAILBOX = 64
"""How many unread messages of a room are kept for a peer; older ones count as dropped."""


class RoomVerbs:
    """What can be done with rooms."""

    def __init__(self, directory: Directory, waking: Waking, touched: Callable[[str], None]) -> None:
        self._directory = directory
        self._waking = waking
        self._touched = touched

    def member_of(self, caller: Caller, name: str) -> Channel:
        """The room of that name, if the caller is a member; else raises channelNotFound, as for one that is not."""
        channel = self._directory.named(name.removeprefix("#"))
        if channel is None or caller.name not in channel.state.members:
            raise _not_found(name)
        return channel

    async def create(self, caller: Caller, name: str, description: str | None) -> Room:
        """Make a room; the caller is its first member."""
        channel = await self._directory.create(name, description, [], None)
        await channel.letters.join(caller.name, caller.kind)
        self._touched(channel.id)
        return _view(channel, caller)

    async def join(self, caller: Caller, name: str) -> Room:
        """Become a member of any room; nothing changes for one who is."""
        channel = self._directory.named(name.removeprefix("#"))
        if channel is None:
            raise _not_found(name)
        await channel.letters.join(caller.name, caller.kind, MOST_PEERS)
        self._touched(channel.id)
        return _view(channel, caller)

    async def leave(self, caller: Caller, name: str) -> None:
        """End the membership; what was unread stays in the history."""
        channel = self.member_of(caller, name)
        if caller.kind == "peer":
            await channel.letters.leave(caller.name)
        else:
            await self._directory.remove(channel, caller.name)
        self._touched(channel.id)

    def all(self, caller: Caller) -> Rooms:
        """Every named channel."""
        named = [channel for channel in self._directory.all() if channel.state.stored.kind == "named"]
        return Rooms(rooms=[_view(channel, caller) for channel in named])

    async def participants(self, caller: Caller, name: str) -> RoomMembers:
        """Who is in a room, and what waits for each."""
        channel = self.member_of(caller, name)
        members: list[RoomMember] = []
        for member in [member.stored for member in channel.state.members.values()]:
            kind: ParticipantKind = "peer" if member.kind == "peer" else "agent"
            mail = await channel.letters.unread(member.name, keep_of(channel, kind))
            members.append(RoomMember(name=member.name, kind=kind, pending=len(mail.messages), dropped=mail.dropped))
        return RoomMembers(room=channel.state.stored.name or name, members=members)

    async def post(self, caller: Caller, name: str, body: str) -> Posted:
        """Write to a room; agents of it that are mentioned get a turn, nobody is invited."""
        channel = self.member_of(caller, name)
        agents = _mentioned(channel, caller, body)
        await self._waking.allow(caller, agents)
        message, notes = await self._waking.write(caller, channel, body, agents)
        return Posted(channel_id=channel.id, room=channel.state.stored.name or name, seq=message.seq or 0, notes=notes)


def keep_of(channel: Channel, kind: str) -> int | None:
    """How many unread messages a channel keeps for a member of that kind; None: all."""
    return MAILBOX if kind == "peer" and channel.state.stored.kind == "named" else None


def _mentioned(channel: Channel, caller: Caller, body: str) -> list[str]:
    """The configured agents of the room that a text mentions, each once, in order; `@all` is every one."""
    configured = {spec.name for spec in channel.state.env.config().agents}
    members = channel.state.members.values()
    present = [m.stored.name for m in members if m.stored.kind == "agent" and m.stored.name in configured]
    others = [name for name in present if fold(name) != fold(caller.name)]
    named = [mention.name for mention in find_mentions(body, [ALL, *others]).known]
    found = [name for mention in named for name in (others if mention == ALL else [mention])]
    return list(dict.fromkeys(found))


def _view(channel: Channel, caller: Caller) -> Room:
    stored = channel.state.stored
    members = list(channel.state.members)
    return Room(name=stored.name or "", description=stored.description, members=members, member=caller.name in members)


def _not_found(name: str) -> SidekicksError:
    room = name.removeprefix("#")
    return SidekicksError("channelNotFound", f"There is no room #{room}. `rooms` lists them.", {"room": room})
