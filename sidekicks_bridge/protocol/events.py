"""The notifications from the bridge to its clients, and the one table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.parts import Part
from sidekicks_bridge.protocol.types import (
    Agent,
    AgentState,
    Channel,
    Command,
    Cost,
    Elicitation,
    Message,
    Modes,
    Permission,
    Problem,
    SessionOption,
    SignIn,
    Turn,
)


class MessageUpdated(Wire, kw_only=True):
    """A message, whole: when it starts, changes state and finishes.

    ``clientToken``: in the first event of a user's message, what its sender gave with `message/send`, so that it knows
    its own message before the answer to that request is there. It is not kept.
    """

    channel_id: str
    message: Message
    client_token: str | None = None


class MessageDelta(Wire, kw_only=True):
    """A streaming message grew: ``text`` is appended to the part, or ``value`` becomes the part."""

    channel_id: str
    message_id: str
    part: int
    text: str | None = None
    value: Part | None = None


class MessageRemoved(Wire, kw_only=True):
    """A queued message was removed without trace."""

    channel_id: str
    message_id: str


class TurnChanged(Wire, kw_only=True):
    """All turns of a channel, in running order."""

    channel_id: str
    turns: list[Turn]


class UsageChanged(Wire, kw_only=True):
    """An agent's context use in a channel, as it reports it."""

    channel_id: str
    agent: str
    used: int
    size: int | None = None
    cost: Cost | None = None


class CommandsChanged(Wire, kw_only=True):
    """The slash commands an agent announced."""

    channel_id: str
    agent: str
    commands: list[Command]


class SessionChanged(Wire, kw_only=True):
    """The modes, models and options of an agent's session in a channel."""

    channel_id: str
    agent: str
    modes: Modes | None = None
    models: Modes | None = None
    options: list[SessionOption] = []


class PermissionResolved(Wire, kw_only=True):
    """A permission question was answered or cancelled: its card closes everywhere."""

    request_id: str
    channel_id: str
    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None


class DraftChanged(Wire, kw_only=True):
    """Another client changed the text in the channel's composer (empty: it was sent, or cleared).

    To be taken where nobody is writing: where the composer shows what the bridge last said or was last told.
    """

    channel_id: str
    text: str


class ElicitationResolved(Wire, kw_only=True):
    """What an agent asked for was given, declined, or is no longer wanted: its form closes everywhere."""

    request_id: str
    channel_id: str
    outcome: Literal["accepted", "declined", "cancelled"]


class ChannelsChanged(Wire, kw_only=True):
    """All channels."""

    channels: list[Channel]


class AgentStateChanged(Wire, kw_only=True):
    """An agent's process changed state."""

    agent: str
    state: AgentState
    error: str | None = None


class AgentLog(Wire, kw_only=True):
    """A line an agent wrote to stderr."""

    agent: str
    line: str


class SignInResolved(Wire, kw_only=True):
    """An agent no longer asks the user to sign in."""

    agent: str


class ConfigChanged(Wire, kw_only=True):
    """The configuration was read again, or a reload was refused (then only ``problems`` is new)."""

    agents: list[Agent]
    channels: list[Channel]
    problems: list[Problem]


class StorageChanged(Wire, kw_only=True):
    """Whether history is kept, and why not."""

    persistent: bool
    reason: str | None = None


class AttentionChanged(Wire, kw_only=True):
    """How many things wait for the user."""

    count: int


class BridgeStopping(Wire, kw_only=True):
    """The owner is ending: what streams is kept as interrupted; a new one starts when the client does."""


class ChannelDesynced(Wire, kw_only=True):
    """This client was too slow for the channel's events; open it again."""

    channel_id: str


@dataclass(frozen=True)
class Event:
    """One notification: its name, the Struct of its parameters, who gets it, and when."""

    name: str
    params: type[Wire]
    to: Literal["opened", "others", "all", "asked", "slow"]
    summary: str


EVENTS: tuple[Event, ...] = (
    Event("sidekicks/message/updated", MessageUpdated, "opened", "A message started, changed state or finished."),
    Event("sidekicks/message/delta", MessageDelta, "opened", "A streaming message grew."),
    Event("sidekicks/message/removed", MessageRemoved, "opened", "A queued message was removed."),
    Event("sidekicks/turn/changed", TurnChanged, "opened", "All turns of the channel, in running order."),
    Event("sidekicks/usage/changed", UsageChanged, "opened", "Context use and cost."),
    Event("sidekicks/commands/changed", CommandsChanged, "opened", "An agent announced its commands."),
    Event("sidekicks/session/changed", SessionChanged, "opened", "Modes, models or options changed."),
    Event("sidekicks/permission/requested", Permission, "all", "An agent asks for permission."),
    Event("sidekicks/permission/resolved", PermissionResolved, "all", "A permission was answered or cancelled."),
    Event("sidekicks/draft/changed", DraftChanged, "others", "Another client changed the composer's text."),
    Event("sidekicks/elicitation/requested", Elicitation, "all", "An agent asks the user for something."),
    Event("sidekicks/elicitation/resolved", ElicitationResolved, "all", "That was answered or withdrawn."),
    Event("sidekicks/channels/changed", ChannelsChanged, "all", "The whole list of channels."),
    Event("sidekicks/agent/state", AgentStateChanged, "all", "An agent's process changed state."),
    Event("sidekicks/agent/log", AgentLog, "asked", "A line of an agent's stderr."),
    Event("sidekicks/auth/required", SignIn, "all", "An agent wants the user to sign in."),
    Event("sidekicks/auth/resolved", SignInResolved, "all", "An agent no longer asks for that."),
    Event("sidekicks/config/changed", ConfigChanged, "all", "The configuration was reloaded, or refused."),
    Event("sidekicks/storage/changed", StorageChanged, "all", "History is kept, or not."),
    Event("sidekicks/attention/changed", AttentionChanged, "all", "How much waits for the user."),
    Event("sidekicks/bridge/stopping", BridgeStopping, "all", "The owner is ending."),
    Event("sidekicks/channel/desynced", ChannelDesynced, "slow", "Reopen the channel."),
)

EVENT_BY_PARAMS: dict[type[Wire], Event] = {event.params: event for event in EVENTS}
