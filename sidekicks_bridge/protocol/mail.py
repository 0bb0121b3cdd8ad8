"""Mail on the wire: what participants write to each other and how a request says who makes it (`sidekicks/mail/…`).

A peer signs each request (``auth``), an agent's MCP server names its session (``token``); register and agents aside,
one of them must be there.
"""

from __future__ import annotations

from typing import Literal

from sidekicks_bridge.protocol.base import Integer, Wire

ParticipantKind = Literal["agent", "peer"]


class MailAuth(Wire, kw_only=True):
    """Who asks. ``signature``: hex Ed25519 over the ASCII of the JSON array [method, params, name, time, nonce].

    ``params`` are the request's without ``auth``, fields that equal their default left out, keys sorted, no blanks,
    everything beyond ASCII escaped. ``time`` is RFC 3339 UTC; ``nonce`` is never used twice: 1 to 128 printable
    characters of ASCII.
    """

    name: str
    time: str
    nonce: str
    signature: str


class MailOrigin(Wire, kw_only=True):
    """How a message came by mail: the signed request it was (peers), and how far it is from a person.

    ``hops``: how many agents wrote because of each other before it; ``cause``: the message whose turn it was written
    in. ``target`` is whom or where the request named, ``signer`` the name it gave if that was spelt another way,
    ``timeout`` (milliseconds) what an ask said: all of it was signed.
    """

    method: str | None = None
    target: str | None = None
    signer: str | None = None
    time: str | None = None
    nonce: str | None = None
    key: str | None = None
    signature: str | None = None
    timeout: int | None = None
    cause: str | None = None
    hops: int = 0


class MailRequest(Wire, kw_only=True):
    """A request without parameters of its own, by whoever ``auth`` or ``token`` says."""

    auth: MailAuth | None = None
    token: str | None = None


class RegisterPeer(MailRequest, kw_only=True):
    """Register the name in ``auth``, signed with the private half of ``key`` (hex Ed25519).

    ``folder`` (absolute): where agents work that the peer writes to, as far as nothing else says so.
    """

    key: str
    folder: str | None = None


class Lease(Wire, kw_only=True):
    """A registration and when it ends unless a signed request renews it."""

    name: str
    expires_at: str


class Tell(MailRequest, kw_only=True):
    """Write to a peer or agent."""

    peer: str
    body: str


class Told(Wire, kw_only=True):
    """The message is in the history under this number. ``notes``: what a sender should know (woke nobody, …)."""

    channel_id: str
    peer: str
    seq: Integer
    notes: list[str] = []


class AskPeer(MailRequest, kw_only=True):
    """Write, then wait for the next message from there; ``timeout`` in milliseconds covers the waiting only."""

    peer: str
    body: str
    timeout: Integer = 300_000


class Letter(Wire, kw_only=True):
    """A message as mail shows it. ``author``: a participant's name, or `user`. ``failed``: it could not answer."""

    seq: Integer
    author: str
    at: str
    body: str
    failed: bool = False


class Answered(Wire, kw_only=True):
    """The answer; ``older``: what had not been read of that peer before it. With timeout 0 there may be none."""

    seq: Integer
    peer: str
    older: list[Letter] = []
    message: Letter | None = None


class ReadMail(MailRequest, kw_only=True):
    """Consume what waits in a pair (the oldest message) or a room (all of them); exactly one of them is named.

    ``timeout`` in milliseconds; 0: do not wait. Expired: the error `timeout`.
    """

    peer: str | None = None
    room: str | None = None
    timeout: Integer = 300_000


class PeekMail(MailRequest, kw_only=True):
    """Everything that waits in a pair or a room, without consuming it."""

    peer: str | None = None
    room: str | None = None


class Letters(Wire, kw_only=True):
    """Messages in order. ``dropped``: how many older ones the mailbox of a room did not keep."""

    messages: list[Letter]
    dropped: Integer = 0


class ReadAnyMail(MailRequest, kw_only=True):
    """Consume the next message on any of the caller's channels; ``timeout`` as in reading."""

    timeout: Integer = 300_000


class AnyLetter(Wire, kw_only=True):
    """A message and where it was; no ``message``: there is none."""

    peer: str | None = None
    room: str | None = None
    message: Letter | None = None
    dropped: Integer = 0


class Post(MailRequest, kw_only=True):
    """Write to a room for every member but the sender."""

    room: str
    body: str


class Posted(Wire, kw_only=True):
    """The message is in the history under this number. ``notes``: as in telling."""

    channel_id: str
    room: str
    seq: Integer
    notes: list[str] = []


class CreateRoom(MailRequest, kw_only=True):
    """Make a room (a named channel); its creator is the first member."""

    room: str
    description: str | None = None


class RoomRef(MailRequest, kw_only=True):
    """A room by its name."""

    room: str


class Room(Wire, kw_only=True):
    """A named channel. ``member``: whether the caller is one."""

    name: str
    description: str | None = None
    members: list[str]
    member: bool = False


class Rooms(Wire, kw_only=True):
    """All rooms."""

    rooms: list[Room]


class RoomMember(Wire, kw_only=True):
    """A member and what waits for it."""

    name: str
    kind: ParticipantKind
    pending: Integer = 0
    dropped: Integer = 0


class RoomMembers(Wire, kw_only=True):
    """The members of a room, in the order they joined."""

    room: str
    members: list[RoomMember]


class MailHistory(MailRequest, kw_only=True):
    """What was written in a pair or a room after ``since`` (exclusive), the last ``limit`` of it."""

    peer: str | None = None
    room: str | None = None
    since: Integer = 0
    limit: Integer = 50


class MailChannel(Wire, kw_only=True):
    """One of the caller's channels and what waits there."""

    channel_id: str
    peer: str | None = None
    room: str | None = None
    pending: Integer = 0
    dropped: Integer = 0


class MailChannels(Wire, kw_only=True):
    """The caller's channels."""

    channels: list[MailChannel]


class Participant(Wire, kw_only=True):
    """Someone who can be written to. ``expiresAt`` only for peers."""

    name: str
    kind: ParticipantKind
    description: str | None = None
    expires_at: str | None = None


class PurgeTranscript(Wire, kw_only=True):
    """Throw away the transcript's commits and write it anew; ``confirm`` is the word `transcript`."""

    confirm: str


class Participants(Wire, kw_only=True):
    """Everybody who can be written to."""

    participants: list[Participant]
