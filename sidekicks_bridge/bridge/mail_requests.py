"""Requests about mail: who asks is settled here, what they get is `mail`'s. Each method is one of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import Lease, Participant, Participants
from sidekicks_bridge.protocol.requests import Empty

if TYPE_CHECKING:
    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.protocol import mail as wire

_PREFIX = "sidekicks/mail/"


class MailRequests:
    """What can be asked of mail."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def _caller(self, verb: str, params: wire.MailRequest) -> Caller:
        return await self._bridge.mail.callers.identify(_PREFIX + verb, params)

    async def register(self, _client: Client, params: wire.RegisterPeer) -> Lease:
        """`mail/register`."""
        mail = self._bridge.mail
        name = mail.callers.check_registration(_PREFIX + "register", params)
        peer = await mail.register(name, params.key, params.folder)
        return Lease(name=peer.name, expires_at=peer.expires_at)

    async def unregister(self, _client: Client, params: wire.MailRequest) -> Empty:
        """`mail/unregister`."""
        await self._bridge.mail.unregister(await self._caller("unregister", params))
        return Empty()

    async def renew(self, _client: Client, params: wire.MailRequest) -> Lease:
        """`mail/renew`: an agent has no lease, it stands in the configuration."""
        caller = await self._caller("renew", params)
        peer = self._bridge.mail.registry.live(caller.name)
        if peer is None or caller.kind == "agent":
            raise SidekicksError("notSupported", "Only a registration can be renewed; agents need none.")
        return Lease(name=peer.name, expires_at=peer.expires_at)

    async def agents(self, _client: Client, _params: wire.MailRequest) -> Participants:
        """`mail/agents`: needs no identity."""
        bridge = self._bridge
        agents = [
            Participant(name=spec.name, kind="agent", description=spec.description)
            for spec in bridge.configuration.current.agents
        ]
        peers = [
            Participant(name=peer.name, kind="peer", expires_at=peer.expires_at) for peer in bridge.mail.registry.all()
        ]
        return Participants(participants=agents + peers)

    async def tell(self, _client: Client, params: wire.Tell) -> wire.Told:
        """`mail/tell`."""
        caller = await self._caller("tell", params)
        told = await self._bridge.mail.pairs.tell(caller, params.peer, self._checked(params.body))
        told.notes += self._not_kept()
        return told

    async def ask(self, _client: Client, params: wire.AskPeer) -> wire.Answered:
        """`mail/ask`."""
        caller = await self._caller("ask", params)
        body = self._checked(params.body)
        return await self._bridge.mail.pairs.ask(caller, params.peer, body, params.timeout / 1000)

    def _checked(self, body: str) -> str:
        if not body.strip():
            raise SidekicksError("invalidParams", "The message is empty. Write something to send.")
        limit = self._bridge.configuration.current.limits.message_bytes
        size = len(body.encode("utf-8", "surrogatepass"))
        if size > limit:
            raise SidekicksError(
                "tooLarge",
                f"The message has {size:,} bytes; the limit is {limit:,} (limits.messageBytes).",
                {"bytes": size, "limit": limit},
            )
        return body

    async def read(self, _client: Client, params: wire.ReadMail) -> wire.Letters:
        """`mail/read`."""
        caller = await self._caller("read", params)
        return await self._bridge.mail.reading.read(caller, params.peer, params.room, params.timeout / 1000)

    async def peek(self, _client: Client, params: wire.PeekMail) -> wire.Letters:
        """`mail/peek`."""
        caller = await self._caller("peek", params)
        return await self._bridge.mail.reading.peek(caller, params.peer, params.room)

    async def read_any(self, _client: Client, params: wire.ReadAnyMail) -> wire.AnyLetter:
        """`mail/readAny`."""
        caller = await self._caller("readAny", params)
        return await self._bridge.mail.reading.read_any(caller, params.timeout / 1000)

    async def history(self, _client: Client, params: wire.MailHistory) -> wire.Letters:
        """`mail/history`."""
        caller = await self._caller("history", params)
        reading = self._bridge.mail.reading
        return await reading.history(caller, params.peer, params.room, params.since, params.limit)

    async def channels(self, _client: Client, params: wire.MailRequest) -> wire.MailChannels:
        """`mail/channels`."""
        return await self._bridge.mail.reading.channels(await self._caller("channels", params))

    async def purge(self, _client: Client, params: wire.PurgeTranscript) -> Empty:
        """`mail/purge`: the user's own request, like deleting a channel."""
        if params.confirm != "transcript":
            raise SidekicksError(
                "confirmationMissing",
                "Purging throws away every commit of the transcript. Say 'transcript' in `confirm` to do it.",
            )
        if self._bridge.mail.transcript is None:
            raise SidekicksError("storeUnavailable", "History is not being kept, so there is no transcript.")
        await self._bridge.mail.transcript.purge()
        return Empty()

    async def post(self, _client: Client, params: wire.Post) -> wire.Posted:
        """`mail/post`."""
        caller = await self._caller("post", params)
        posted = await self._bridge.mail.rooms.post(caller, params.room, self._checked(params.body))
        posted.notes += self._not_kept()
        return posted

    def _not_kept(self) -> list[str]:
        """What whoever writes should know about where it is kept (design rule 9)."""
        storage = self._bridge.storage
        return [] if storage.persistent else [f"history is not kept: {storage.reason or 'it is in memory'}"]

    async def create_room(self, _client: Client, params: wire.CreateRoom) -> wire.Room:
        """`mail/createRoom`."""
        caller = await self._caller("createRoom", params)
        return await self._bridge.mail.rooms.create(caller, params.room, params.description)

    async def join(self, _client: Client, params: wire.RoomRef) -> wire.Room:
        """`mail/join`."""
        return await self._bridge.mail.rooms.join(await self._caller("join", params), params.room)

    async def leave(self, _client: Client, params: wire.RoomRef) -> Empty:
        """`mail/leave`."""
        await self._bridge.mail.rooms.leave(await self._caller("leave", params), params.room)
        return Empty()

    async def rooms(self, _client: Client, params: wire.MailRequest) -> wire.Rooms:
        """`mail/rooms`."""
        return self._bridge.mail.rooms.all(await self._caller("rooms", params))

    async def participants(self, _client: Client, params: wire.RoomRef) -> wire.RoomMembers:
        """`mail/participants`."""
        caller = await self._caller("participants", params)
        return await self._bridge.mail.rooms.participants(caller, params.room)
