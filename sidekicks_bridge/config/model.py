"""The configuration as the rest of the bridge uses it: checked, resolved, in plain units. Immutable.

Durations are seconds, sizes bytes, paths absolute. How the file spells these values is `written`; this module must
stay cheap to import (msgspec only) and knows no YAML.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Builtin = Literal["scout", "scribe"]


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as configured. Exactly one of ``command`` and ``builtin`` is set.

    ``command`` is an absolute path, or a bare name to be found on PATH when the agent starts; it is never split.
    ``env`` is added to the full environment; ``workspace`` (absolute) replaces the channel's root.
    ``mcp_servers`` go into ``session/new`` as they stand.
    """

    name: str
    title: str
    icon: str | None = None
    description: str | None = None
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    workspace: str | None = None
    mcp_servers: list[dict[str, Any]] = []
    builtin: Builtin | None = None


class ChannelSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A channel to be made at start if none has its name; ``name`` without ``#``, ``members`` are agents' names."""

    name: str
    description: str | None = None
    members: list[str] = []


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits. Seconds, bytes, characters (code points) and counts; 0 means "never" for idle_stop and turn_silence."""

    max_running_agents: int = 2
    idle_stop: float = 600.0
    start_timeout: float = 60.0
    cancel_timeout: float = 10.0
    context_messages: int = 20
    context_characters: int = 1500
    message_bytes: int = 1024 * 1024
    turn_silence: float = 600.0
    keep_prompts: float = 30 * 86400.0
    max_hops: int = 3


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to a permission question of an agent."""

    default: Literal["ask", "reject"] = "ask"


class Messaging(msgspec.Struct, frozen=True, kw_only=True):
    """Whether agents may write to agents."""

    agents: Literal["off", "ask", "on"] = "ask"


class Ui(msgspec.Struct, frozen=True, kw_only=True):
    """What the editors' clients do."""

    keep_running: bool = False


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A whole configuration; ``Config()`` is the one without agents. Names are unique without regard to case."""

    agents: list[AgentSpec] = []
    channels: list[ChannelSpec] = []
    limits: Limits = Limits()
    permissions: Permissions = Permissions()
    messaging: Messaging = Messaging()
    ui: Ui = Ui()
