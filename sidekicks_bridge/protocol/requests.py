"""The parameters and results of the requests. Names and fields never change; new optional ones may be added."""

from __future__ import annotations

from typing import Any, Literal

from sidekicks_bridge.protocol.base import Integer, Wire
from sidekicks_bridge.protocol.parts import Part
from sidekicks_bridge.protocol.routes import Route
from sidekicks_bridge.protocol.types import (
    Agent,
    Attachment,
    AttentionItem,
    Channel,
    ConfigState,
    Elicitation,
    Message,
    Permission,
    Problem,
    SessionOrigin,
    SignIn,
    StorageState,
    Turn,
)


class Empty(Wire, kw_only=True):
    """No parameters, or nothing to answer."""


class State(Wire, kw_only=True):
    """Everything that is not inside a channel: what a client shows before it opens one."""

    agents: list[Agent]
    channels: list[Channel]
    permissions: list[Permission]
    turns: list[Turn]
    storage: StorageState
    config: ConfigState
    sign_ins: list[SignIn] = []
    elicitations: list[Elicitation] = []


class CreateChannel(Wire, kw_only=True):
    """Make a named channel; ``root`` is an absolute folder."""

    name: str
    description: str | None = None
    members: list[str] = []
    root: str | None = None


class DirectChannel(Wire, kw_only=True):
    """The direct conversation with an agent in the client's folder."""

    agent: str


class OpenChannel(Wire, kw_only=True):
    """Open (and subscribe to) a channel, with its newest ``limit`` messages.

    ``keepRoot``: do not make the client's folder the root of a channel that has none (scripts).
    """

    channel_id: str
    limit: Integer = 50
    keep_root: bool = False


class OpenedChannel(Wire, kw_only=True):
    """A channel's snapshot. Later events of the channel follow it on the same connection, in order."""

    channel: Channel
    messages: list[Message]
    has_more: bool
    turns: list[Turn]
    permissions: list[Permission]
    draft: str | None = None
    other_root: str | None = None


class ChannelRef(Wire, kw_only=True):
    """A channel by its id."""

    channel_id: str


class UpdateChannel(Wire, kw_only=True):
    """Rename, describe, or move a channel to another folder (its sessions close)."""

    channel_id: str
    name: str | None = None
    description: str | None = None
    root: str | None = None


class DeleteChannel(Wire, kw_only=True):
    """Delete a channel with its history; ``confirm`` repeats its name (or its agent's)."""

    channel_id: str
    confirm: str = ""


class ChannelAgent(Wire, kw_only=True):
    """An agent in a channel."""

    channel_id: str
    agent: str


class MarkRead(Wire, kw_only=True):
    """Everything up to ``seq`` has been read."""

    channel_id: str
    seq: Integer


class PreparedCommand(Wire, kw_only=True):
    """A command together with the agent it belongs to."""

    agent: str
    name: str
    description: str
    hint: str | None = None


class PreparedCommands(Wire, kw_only=True):
    """The commands known now; `commands/changed` follows as agents announce theirs."""

    commands: list[PreparedCommand]


class SendMessage(Wire, kw_only=True):
    """Send a user's message. A repeated ``clientToken`` sends nothing twice."""

    channel_id: str
    text: str
    attachments: list[Attachment] = []
    client_token: str | None = None


class SentMessage(Wire, kw_only=True):
    """The accepted message and where it goes."""

    message_id: str
    route: Route


class ChannelText(Wire, kw_only=True):
    """A text as it stands in a channel's composer."""

    channel_id: str
    text: str


class PreviewMessage(ChannelText, kw_only=True):
    """A text as it stands in a channel's composer; ``attached``: whether attachments would go along."""

    attached: bool = False


class ListMessages(Wire, kw_only=True):
    """A page of messages: before or after a ``seq`` (exclusive), else the newest; at most 500."""

    channel_id: str
    before: Integer | None = None
    after: Integer | None = None
    limit: Integer = 50


class MessagePage(Wire, kw_only=True):
    """Messages in ascending order, unfinished ones last."""

    messages: list[Message]
    has_more: bool


class MessagePart(Wire, kw_only=True):
    """One part of a message, by its index from 0."""

    message_id: str
    part: Integer


class WholePart(Wire, kw_only=True):
    """The part, nothing shortened."""

    part: Part


class SearchMessages(Wire, kw_only=True):
    """Find messages that contain every word of ``query``; ``author`` is an agent's name or `user`."""

    query: str
    channel_id: str | None = None
    author: str | None = None
    limit: Integer = 50


class SearchHit(Wire, kw_only=True):
    """A message that matched, and the text around the match."""

    message: Message
    channel_id: str
    snippet: str


class SearchHits(Wire, kw_only=True):
    """Hits, newest first."""

    hits: list[SearchHit]


class MessageRef(Wire, kw_only=True):
    """A message by its id."""

    message_id: str


class Prompt(Wire, kw_only=True):
    """Exactly what an agent was sent for an answer: ACP content blocks, and how its session stood.

    ``resumed``: the session went on; ``loaded``: the agent loaded it; ``fresh``: it was new and had heard nothing.
    """

    blocks: list[dict[str, Any]]
    session: SessionOrigin
    unseen: int
    cut: int


class CompleteText(Wire, kw_only=True):
    """Completion in a composer that is no LSP document; ``offset`` in UTF-16 units."""

    channel_id: str
    text: str
    offset: Integer


class Completions(Wire, kw_only=True):
    """LSP CompletionItems; a text edit's range is on line 0 … of the given text."""

    items: list[dict[str, Any]]


class CancelTurn(Wire, kw_only=True):
    """Cancel a turn; without ``turnId`` the running one and the rest of its message."""

    channel_id: str
    turn_id: str | None = None


class AnswerPermission(Wire, kw_only=True):
    """Answer a permission question; no ``optionId`` cancels it."""

    request_id: str
    option_id: str | None = None


class Accepted(Wire, kw_only=True):
    """Whether this answer was the one that counted."""

    accepted: bool


class AgentRef(Wire, kw_only=True):
    """An agent by its name."""

    agent: str


class AgentLogs(Wire, kw_only=True):
    """The last lines an agent wrote to stderr; `agent/log` follows for this client."""

    lines: list[str]


class SetMode(Wire, kw_only=True):
    """Set a mode (or, with ``model``, a legacy model) of an agent's session in a channel."""

    channel_id: str
    agent: str
    mode_id: str | None = None
    model_id: str | None = None


class SetOption(Wire, kw_only=True):
    """Set a configuration option of an agent's session in a channel."""

    channel_id: str
    agent: str
    option_id: str
    value: str | bool


class ConfigText(Wire, kw_only=True):
    """A configuration's text; absent: the file as it is on disk."""

    text: str | None = None


class ConfigView(Wire, kw_only=True):
    """The configuration file and its problems."""

    path: str
    text: str
    problems: list[Problem]


class Problems(Wire, kw_only=True):
    """Problems found in a configuration."""

    problems: list[Problem]


class EditConfig(Wire, kw_only=True):
    """Set (or, without ``value``, remove) the value at a path of keys and indices; comments and order are kept."""

    path: list[str | int]
    value: Any = None


class RecentConfigs(Wire, kw_only=True):
    """Configurations used before, the newest first."""

    paths: list[str]


class Attention(Wire, kw_only=True):
    """Everything that waits for the user, over all channels."""

    items: list[AttentionItem]


class ExportChannel(Wire, kw_only=True):
    """Write a channel's whole history to ``path`` (absolute), as Markdown for people or JSON lines for programs."""

    channel_id: str
    path: str
    format: Literal["markdown", "json"] = "markdown"


class ExportedChannel(Wire, kw_only=True):
    """What was written."""

    path: str
    messages: int


class AttachedClient(Wire, kw_only=True):
    """A client that is attached now; ``you``: the one that asks."""

    name: str
    folder: str | None = None
    attached_at: str
    you: bool = False


class BridgeStatus(Wire, kw_only=True):
    """Who owns, who is attached, what runs and what waits."""

    pid: int
    bridge_version: str
    protocol_version: int
    kind: Literal["hub", "editor"]
    started_at: str
    clients: list[AttachedClient]
    state: State


class DocumentPath(Wire, kw_only=True):
    """An absolute path."""

    path: str


class DocumentText(Wire, kw_only=True):
    """The text of an editor's buffer; absent when the editor has no unsaved one."""

    text: str | None = None
