"""Short ways to say channels, members, turns and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.parts import Part, TextPart
from sidekicks_bridge.protocol.types import Author, AuthorKind, Message
from sidekicks_bridge.store.contract import StoredChannel, StoredMember, StoredTurn

if TYPE_CHECKING:
    from collections.abc import Iterable

AT = "2026-11-30T12:00:00.000Z"


def text_message(
    message_id: str, text: str = "hello", *, channel: str = "c1", seq: int | None = None, author: str = "user"
) -> Message:
    """A user's (queued without ``seq``) or, with an ``author``, an agent's message of one text part."""
    return message(message_id, [TextPart(text=text)], channel=channel, seq=seq, author=author)


def message(
    message_id: str, parts: Iterable[Part], *, channel: str = "c1", seq: int | None = None, author: str = "user"
) -> Message:
    """A message of any parts; `user` and `system` are kinds, `peer:x` is a peer, every other author is an agent."""
    kind: AuthorKind = "agent"
    if author == "user":
        kind = "user"
    elif author == "system":
        kind = "system"
    elif author.startswith("peer:"):
        kind = "peer"
    name = author.removeprefix("peer:") if kind in {"agent", "peer"} else None
    return Message(
        id=message_id,
        seq=seq,
        channel_id=channel,
        author=Author(kind=kind, name=name),
        parts=list(parts),
        created_at=AT,
        state="queued" if seq is None else "finished",
    )


def channel(channel_id: str, name: str = "general") -> StoredChannel:
    """A named channel."""
    return StoredChannel(id=channel_id, kind="named", name=name, created_at=AT, updated_at=AT)


def member(name: str, channel_id: str = "c1", cursor: int = 0) -> StoredMember:
    """An agent's membership."""
    return StoredMember(channel_id=channel_id, name=name, joined_at=AT, cursor=cursor)


def turn(turn_id: str, channel_id: str = "c1", message_id: str = "m1") -> StoredTurn:
    """A queued turn of alice."""
    return StoredTurn(id=turn_id, channel_id=channel_id, agent="alice", message_id=message_id)
