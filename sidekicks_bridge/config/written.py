"""The configuration file as people write it: its keys, their types, what each is for.

These Structs are the source of the JSON Schema (editors complete and explain from it) and what a file is converted
to before it is resolved into `model`. Every key has a title and a description. Imports msgspec only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from sidekicks_bridge.config.amounts import DURATION_PATTERN, SIZE_PATTERN
from sidekicks_bridge.names import MAX_NAME, NAME_PATTERN

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME, pattern=NAME_PATTERN)]
Text = Annotated[str, Meta(max_length=10_000)]
ShortText = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Duration = Annotated[str, Meta(pattern=DURATION_PATTERN)] | Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
Size = Annotated[str, Meta(pattern=SIZE_PATTERN)] | Annotated[int, Meta(ge=1)]


class Written(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A mapping of the file."""


class AgentEntry(Written, frozen=True, kw_only=True):
    """An agent: a name, and how it starts (`command`, or `builtin`)."""

    name: Annotated[
        Name,
        Meta(
            title="Name",
            description="What the agent is called and mentioned by: @name. Letters, digits, `.`, `_`, `-`; "
            "unique without regard to case.",
        ),
    ]
    title: Annotated[
        ShortText | None,
        Meta(title="Title", description="Shown instead of the name; the @ list finds the agent by either."),
    ] = None
    icon: Annotated[ShortText | None, Meta(title="Icon", description="An emoji or a letter shown beside the name.")] = (
        None
    )
    description: Annotated[
        Text | None, Meta(title="Description", description="What the agent is good at, shown in the @ list.")
    ] = None
    command: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            title="Command",
            description="The program that speaks ACP on stdio: a name found on PATH, or a path (absolute, `~`, or with "
            "a slash and relative to this file). Never split: arguments go into `args`.",
        ),
    ] = None
    args: Annotated[list[str], Meta(title="Arguments", description="The command's arguments, one text each.")] = []
    env: Annotated[
        dict[str, str],
        Meta(
            title="Environment",
            description="Variables added to the bridge's own environment. `${NAME}` in a value is replaced by that "
            "variable; if it is not set, this one is left out, with a warning.",
        ),
    ] = {}
    workspace: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            title="Workspace",
            description="The folder the agent always works in (absolute, `~`, or relative to this file); "
            "without it, the channel's root.",
        ),
    ] = None
    runtime: Annotated[
        Literal["local"], Meta(title="Runtime", description="Where the agent runs; only `local` is supported.")
    ] = "local"
    mcp_servers: Annotated[
        list[dict[str, Any]],
        Meta(title="MCP servers", description="Passed on to the agent in session/new, in ACP's own shape."),
    ] = []
    builtin: Annotated[
        Literal["scout", "scribe"] | None,
        Meta(
            title="Built-in agent",
            description="Instead of a command, an agent that ships with the bridge: `scout` answers questions about "
            "the workspace, `scribe` keeps notes.",
        ),
    ] = None


class ChannelEntry(Written, frozen=True, kw_only=True):
    """A channel that is made at start if none has its name. Removing the entry deletes nothing."""

    name: Annotated[
        Name, Meta(title="Name", description="The channel's name, without `#`; the same rule as for agents.")
    ]
    description: Annotated[Text | None, Meta(title="Description", description="What the channel is for.")] = None
    members: Annotated[
        list[str], Meta(title="Members", description="Names of agents that are in the channel from the start.")
    ] = []


class LimitsEntry(Written, frozen=True, kw_only=True):
    """Limits. Durations are written `500ms`, `30s`, `10m`, `2h`, `30d` or as a number of seconds."""

    max_running_agents: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            title="Running agents",
            description="How many agents run at most (the built-in ones do not count). To start another, the least "
            "recently used idle one is stopped.",
        ),
    ] = 2
    idle_stop: Annotated[
        Duration, Meta(title="Idle stop", description="An agent idle for so long is stopped; 0: never.")
    ] = "10m"
    start_timeout: Annotated[
        Duration, Meta(title="Start timeout", description="How long an agent may take to start and open a session.")
    ] = "60s"
    cancel_timeout: Annotated[
        Duration,
        Meta(title="Cancel timeout", description="An agent that has not ended a cancelled turn by then is killed."),
    ] = "10s"
    context_messages: Annotated[
        Count, Meta(title="Context messages", description="How many unseen messages an agent is shown at most.")
    ] = 20
    context_characters: Annotated[
        Count, Meta(title="Context characters", description="Each of these messages is cut to so many characters.")
    ] = 1500
    message_bytes: Annotated[
        Size, Meta(title="Message size", description="The largest message that is accepted, e.g. `64KiB`, `1MiB`.")
    ] = "1MiB"
    turn_silence: Annotated[
        Duration,
        Meta(
            title="Turn silence",
            description="An agent silent for so long: its turn asks you whether to wait, stop or restart; 0: never.",
        ),
    ] = "10m"
    keep_prompts: Annotated[
        Duration, Meta(title="Keep prompts", description="How long the exact prompt of each answer is kept.")
    ] = "30d"
    max_hops: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            title="Hops",
            description="How far a message may travel from agent to agent before a person has to step in.",
        ),
    ] = 3


class PermissionsEntry(Written, frozen=True, kw_only=True):
    """Permission questions of agents."""

    default: Annotated[
        Literal["ask", "reject"],
        Meta(title="Default", description="`ask` you about each, or `reject` all without asking."),
    ] = "ask"


class MessagingEntry(Written, frozen=True, kw_only=True):
    """Messages between agents."""

    agents: Annotated[
        Literal["off", "ask", "on"],
        Meta(title="Agents", description="Whether agents may write to agents: `off`, `ask` you each time, or `on`."),
    ] = "ask"


class UiEntry(Written, frozen=True, kw_only=True):
    """The editors."""

    keep_running: Annotated[
        bool, Meta(title="Keep running", description="The bridge outlives the editor's window.")
    ] = False


class ConfigFile(Written, frozen=True, kw_only=True):
    """The agents, channels and limits of Sidekicks Bridge."""

    agents: Annotated[
        list[AgentEntry], Meta(title="Agents", description="The agents you can talk to, in the order shown.")
    ] = []
    channels: Annotated[
        list[ChannelEntry],
        Meta(
            title="Channels",
            description="Channels made at start if none has the name. A description of what "
            "should be there, not a database.",
        ),
    ] = []
    limits: Annotated[LimitsEntry, Meta(title="Limits", description="How much, how many, how long.")] = LimitsEntry()
    permissions: Annotated[
        PermissionsEntry, Meta(title="Permissions", description="What happens when an agent asks for permission.")
    ] = PermissionsEntry()
    messaging: Annotated[MessagingEntry, Meta(title="Messaging", description="Agents that write to agents.")] = (
        MessagingEntry()
    )
    ui: Annotated[UiEntry, Meta(title="Editors", description="How the editors behave.")] = UiEntry()
