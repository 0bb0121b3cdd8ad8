"""The data of the protocol: agents, channels, messages and their parts, turns, routes, permissions.

Pure records. Times are RFC 3339 UTC strings, ids are ULIDs, ``seq`` is a channel's sequence number from 1.
"""

from __future__ import annotations

from typing import Any, Literal

from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.mail import MailOrigin
from sidekicks_bridge.protocol.parts import Part, PermissionOption, ToolCallPart

AgentState = Literal["stopped", "starting", "ready", "busy", "error"]
ChannelKind = Literal["named", "direct", "pair"]
AuthorKind = Literal["user", "agent", "peer", "system"]
MessageState = Literal["queued", "streaming", "finished"]
TurnState = Literal["queued", "starting", "thinking", "tool", "writing", "awaitingPermission", "cancelling"]
SessionOrigin = Literal["resumed", "loaded", "fresh"]


class Problem(Wire, kw_only=True):
    """Something wrong in the configuration file: where (line and column from 1) and what to do, as a sentence."""

    file: str
    line: int
    column: int
    message: str
    severity: Literal["error", "warning"] = "error"
    path: list[str | int] = []


class Command(Wire, kw_only=True):
    """A slash command as its agent announced it; ``name`` without the slash."""

    name: str
    description: str
    hint: str | None = None


class Mode(Wire, kw_only=True):
    """One mode (or legacy model) an agent offers."""

    id: str
    name: str
    description: str | None = None


class Modes(Wire, kw_only=True):
    """The modes of a session and the current one."""

    current: str
    available: list[Mode]


class OptionChoice(Wire, kw_only=True):
    """One value of a select option; ``group`` is the heading it stands under."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class SessionOption(Wire, kw_only=True):
    """A configuration option of a session, as the agent gives it; ``choices`` only for selects."""

    id: str
    name: str
    kind: Literal["select", "boolean", "other"]
    value: str | bool | None = None
    category: str | None = None
    description: str | None = None
    choices: list[OptionChoice] = []


class Cost(Wire, kw_only=True):
    """What a session has cost so far, in the currency the agent reports."""

    amount: float
    currency: str


class Usage(Wire, kw_only=True):
    """Context use as the agent reports it, in tokens; ``size`` may be missing and ``used`` may exceed it."""

    used: int
    size: int | None = None
    cost: Cost | None = None


class SignInVariable(Wire, kw_only=True):
    """An environment variable that an agent wants; ``secret``: do not show what is typed."""

    name: str
    label: str | None = None
    secret: bool = True
    optional: bool = False


class SignInMethod(Wire, kw_only=True):
    """One way to sign in. ``agent``: the agent does it when asked; ``terminal``: a command is run for the user;
    ``envVar``: the user sets ``variables``; ``other``: of a kind without a word here.
    """

    id: str
    name: str
    kind: Literal["agent", "terminal", "envVar", "other"]
    description: str | None = None
    variables: list[SignInVariable] = []
    link: str | None = None


class SignIn(Wire, kw_only=True):
    """An agent wants the user to sign in; ``channelId`` is where that came up last."""

    agent: str
    text: str
    methods: list[SignInMethod]
    channel_id: str | None = None


class Agent(Wire, kw_only=True):
    """An agent of the configuration and how it is doing.

    ``signIn``, ``canLogOut``, ``takesImages``: what its last process offered.
    """

    name: str
    title: str
    icon: str | None = None
    description: str | None = None
    state: AgentState
    error: str | None = None
    origin: Literal["config", "builtin"]
    commands: list[Command]
    modes: Modes | None = None
    options: list[SessionOption] = []
    usage: Usage | None = None
    sign_in: list[SignInMethod] = []
    can_log_out: bool = False
    takes_images: bool = False


class Member(Wire, kw_only=True):
    """A participant of a channel; the ACP session's modes, options and usage are those of this channel."""

    name: str
    kind: Literal["agent", "peer"]
    joined_at: str
    last_seen: int | None = None
    modes: Modes | None = None
    models: Modes | None = None
    options: list[SessionOption] = []
    usage: Usage | None = None


class Channel(Wire, kw_only=True):
    """A conversation. ``agent`` only when direct, ``name`` only when named, ``peers`` only for a pair."""

    id: str
    kind: ChannelKind
    name: str | None = None
    agent: str | None = None
    peers: list[str] = []
    description: str | None = None
    root: str | None = None
    created_at: str
    updated_at: str
    members: list[Member]
    unread: int
    last_message_at: str | None = None


class Author(Wire, kw_only=True):
    """Who wrote a message; ``name`` for agents and peers."""

    kind: AuthorKind
    name: str | None = None


class Position(Wire, kw_only=True):
    """A position in a text: line and UTF-16 character from 0, as in LSP."""

    line: int
    character: int


class Range(Wire, kw_only=True):
    """A range in a text, end exclusive, as in LSP."""

    start: Position
    end: Position


class Attachment(Wire, kw_only=True):
    """A file or a piece of one that goes with a message; ``text`` is its content if the client gives it.

    ``data`` (base64, with ``mimeType``) only in a message that is sent: the bridge keeps it as a file, and ``uri`` is
    then that file's. An agent that takes images is given a file of an image type as an image.
    """

    uri: str
    mime_type: str | None = None
    data: str | None = None
    range: Range | None = None
    text: str | None = None
    title: str | None = None


class TurnError(Wire, kw_only=True):
    """Why a turn failed: one of the error codes, and a sentence with exit code and last stderr lines."""

    code: str
    message: str


class MessageTurn(Wire, kw_only=True):
    """The turn an agent's message came from. Stop reasons: ACP's plus `failed` and `interrupted`."""

    id: str
    stop_reason: str | None = None
    error: TurnError | None = None
    usage: Usage | None = None
    started_at: str
    ended_at: str | None = None


class Message(Wire, kw_only=True):
    """An utterance. ``seq`` exists once it is finished (a user's: once its first turn begins)."""

    id: str
    seq: int | None = None
    channel_id: str
    author: Author
    parts: list[Part]
    created_at: str
    state: MessageState
    turn: MessageTurn | None = None
    in_reply_to: str | None = None
    attachments: list[Attachment] = []
    mail: MailOrigin | None = None


class WaitsFor(Wire, kw_only=True):
    """What a turn waits for: an earlier turn here, its agent busy in another channel, or a running slot."""

    reason: Literal["channel", "agentBusy", "noSlot"]
    channel_id: str | None = None
    agent: str | None = None


class Turn(Wire, kw_only=True):
    """One prompt of one agent, from queued until its message is finished. ``messageId`` is the answer's."""

    id: str
    channel_id: str
    agent: str
    message_id: str | None = None
    in_reply_to: str | None = None
    state: TurnState
    waits_for: WaitsFor | None = None


class Permission(Wire, kw_only=True):
    """An open permission question. It names the agent that asks.

    ``about``: what it asks for is a tool call, or (`silence`) it is the bridge that asks what to do about an agent that
    has said nothing for long.
    """

    about: Literal["tool", "silence"] = "tool"
    request_id: str
    channel_id: str
    agent: str
    turn_id: str
    tool_call: ToolCallPart
    options: list[PermissionOption]
    requested_at: str


class FormChoice(Wire, kw_only=True):
    """One value of a field of a form."""

    value: str
    title: str


class FormField(Wire, kw_only=True):
    """One thing that an agent asks for. ``choices`` for `choice` (one of them) and `choices` (a list of them)."""

    name: str
    title: str
    kind: Literal["string", "number", "integer", "boolean", "choice", "choices", "other"]
    required: bool = False
    description: str | None = None
    default: Any = None
    choices: list[FormChoice] = []
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None


class Elicitation(Wire, kw_only=True):
    """An agent asks the user for something: ``fields`` of a form, or a visit to ``url``, which is shown whole."""

    request_id: str
    channel_id: str
    agent: str
    mode: Literal["form", "url"]
    message: str
    fields: list[FormField] = []
    url: str | None = None
    requested_at: str


class AgentSession(Wire, kw_only=True):
    """A session that an agent remembers; ``channelId`` if it is that of a channel here."""

    session_id: str
    cwd: str | None = None
    title: str | None = None
    updated_at: str | None = None
    channel_id: str | None = None


class AttentionItem(Wire, kw_only=True):
    """Something that waits for the user: a permission, unread messages, an error, or a queued message."""

    kind: Literal["permission", "unread", "error", "queued"]
    channel_id: str
    agent: str | None = None
    request_id: str | None = None
    message_id: str | None = None
    text: str
    count: int | None = None


class StorageState(Wire, kw_only=True):
    """Whether history is kept on disk, and if not, why."""

    persistent: bool
    reason: str | None = None


class ConfigState(Wire, kw_only=True):
    """The configuration in use and what is wrong with its file."""

    path: str
    problems: list[Problem]
