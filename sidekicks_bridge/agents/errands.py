"""What is done with an agent's process outside every channel: signing in and out, its sessions. Starts it at need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidekicks_bridge.agents.raw import dicts, line, record, text
from sidekicks_bridge.agents.refusal import METHOD_NOT_FOUND, Refused
from sidekicks_bridge.agents.sign_in import terminal_command
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import AgentSession

if TYPE_CHECKING:
    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.agents.manager import AgentManager
    from sidekicks_bridge.agents.sign_in import Command
    from sidekicks_bridge.protocol.types import SignInMethod

MAX_PAGES = 50
"""An agent that never stops giving cursors is not followed for ever."""
LIST_SECONDS = 30


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

    def takes_images(self, agent: str) -> bool:
        """Whether a prompt may hold images, or might have with its last process."""
        return self._manager.able(agent).image

    async def authenticate(self, agent: str, method_id: str) -> None:
        """Have the agent sign the user in, which may take minutes; agentAuthRequired with what it says if not."""
        await self._manager.with_process(agent, lambda connection: connection.authenticate(method_id))

    async def log_out(self, agent: str) -> None:
        """Sign the user out; raises notSupported where it is not offered."""
        await self._manager.with_process(agent, lambda connection: connection.log_out())

    async def sessions(self, agent: str, folder: str | None) -> list[AgentSession]:
        """The sessions it remembers; raises notSupported where it does not tell."""

        async def ask(connection: AgentConnection) -> list[AgentSession]:
            if not connection.capabilities.lists:
                raise _not_offered(agent, "list its sessions")
            found: list[AgentSession] = []
            params: dict[str, Any] = {} if folder is None else {"cwd": folder}
            for _ in range(MAX_PAGES):
                page = record(await _ask(connection, "session/list", params, "list its sessions"))
                found += [_session(item) for item in dicts(page.get("sessions")) if text(item.get("sessionId"))]
                cursor = text(page.get("nextCursor"))
                if not cursor:
                    break
                params = {**params, "cursor": cursor}
            return found

        return await self._manager.with_process(agent, ask)

    async def delete_session(self, agent: str, session_id: str) -> None:
        """Have it forget a session; raises notSupported where it does not."""

        async def ask(connection: AgentConnection) -> None:
            if not connection.capabilities.delete:
                raise _not_offered(agent, "delete a session")
            await _ask(connection, "session/delete", {"sessionId": session_id}, "delete a session")

        await self._manager.with_process(agent, ask)

    async def can_pick_up(self, agent: str) -> bool:
        """Whether it can go on with a session it remembers."""

        async def ask(connection: AgentConnection) -> bool:
            return connection.capabilities.load or connection.capabilities.resume

        return await self._manager.with_process(agent, ask)

    def sign_in_command(self, agent: str, method_id: str, cwd: str) -> Command | None:
        """The command of a terminal method; None: it is no such method. Raises agentSpawnFailed."""
        spec = self._manager.spec(agent)
        offer = next((one for one in self._manager.able(agent).offers if one.method.id == method_id), None)
        if offer is None or offer.method.kind != "terminal":
            return None
        return terminal_command(offer, spec, spec.workspace or cwd)


async def _ask(connection: AgentConnection, method: str, params: dict[str, Any], what: str) -> Any:
    try:
        return await connection.request(method, params, LIST_SECONDS)
    except Refused as refused:
        if refused.code == METHOD_NOT_FOUND:  # it announced what it does not have
            raise _not_offered(connection.agent, what) from refused
        raise SidekicksError("turnFailed", f"Agent {connection.agent} did not {what}: {refused}") from refused


def _not_offered(agent: str, what: str) -> SidekicksError:
    return SidekicksError("notSupported", f"Agent {agent} does not offer to {what}.", {"agent": agent})


def _session(item: dict[str, Any]) -> AgentSession:
    return AgentSession(
        session_id=item["sessionId"],
        cwd=text(item.get("cwd")),
        title=line(item.get("title")),
        updated_at=text(item.get("updatedAt")),
    )
