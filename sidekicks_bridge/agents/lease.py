"""Leases: the right to use an agent for one channel, and those who wait for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.agents.opening import open_session
from sidekicks_bridge.agents.process import check_folder
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.agents.contract import OnWait, Session, Tools
    from sidekicks_bridge.agents.runner import Runner
    from sidekicks_bridge.protocol.types import WaitsFor

    Connect = Callable[[Runner, str], Awaitable[AgentConnection]]


class AgentLease:
    """Held from the moment it exists; leaving its context gives it back."""

    def __init__(
        self,
        runner: Runner,
        channel_id: str,
        connect: Connect,
        release: Callable[[AgentLease], None],
        tools: Tools,
    ) -> None:
        self.runner = runner
        self.channel_id = channel_id
        self._connect = connect
        self._release = release
        self._tools = tools

    async def session(self, root: str, stored_session_id: str | None) -> Session:
        """The channel's session in the agent's process, which is started if need be."""
        cwd = self.runner.spec.workspace or root
        connection = await self._connect(self.runner, cwd)
        try:
            return await self._session(connection, cwd, stored_session_id)
        except SidekicksError as problem:
            if problem.code != "agentAuthRequired" or not connection.authenticated:
                raise
            # It signed the user in and does not know it: a new process may.
            await connection.end_and_wait(problem)
            connection = await self._connect(self.runner, cwd)
            return await self._session(connection, cwd, stored_session_id)

    async def _session(self, connection: AgentConnection, cwd: str, stored_session_id: str | None) -> Session:
        live = connection.sessions.by_channel.get(self.channel_id)
        if live is not None and live.root == cwd:
            live.leased()
            return live
        if live is not None:
            connection.close_session(live)
        spec = self.runner.spec
        await check_folder(spec, cwd)
        tools = self._tools(spec.name, self.channel_id) if spec.builtin is None else []
        return await open_session(connection, self.channel_id, cwd, stored_session_id, tools)

    async def __aenter__(self) -> AgentLease:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._release(self)


class Waiter:
    """Someone who waits for a lease. ``tell`` passes on what for, each time that changes."""

    def __init__(self, agent: str, channel_id: str, on_wait: OnWait) -> None:
        self.agent = agent
        self.channel_id = channel_id
        self.done = anyio.Event()
        self.lease: AgentLease | None = None
        self.refusal: SidekicksError | None = None
        self._on_wait = on_wait
        self._told: WaitsFor | None = None

    def tell(self, waits_for: WaitsFor | None) -> None:
        """Say what is waited for now."""
        if waits_for != self._told:
            self._told = waits_for
            self._on_wait(waits_for)

    def grant(self, lease: AgentLease) -> None:
        """The wait is over."""
        self.lease = lease
        self.tell(None)
        self.done.set()

    def refuse(self, why: SidekicksError) -> None:
        """There is nothing to wait for any more."""
        self.refusal = why
        self.done.set()
