"""What is done with an agent's process outside every channel: signing in and out. Starts it if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.agents.sign_in import terminal_command

if TYPE_CHECKING:
    from sidekicks_bridge.agents.manager import AgentManager
    from sidekicks_bridge.agents.sign_in import Command
    from sidekicks_bridge.protocol.types import SignInMethod


class Errands:
    """All raise agentNotFound, and as `Agents.start` where a process is needed."""

    def __init__(self, manager: AgentManager) -> None:
        self._manager = manager

    def sign_in_methods(self, agent: str) -> list[SignInMethod]:
        """The ways to sign in that its process offers, or its last one did."""
        return self._manager.able(agent).sign_in

    def can_log_out(self, agent: str) -> bool:
        """Whether its process offers to sign out, or its last one did."""
        return self._manager.able(agent).logout

    async def authenticate(self, agent: str, method_id: str) -> None:
        """Have the agent sign the user in, which may take minutes; agentAuthRequired with what it says if not."""
        await self._manager.with_process(agent, lambda connection: connection.authenticate(method_id))

    async def log_out(self, agent: str) -> None:
        """Sign the user out; raises notSupported where it is not offered."""
        await self._manager.with_process(agent, lambda connection: connection.log_out())

    def sign_in_command(self, agent: str, method_id: str, cwd: str) -> Command | None:
        """The command of a terminal method; None: it is no such method. Raises agentSpawnFailed."""
        spec = self._manager.spec(agent)
        offer = next((one for one in self._manager.able(agent).offers if one.method.id == method_id), None)
        if offer is None or offer.method.kind != "terminal":
            return None
        return terminal_command(offer, spec, spec.workspace or cwd)
