"""What the store keeps and offers: one contract for the one on disk and the one in memory.

Writing is a list of changes applied in one transaction, durable when `Store.write` returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from sidekicks_bridge.protocol.requests import Prompt, SearchHit
from sidekicks_bridge.protocol.types import ChannelKind, Message

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.parts import Part


class StoredChannel(msgspec.Struct, kw_only=True):
    """A channel as kept. ``declared`` is the name of the configuration's declaration that made it (design rule 12)."""

    id: str
    kind: ChannelKind
    name: str | None = None
    agent: str | None = None
    peers: list[str] = []
    description: str | None = None
    root: str | None = None
    declared: str | None = None
    projected: bool = False
    """Whether a named channel is written to the transcript: a peer has been a member."""
    created_at: str
    updated_at: str


class StoredMember(msgspec.Struct, kw_only=True):
    """A membership. ``cursor``: the seq up to which the member has seen the channel.

    ``read``: the seq up to which its mail is read; it never goes back, where a fresh session's cursor does.
    ``heard``: seqs after the cursor that its present session answered or was prompted with (design rules 4 and 6).
    ``mode``, ``model``, ``options``: what the user set for its session in this channel.
    """

    channel_id: str
    name: str
    kind: str = "agent"
    joined_at: str
    cursor: int = 0
    read: int = 0
    heard: list[int] = []
    session_id: str | None = None
    fresh: bool = False
    mode: str | None = None
    model: str | None = None
    options: dict[str, str | bool] = {}


class StoredTurn(msgspec.Struct, kw_only=True):
    """A turn that has not ended: queued (no ``started_at``) or running. After a kill these become `interrupted`."""

    id: str
    channel_id: str
    agent: str
    message_id: str
    """The user's message that is answered."""
    started_at: str | None = None
    command: str | None = None


class PutChannel(msgspec.Struct):
    """Insert or replace a channel."""

    channel: StoredChannel


class DeleteChannel(msgspec.Struct):
    """Delete a channel and everything in it."""

    channel_id: str


class PutMember(msgspec.Struct):
    """Insert or replace a membership; members keep the order in which they were first put."""

    member: StoredMember


class DeleteMember(msgspec.Struct):
    """End a membership."""

    channel_id: str
    name: str


class PutMessage(msgspec.Struct):
    """Insert or replace a message (queued or finished). Parts over 16 KiB are kept whole beside their short form."""

    message: Message


class RemoveMessage(msgspec.Struct):
    """Remove a queued message without trace."""

    message_id: str


class PutTurn(msgspec.Struct):
    """Insert or replace an unfinished turn."""

    turn: StoredTurn


class EndTurn(msgspec.Struct):
    """A turn has ended (or was removed from the queue)."""

    turn_id: str


class PutPrompt(msgspec.Struct):
    """Keep what an agent was sent for the answer ``message_id``; dropped after ``limits.keepPrompts``."""

    message_id: str
    at: str
    prompt: Prompt


class PutValue(msgspec.Struct):
    """Set a value of the key-value space (JSON); None deletes it."""

    key: str
    value: Any


Change = (
    PutChannel
    | DeleteChannel
    | PutMember
    | DeleteMember
    | PutMessage
    | RemoveMessage
    | PutTurn
    | EndTurn
    | PutPrompt
    | PutValue
)


class Page(msgspec.Struct):
    """Messages in ascending ``seq`` order, and whether more lie beyond the page's far end."""

    messages: list[Message]
    has_more: bool


class Store(Protocol):
    """What happens, kept. Every method raises SidekicksError storeClosed after `close`.

    storeUnavailable when the disk refuses (full, gone): the changes are then not applied.
    """

    persistent: bool
    reason: str | None

    async def write(self, *changes: Change) -> None:
        """Apply all changes in one transaction; durable (fsync) when this returns. Concurrent calls commit together."""
        ...

    async def channels(self) -> list[StoredChannel]:
        """All channels, in order of creation."""
        ...

    async def members(self, channel_id: str) -> list[StoredMember]:
        """The members of a channel, in the order they joined."""
        ...

    async def page(
        self, channel_id: str, *, before: int | None = None, after: int | None = None, limit: int = 50
    ) -> Page:
        """Finished messages: the newest, or those before / after a seq (exclusive); parts in their short form."""
        ...

    async def queued(self, channel_id: str) -> list[Message]:
        """Queued user messages, in order of id."""
        ...

    async def turns(self) -> list[StoredTurn]:
        """Every unfinished turn, in order of id."""
        ...

    async def message(self, message_id: str) -> Message | None:
        """One message (short form)."""
        ...

    async def part(self, message_id: str, index: int) -> Part | None:
        """One part, whole."""
        ...

    async def prompt(self, message_id: str) -> Prompt | None:
        """What was sent for an answer, if it is still kept."""
        ...

    async def last_seq(self, channel_id: str) -> int:
        """The highest seq of a channel; 0 when it has none."""
        ...

    async def unread(self, channel_id: str, after: int) -> int:
        """How many finished agent and peer messages have a seq greater than ``after``."""
        ...

    async def search(self, query: str, *, channel_id: str | None, author: str | None, limit: int) -> list[SearchHit]:
        """Messages that contain every word of ``query`` (case-insensitive), newest first."""
        ...

    async def value(self, key: str) -> Any:
        """A value of the key-value space, or None."""
        ...

    async def values(self, prefix: str) -> dict[str, Any]:
        """All values whose key begins with ``prefix``."""
        ...

    async def drop_prompts(self, before: str) -> None:
        """Drop prompts kept before the given time."""
        ...

    def start_indexing(self) -> None:
        """Index in spare time what is not yet; a write starts it, too. Until then opening changes nothing on disk."""
        ...

    async def close(self) -> None:
        """Write what is waiting, close. Idempotent."""
        ...
