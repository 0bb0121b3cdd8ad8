"""What the agents' room and the rooms above it say to each other, in our own words.

Upwards an agent talks through an injected `AgentSink`; downwards a channel holds a `Lease` and a `Session`.
No ACP SDK type appears here. Everything runs on one event loop; sink methods are synchronous and must only record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

import msgspec

from sidekicks_bridge.protocol.parts import Location, PermissionOption, PlanEntry, ToolContent, ToolStatus
from sidekicks_bridge.protocol.types import (
    AgentState,
    Attachment,
    Command,
    FormField,
    Modes,
    SessionOption,
    SessionOrigin,
    Usage,
    WaitsFor,
)


class TextChunk(msgspec.Struct, frozen=True):
    """A piece of the answer. A new ``message_id`` (if the agent gives ids) begins a new text part."""

    text: str
    message_id: str | None = None


class ThoughtChunk(msgspec.Struct, frozen=True):
    """A piece of a thought."""

    text: str
    message_id: str | None = None


class ToolCallUpdate(msgspec.Struct, frozen=True):
    """A tool call was announced or changed: None keeps what was known; lists replace (an upsert by ``id``)."""

    id: str
    title: str | None = None
    kind: str | None = None
    status: ToolStatus | None = None
    content: list[ToolContent] | None = None
    locations: list[Location] | None = None
    input: Any = None
    output: Any = None


class PlanUpdate(msgspec.Struct, frozen=True):
    """The plan, whole."""

    entries: list[PlanEntry]


class CommandsUpdate(msgspec.Struct, frozen=True):
    """The slash commands, whole."""

    commands: list[Command]


class SettingsUpdate(msgspec.Struct, frozen=True):
    """Modes, legacy models and options of the session as they stand now; None keeps what was known."""

    modes: Modes | None = None
    models: Modes | None = None
    options: list[SessionOption] | None = None


class UsageUpdate(msgspec.Struct, frozen=True):
    """Context use as reported."""

    usage: Usage


class OtherUpdate(msgspec.Struct, frozen=True):
    """An update of a kind we have no type for, raw (already bounded to 16 KiB)."""

    kind: str
    raw: Any


SessionUpdate = (
    TextChunk | ThoughtChunk | ToolCallUpdate | PlanUpdate | CommandsUpdate | SettingsUpdate | UsageUpdate | OtherUpdate
)


class PermissionAsk(Protocol):
    """A permission question that waits for one answer."""

    agent: str
    channel_id: str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]

    def answer(self, option_id: str | None) -> None:
        """Answer with an option the agent offered, or None for `cancelled`. Later answers do nothing."""
        ...


class ElicitationAsk(Protocol):
    """Something an agent asks the user for; waits for one answer."""

    agent: str
    channel_id: str
    message: str
    fields: list[FormField]
    url: str | None

    def answer(self, action: Literal["accept", "decline", "cancel"], content: dict[str, Any] | None = None) -> None:
        """Answer; raises invalidParams for content that does not fit. Later answers do nothing."""
        ...


class AgentSink(Protocol):
    """Where agents report to. Called on the loop, in the order things came; must record and return."""

    def agent_state(self, agent: str, state: AgentState, error: str | None) -> None:
        """The process of ``agent`` changed state."""
        ...

    def agent_log(self, agent: str, line: str) -> None:
        """``agent`` wrote a line to stderr (or noise to stdout)."""
        ...

    def session_update(self, agent: str, channel_id: str, update: SessionUpdate) -> None:
        """The session of ``agent`` in a channel said something, in a turn or outside one."""
        ...

    def permission_asked(self, ask: PermissionAsk) -> None:
        """An agent asks for permission; ``ask.answer`` must be called exactly once in the end."""
        ...

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        """An agent asks the user for something; ``ask.answer`` must be called exactly once in the end."""
        ...

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        """That is void, as `permission_withdrawn`, or done elsewhere."""
        ...

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        """The question is void: the agent withdrew it, its turn was cancelled, or its process ended."""
        ...


class PromptResult(msgspec.Struct, frozen=True):
    """How a turn ended: ACP's stop reason (an unknown one becomes `end_turn`) and usage if the agent gave it.

    ``sent``: whether the agent was given the prompt at all.
    """

    stop_reason: str
    usage: Usage | None = None
    sent: bool = True


class Session(Protocol):
    """One ACP session of one agent in one channel, in the agent's running process."""

    id: str
    origin: SessionOrigin

    @property
    def live(self) -> bool:
        """Whether it is still the channel's session, in a process that runs."""
        ...

    def blocks(self, text: str, attachments: list[Attachment]) -> list[dict[str, Any]]:
        """The ACP content blocks for a prompt: text, then each attachment as embedded resource or link."""
        ...

    async def prompt(self, blocks: list[dict[str, Any]]) -> PromptResult:
        """Run one turn. All updates of the turn have reached the sink when this returns or raises.

        Raises SidekicksError agentExited (message: exit code and last stderr lines), turnFailed, agentProtocol,
        agentAuthRequired.
        """
        ...

    def cancel(self) -> None:
        """Cancel the running turn: pending permissions are answered `cancelled`, `session/cancel` is sent.

        `prompt` then returns (with whatever the agent says) or, after ``limits.cancelTimeout``, the process group is
        killed and it raises agentExited. Without a running turn, the prompt that the same lease is about to begin
        returns `cancelled` and is never sent.
        """
        ...

    async def set_mode(self, mode_id: str) -> None:
        """Set the mode; raises invalidParams for one not offered, turnFailed when the agent refuses."""
        ...

    async def set_model(self, model_id: str) -> None:
        """Set the legacy model; errors as `set_mode`."""
        ...

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a configuration option; errors as `set_mode`."""
        ...


class Lease(Protocol):
    """The right to use an agent's process for one channel; an async context manager that gives it back."""

    async def session(self, root: str, stored_session_id: str | None) -> Session:
        """The channel's session: the live one, else loaded, else resumed, else new (``origin`` fresh).

        Starts the process if it does not run. Raises SidekicksError agentSpawnFailed, agentExited, agentProtocol,
        agentAuthRequired.
        """
        ...

    async def __aenter__(self) -> Lease: ...
    async def __aexit__(self, *exc: object) -> None: ...


OnWait = Callable[[WaitsFor | None], None]


class Agents(Protocol):
    """Who runs: processes, their limit, idle stop. One agent serves one channel at a time."""

    async def lease(self, agent: str, channel_id: str, on_wait: OnWait) -> Lease:
        """Wait (first come, first served) until ``agent`` is free and has a slot; ``on_wait`` says what for.

        Cancelling the wait leaves no trace. Raises agentNotFound.
        """
        ...

    def try_lease(self, agent: str, channel_id: str) -> Lease | None:
        """A lease at once and without stopping an agent that has answered, else None (for *prepare*)."""
        ...

    def waits_for(self, agent: str, channel_id: str) -> WaitsFor | None:
        """What a lease would wait for now; None: nothing. Starts nobody."""
        ...

    def state(self, agent: str) -> tuple[AgentState, str | None]:
        """The state of an agent and its last error."""
        ...

    def logs(self, agent: str) -> list[str]:
        """The last lines of stderr (at most 1000)."""
        ...

    def session_origin(self, agent: str, channel_id: str, stored_session_id: str | None) -> SessionOrigin:
        """How the next prompt's session would stand: live → resumed; else by what the agent can load → fresh."""
        ...

    def has_session(self, agent: str, channel_id: str) -> bool:
        """Whether the agent's running process has a session open for the channel."""
        ...

    def set_waiting(self, agent: str, waiting: bool) -> None:
        """The agent begins (or stops) to wait for another one in its turn: meanwhile it takes no slot. These nest."""
        ...

    def close_session(self, agent: str, channel_id: str) -> None:
        """Forget the channel's session (and tell the agent, if it offers `session/close`)."""
        ...

    async def start(self, agent: str) -> None:
        """Start the process (raises as `Lease.session`, or noSlot when every running agent is busy)."""
        ...

    async def stop(self, agent: str) -> None:
        """Stop the process by the ladder; a running prompt raises agentExited."""
        ...


Tools = Callable[[str, str], list[dict[str, Any]]]
"""Agent and channel id → MCP servers of the bridge's own for a session, in ACP's shape. Asked for each session anew."""

ReadBuffer = Callable[[str], Awaitable[str | None]]
"""Absolute path → the text of an unsaved editor buffer, or None."""
