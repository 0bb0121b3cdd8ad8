"""How a channel gets its session in a running agent: the stored one loaded, else resumed, else a new one.

Every step is gated by what the agent announced and survives an announcement that was a lie.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.agents.raw import record, text
from sidekicks_bridge.agents.refusal import METHOD_NOT_FOUND, Refused
from sidekicks_bridge.agents.session import AcpSession
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.protocol.types import SessionOrigin


async def open_session(
    connection: AgentConnection,
    channel_id: str,
    root: str,
    stored_session_id: str | None,
    tools: Sequence[dict[str, Any]] = (),
) -> AcpSession:
    """A session for the channel in the absolute folder ``root``; errors as `Lease.session`.

    ``tools``: MCP servers beside those of the configuration.
    """
    if stored_session_id:
        if connection.capabilities.load:
            loading = AcpSession(connection, channel_id, stored_session_id, root, "loaded")
            loading.replaying = True
            if await _restore(connection, loading, "session/load", tools):
                loading.replaying = False
                return loading
        if connection.capabilities.resume:
            resuming = AcpSession(connection, channel_id, stored_session_id, root, "resumed")
            if await _restore(connection, resuming, "session/resume", tools):
                return resuming
    return await _new(connection, channel_id, root, tools)


async def _restore(
    connection: AgentConnection, session: AcpSession, method: str, tools: Sequence[dict[str, Any]]
) -> bool:
    """Whether the agent took the session up again. Agents say in many ways that it is gone, so any failure is a no."""
    connection.sessions.add(session)
    params = {"sessionId": session.id, **_place(connection, session.root, tools)}
    result: Any = None
    restored = False
    try:
        result = await connection.request(method, params, connection.limits.start_timeout)
        restored = True
    except Refused as refused:
        if refused.code == METHOD_NOT_FOUND:
            _was_a_lie(connection, session.origin)
    except SidekicksError as problem:
        if connection.ended.is_set() or problem.code == "agentAuthRequired":
            raise  # signed in, the session may well be there
    finally:
        if not restored:
            connection.sessions.remove(session)
    if restored:
        session.take_settings(record(result))
    return restored


def _was_a_lie(connection: AgentConnection, origin: SessionOrigin) -> None:
    if origin == "loaded":
        connection.capabilities.load = False
    else:
        connection.capabilities.resume = False


async def _new(connection: AgentConnection, channel_id: str, root: str, tools: Sequence[dict[str, Any]]) -> AcpSession:
    with connection.sessions.opening():
        try:
            place = _place(connection, root, tools)
            result = await connection.request("session/new", place, connection.limits.start_timeout)
        except Refused as refused:
            raise _failed(connection, f"refused to open a session: {refused}") from refused
        except SidekicksError as problem:
            if problem.code == "agentProtocol":  # it hangs: a new process has a chance, this one has none
                raise await connection.end_and_wait(problem) from problem
            raise
        session_id = text(record(result).get("sessionId"))
        if not session_id:
            raise _failed(connection, "opened a session without an id")
        session = AcpSession(connection, channel_id, session_id, root, "fresh")
        session.take_settings(record(result))
        connection.sessions.add(session)
    return session


def _place(connection: AgentConnection, root: str, tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if connection.capabilities.renamed_tools:
        tools = [{**server, "name": f"{server['name']}-{secrets.token_hex(2)}"} for server in tools]
    servers = [*(dict(server) for server in connection.spec.mcp_servers), *tools]
    return {"cwd": root, "mcpServers": [server for server in servers if connection.capabilities.takes(server)]}


def _failed(connection: AgentConnection, what: str) -> SidekicksError:
    return SidekicksError("agentProtocol", f"Agent {connection.agent} {what}.", {"agent": connection.agent})
