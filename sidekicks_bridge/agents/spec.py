"""What this room needs to know of the configuration, as protocols: ``config.model`` has records of this shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class AgentSpec(Protocol):
    """One agent of the configuration. ``workspace`` is absolute; ``${NAME}`` in ``env`` is already expanded."""

    @property
    def name(self) -> str:
        """The agent's name."""
        ...

    @property
    def command(self) -> str | None:
        """The program: found on PATH or a path; never split. None for a built-in agent."""
        ...

    @property
    def args(self) -> Sequence[str]:
        """Its arguments, each passed as it is."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """Added to the full environment."""
        ...

    @property
    def workspace(self) -> str | None:
        """Where its sessions run; None: the channel's root."""
        ...

    @property
    def mcp_servers(self) -> Sequence[Mapping[str, Any]]:
        """Passed on in ``session/new``, in ACP's own shape."""
        ...

    @property
    def builtin(self) -> str | None:
        """``scout`` or ``scribe`` for an agent that ships with the bridge."""
        ...


class Limits(Protocol):
    """The limits that concern processes; times in seconds."""

    @property
    def max_running_agents(self) -> int:
        """How many agents may run at once, the built-in ones not counted."""
        ...

    @property
    def idle_stop(self) -> float:
        """An agent unused for so long is stopped; 0: never."""
        ...

    @property
    def start_timeout(self) -> float:
        """The longest wait for ``initialize`` and for a session, each."""
        ...

    @property
    def cancel_timeout(self) -> float:
        """The longest wait for a cancelled prompt to be answered."""
        ...


def same_process(one: AgentSpec, other: AgentSpec) -> bool:
    """Whether a process started for ``one`` may serve ``other``: a new title changes nothing, a new argument does."""
    return _process_key(one) == _process_key(other)


def _process_key(spec: AgentSpec) -> tuple[object, ...]:
    return (spec.command, list(spec.args), dict(spec.env), spec.workspace, list(spec.mcp_servers), spec.builtin)
