"""The one table of requests: name, parameters, result, who answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sidekicks_bridge.protocol.agent_requests import (
    AgentSessions,
    AnswerElicitation,
    Authenticate,
    Authenticated,
    ListSessions,
    PickUpSession,
    SessionRef,
)
from sidekicks_bridge.protocol.mail import (
    Answered,
    AnyLetter,
    AskPeer,
    CreateRoom,
    Lease,
    Letters,
    MailChannels,
    MailHistory,
    MailRequest,
    Participants,
    PeekMail,
    Post,
    Posted,
    PurgeTranscript,
    ReadAnyMail,
    ReadMail,
    RegisterPeer,
    Room,
    RoomMembers,
    RoomRef,
    Rooms,
    Tell,
    Told,
)
from sidekicks_bridge.protocol.requests import (
    Accepted,
    AgentLogs,
    AgentRef,
    AnswerPermission,
    Attention,
    BridgeStatus,
    CancelTurn,
    ChannelAgent,
    ChannelRef,
    ChannelText,
    CompleteText,
    Completions,
    ConfigText,
    ConfigView,
    CreateChannel,
    DeleteChannel,
    DirectChannel,
    DocumentPath,
    DocumentText,
    EditConfig,
    Empty,
    ExportChannel,
    ExportedChannel,
    ListMessages,
    MarkRead,
    MessagePage,
    MessagePart,
    MessageRef,
    OpenChannel,
    OpenedChannel,
    PreparedCommands,
    PreviewMessage,
    Problems,
    Prompt,
    RecentConfigs,
    SearchHits,
    SearchMessages,
    SendMessage,
    SentMessage,
    SetMode,
    SetOption,
    State,
    UpdateChannel,
    WholePart,
)
from sidekicks_bridge.protocol.routes import Route
from sidekicks_bridge.protocol.types import Channel

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire


@dataclass(frozen=True)
class Method:
    """One request: its name, the Struct of its parameters and of its result, who answers it, and what it does."""

    name: str
    params: type[Wire]
    result: type[Wire]
    summary: str
    side: Literal["bridge", "client"] = "bridge"


METHODS: tuple[Method, ...] = (
    Method("sidekicks/state/get", Empty, State, "Agents, channels, open permissions, turns, storage, configuration."),
    Method("sidekicks/channel/create", CreateChannel, Channel, "Make a named channel."),
    Method("sidekicks/channel/direct", DirectChannel, Channel, "The direct conversation with an agent."),
    Method(
        "sidekicks/channel/open",
        OpenChannel,
        OpenedChannel,
        "Snapshot and subscription; starts nobody.",
    ),
    Method("sidekicks/channel/close", ChannelRef, Empty, "Unsubscribe."),
    Method("sidekicks/channel/update", UpdateChannel, Channel, "Rename, describe, or move to another folder."),
    Method("sidekicks/channel/delete", DeleteChannel, Empty, "Delete with its history, after confirmation."),
    Method("sidekicks/channel/invite", ChannelAgent, Channel, "Make an agent a member."),
    Method("sidekicks/channel/remove", ChannelAgent, Channel, "Remove a member."),
    Method("sidekicks/channel/markRead", MarkRead, Empty, "Set the read mark that all clients share."),
    Method("sidekicks/channel/export", ExportChannel, ExportedChannel, "Write the whole history to a file."),
    Method(
        "sidekicks/channel/prepare",
        ChannelRef,
        PreparedCommands,
        "Learn the members' slash commands.",
    ),
    Method("sidekicks/message/send", SendMessage, SentMessage, "Send a user's message."),
    Method("sidekicks/message/preview", PreviewMessage, Route, "Where a message would go; starts nobody."),
    Method("sidekicks/message/list", ListMessages, MessagePage, "A page of a channel's messages."),
    Method("sidekicks/message/part", MessagePart, WholePart, "One part, nothing shortened."),
    Method("sidekicks/message/search", SearchMessages, SearchHits, "Find messages, newest first."),
    Method("sidekicks/message/prompt", MessageRef, Prompt, "What the agent was sent for an answer."),
    Method(
        "sidekicks/message/complete",
        CompleteText,
        Completions,
        "Completion for a composer that is no LSP document.",
    ),
    Method("sidekicks/message/remove", MessageRef, Empty, "Remove a queued message without trace."),
    Method("sidekicks/turn/cancel", CancelTurn, Empty, "Cancel a turn, or the running message."),
    Method("sidekicks/turn/retry", MessageRef, Empty, "Prompt the agent of a failed answer anew."),
    Method(
        "sidekicks/permission/answer",
        AnswerPermission,
        Accepted,
        "Answer a permission; the first answer wins.",
    ),
    Method("sidekicks/permission/rules", Empty, Empty, "Later; `notSupported` until then."),
    Method("sidekicks/permission/revoke", Empty, Empty, "Later; `notSupported` until then."),
    Method("sidekicks/elicitation/answer", AnswerElicitation, Accepted, "Give an agent what it asked for, or not."),
    Method("sidekicks/agent/start", AgentRef, Empty, "Start an agent's process."),
    Method("sidekicks/agent/stop", AgentRef, Empty, "Stop an agent's process; its turns are cancelled."),
    Method("sidekicks/agent/restart", AgentRef, Empty, "Stop, then start."),
    Method("sidekicks/agent/logs", AgentRef, AgentLogs, "The agent's stderr so far, then `agent/log` notifications."),
    Method("sidekicks/agent/authenticate", Authenticate, Authenticated, "Sign in to an agent by one of its methods."),
    Method("sidekicks/agent/logout", AgentRef, Empty, "Sign out of an agent, where it offers that."),
    Method("sidekicks/agent/sessions", ListSessions, AgentSessions, "The sessions that an agent remembers."),
    Method("sidekicks/agent/deleteSession", SessionRef, Empty, "Have an agent forget a session."),
    Method("sidekicks/session/pickUp", PickUpSession, Empty, "Go on with one of them in a channel."),
    Method("sidekicks/session/setMode", SetMode, Empty, "Set a mode or legacy model for a channel."),
    Method("sidekicks/session/setOption", SetOption, Empty, "Set a configuration option for a channel."),
    Method("sidekicks/config/get", Empty, ConfigView, "The configuration file and its problems."),
    Method("sidekicks/config/validate", ConfigText, Problems, "Problems of a configuration text."),
    Method("sidekicks/config/edit", EditConfig, Problems, "Set or remove one value; comments and order are kept."),
    Method("sidekicks/config/recent", Empty, RecentConfigs, "Configurations used before."),
    Method("sidekicks/attention/list", Empty, Attention, "Everything that waits for the user."),
    Method("sidekicks/draft/set", ChannelText, Empty, "Keep what stands in a composer."),
    Method("sidekicks/bridge/status", Empty, BridgeStatus, "Who owns, who is attached, what runs and waits."),
    Method("sidekicks/bridge/stop", Empty, Empty, "End the owner: clients are told, what streams is kept."),
    Method("sidekicks/mail/register", RegisterPeer, Lease, "Mail: register a peer's name and key."),
    Method("sidekicks/mail/unregister", MailRequest, Empty, "Mail: end the registration and all memberships."),
    Method("sidekicks/mail/renew", MailRequest, Lease, "Mail: renew the registration (each signed request does)."),
    Method("sidekicks/mail/agents", MailRequest, Participants, "Mail: everybody who can be written to."),
    Method("sidekicks/mail/tell", Tell, Told, "Mail: write to a peer or agent."),
    Method("sidekicks/mail/ask", AskPeer, Answered, "Mail: write, and wait for the answer."),
    Method("sidekicks/mail/read", ReadMail, Letters, "Mail: consume what waits in a pair or room."),
    Method("sidekicks/mail/peek", PeekMail, Letters, "Mail: what waits, without consuming it."),
    Method("sidekicks/mail/readAny", ReadAnyMail, AnyLetter, "Mail: consume the next message on any channel."),
    Method("sidekicks/mail/post", Post, Posted, "Mail: write to a room."),
    Method("sidekicks/mail/createRoom", CreateRoom, Room, "Mail: make a room."),
    Method("sidekicks/mail/join", RoomRef, Room, "Mail: become a member of a room."),
    Method("sidekicks/mail/leave", RoomRef, Empty, "Mail: end the membership."),
    Method("sidekicks/mail/rooms", MailRequest, Rooms, "Mail: all rooms."),
    Method("sidekicks/mail/participants", RoomRef, RoomMembers, "Mail: a room's members and what waits for them."),
    Method("sidekicks/mail/history", MailHistory, Letters, "Mail: what was written in a pair or room."),
    Method(
        "sidekicks/mail/purge", PurgeTranscript, Empty, "Mail: write the transcript anew, without what was deleted."
    ),
    Method("sidekicks/mail/channels", MailRequest, MailChannels, "Mail: the caller's channels, with pending counts."),
    Method(
        "sidekicks/document/read",
        DocumentPath,
        DocumentText,
        "An unsaved buffer's text.",
        side="client",
    ),
)

METHOD_BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}
