"""Who runs: the agents of the configuration, their processes, the limit on how many, and who may use which.

Owns leases (first come, first served, one channel at a time per agent), the stop of idle agents, and the change of the
configuration under running ones. Knows no channels but their ids, and nothing of ACP.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio

from sidekicks_bridge.agents.capabilities import Capabilities
from sidekicks_bridge.agents.connection import AgentConnection
from sidekicks_bridge.agents.lease import AgentLease, Waiter
from sidekicks_bridge.agents.reaper import Reaper
from sidekicks_bridge.agents.runner import Runner
from sidekicks_bridge.agents.spec import same_process
from sidekicks_bridge.agents.supervise import supervised
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import WaitsFor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from anyio.abc import TaskGroup

    from sidekicks_bridge.agents.contract import Agents, AgentSink, OnWait, ReadBuffer, Tools
    from sidekicks_bridge.agents.spec import AgentSpec, Limits
    from sidekicks_bridge.clock import Clock
    from sidekicks_bridge.ids import Ids
    from sidekicks_bridge.protocol.types import AgentState, SessionOrigin

T = TypeVar("T")


class AgentManager:
    """Implements `Agents`. Knows no agent before `configure`. Tasks run in ``task_group``, which outlives `aclose`.

    ``log_dir``: what each agent writes to stderr is kept there too, at most 2 MiB per agent. ``tools``: the bridge's
    own MCP servers for a session.
    """

    _limits: Limits

    def __init__(
        self,
        task_group: TaskGroup,
        sink: AgentSink,
        clock: Clock,
        ids: Ids,
        read_buffer: ReadBuffer,
        log_dir: Path | None = None,
        tools: Tools = lambda _agent, _channel_id: [],
    ) -> None:
        self._tasks = task_group
        self._sink = sink
        self._clock = clock
        self._ids = ids
        self._read_buffer = read_buffer
        self._log_dir = log_dir
        self._tools = tools
        self._reaper = Reaper()
        self._runners: dict[str, Runner] = {}
        self._retired: list[Runner] = []
        self._waiters: list[Waiter] = []
        self._closed = False

    def configure(self, specs: Sequence[AgentSpec], limits: Limits) -> None:
        """Replace the configuration. A process of a changed or removed agent is used until idle, then stopped."""
        self._limits = limits
        wanted = {spec.name: spec for spec in specs}
        for name in [name for name in self._runners if name not in wanted]:
            self._retired.append(self._runners.pop(name))
            self._retired[-1].outdated = True
        for name, spec in wanted.items():
            self._adopt(name, spec)
        self._retired = [runner for runner in self._retired if runner.alive]
        for waiter in [waiter for waiter in self._waiters if waiter.agent not in wanted]:
            self._waiters.remove(waiter)
            waiter.refuse(_not_found(waiter.agent))
        self._settle()

    def _adopt(self, name: str, spec: AgentSpec) -> None:
        runner = self._runners.get(name) or next((old for old in self._retired if old.spec.name == name), None)
        if runner is None:
            runner = Runner(spec, self._sink, self._log_dir)
        elif runner in self._retired:
            self._retired.remove(runner)
        self._runners[name] = runner
        changed = not same_process(runner.spec, spec)
        runner.outdated = runner.alive and (runner.outdated or changed)
        runner.spec = spec
        if runner.connection is not None:
            runner.connection.limits = self._limits
        if changed and not runner.alive:
            runner.report("stopped", None)  # its last failure was that of another command

    async def aclose(self) -> None:
        """Stop all agents, at the same time; takes little more than a second. Leases raise shuttingDown from now on."""
        self._closed = True
        while self._waiters:
            self._waiters.pop().refuse(_shutting_down())
        connections = [runner.connection for runner in self._everyone() if runner.connection is not None]
        for connection in connections:
            connection.end()
        for connection in connections:
            await connection.gone.wait()
        for runner in self._everyone():
            if runner.idle is not None:
                runner.idle.cancel()
            runner.close()
        await anyio.to_thread.run_sync(self._reaper.close)

    # Leases

    async def lease(self, agent: str, channel_id: str, on_wait: OnWait) -> AgentLease:
        """Wait for the agent; see the contract."""
        self._runner(agent)
        if self._closed:
            raise _shutting_down()
        waiter = Waiter(agent, channel_id, on_wait)
        self._waiters.append(waiter)
        self._settle()
        try:
            await waiter.done.wait()
        except anyio.get_cancelled_exc_class():
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                self._settle()
            elif waiter.lease is not None:
                self._release(waiter.lease)
            raise
        if waiter.refusal is not None:
            raise waiter.refusal
        assert waiter.lease is not None
        return waiter.lease

    def try_lease(self, agent: str, channel_id: str) -> AgentLease | None:
        """A lease at once, or None; see the contract."""
        runner = self._runner(agent)
        if self._closed or runner.holder is not None or any(waiter.agent == agent for waiter in self._waiters):
            return None
        if not self._has_slot(runner):
            victim = self._victim(unused=True)
            if victim is None or self._waiters:
                return None
            self._evict(victim)
        return self._grant(runner, channel_id)

    def waits_for(self, agent: str, channel_id: str) -> WaitsFor | None:
        """What a lease would wait for now."""
        runner = self._runners.get(agent)
        if runner is None:
            return None
        ahead = next((waiter.channel_id for waiter in self._waiters if waiter.agent == agent), None)
        busy_in = runner.holder.channel_id if runner.holder is not None else ahead
        if busy_in is not None:
            return None if busy_in == channel_id else _agent_busy(agent, busy_in)
        if self._has_slot(runner) or (self._victim() is not None and not self._waiters):
            return None
        return self._no_slot()

    def _settle(self) -> None:
        """Give what can be given, in the order of asking; stop who is idle and outdated or one too many."""
        for runner in list(self._everyone()):
            if runner.outdated and runner.holder is None and runner.usable:
                self._evict(runner)
        for waiter in list(self._waiters):
            runner = self._runners[waiter.agent]
            if runner.holder is not None:
                waiter.tell(_agent_busy(waiter.agent, runner.holder.channel_id))
                continue
            if not self._has_slot(runner):
                victim = self._victim()
                if victim is None:
                    waiter.tell(self._no_slot())
                    continue
                self._evict(victim)
            self._waiters.remove(waiter)
            waiter.grant(self._grant(runner, waiter.channel_id))
        while self._slots_taken() > self._limits.max_running_agents and (victim := self._victim()) is not None:
            self._evict(victim)

    def _grant(self, runner: Runner, channel_id: str) -> AgentLease:
        if runner.idle is not None:
            runner.idle.cancel()
        runner.holder = AgentLease(runner, channel_id, self._connect, self._release, self._tools)
        return runner.holder

    def _release(self, lease: AgentLease) -> None:
        runner = lease.runner
        if runner.holder is not lease:
            return
        runner.holder = None
        runner.last_used = self._clock.monotonic()
        connection = runner.connection
        if connection is not None:
            runner.answered = runner.answered or any(session.prompted for session in connection.sessions)
            if self._limits.idle_stop > 0 and not connection.ending:
                supervised(self._tasks, self._stop_when_idle, runner)
        self._settle()

    # Slots

    def _everyone(self) -> Iterator[Runner]:
        yield from self._runners.values()
        yield from self._retired

    def _slots_taken(self) -> int:
        return sum(runner.takes_slot for runner in self._everyone())

    def _has_slot(self, runner: Runner) -> bool:
        if not runner.counts or runner.takes_slot:
            return True
        return self._slots_taken() < self._limits.max_running_agents

    def _victim(self, *, unused: bool = False) -> Runner | None:
        """The least recently used idle agent; ``unused``: only one that was never prompted."""
        idle = [runner for runner in self._everyone() if runner.evictable and not (unused and runner.answered)]
        return min(idle, key=lambda runner: runner.last_used, default=None)

    def _evict(self, runner: Runner) -> None:
        if runner.connection is not None:
            runner.connection.end()

    def _no_slot(self) -> WaitsFor:
        busy = next((runner for runner in self._everyone() if runner.counts and runner.holder is not None), None)
        if busy is None or busy.holder is None:
            return WaitsFor(reason="noSlot")
        return WaitsFor(reason="noSlot", agent=busy.spec.name, channel_id=busy.holder.channel_id or None)

    async def _stop_when_idle(self, runner: Runner) -> None:
        with anyio.CancelScope() as runner.idle:
            await anyio.sleep(self._limits.idle_stop)
            if runner.holder is None and runner.connection is not None:
                runner.connection.end()

    # Processes

    async def _connect(self, runner: Runner, cwd: str) -> AgentConnection:
        """The ready connection of an agent that has a lease; starts the process once there is room for it."""
        while not runner.usable:
            leaving = runner.connection if runner.alive else self._leaving(runner)
            if leaving is None:
                self._start(runner, cwd)
            else:
                await leaving.gone.wait()
        connection = runner.connection
        assert connection is not None
        await connection.ready()
        return connection

    def _leaving(self, newcomer: Runner) -> AgentConnection | None:
        """A process that must be gone before ``newcomer`` may start."""
        alive = [runner for runner in self._everyone() if runner.counts and runner.alive]
        if not newcomer.counts or len(alive) < self._limits.max_running_agents:
            return None
        return next((runner.connection for runner in alive if not runner.usable), None)

    def _start(self, runner: Runner, cwd: str) -> None:
        if self._closed:
            raise _shutting_down()
        connection = AgentConnection(
            runner.spec, self._limits, self._sink, self._read_buffer, runner.log, runner.report
        )
        runner.connection, runner.outdated, runner.answered = connection, False, False
        supervised(self._tasks, self._live, runner, connection, cwd)

    async def _live(self, runner: Runner, connection: AgentConnection, cwd: str) -> None:
        try:
            await connection.run(cwd, self._ids.new(), self._reaper)
        finally:
            runner.known = connection.capabilities
            if runner in self._retired:
                self._retired.remove(runner)
                runner.close()
            if not self._closed:
                self._settle()

    # What others ask

    def state(self, agent: str) -> tuple[AgentState, str | None]:
        """The state of an agent and its last error."""
        runner = self._runner(agent)
        return runner.state, runner.error

    def logs(self, agent: str) -> list[str]:
        """The last lines of stderr."""
        return self._runner(agent).log.lines()

    def session_origin(self, agent: str, channel_id: str, stored_session_id: str | None) -> SessionOrigin:
        """How the next prompt's session would stand; an agent never seen is taken to be able to load."""
        runner = self._runner(agent)
        able = runner.known
        if runner.connection is not None and runner.usable:
            live = runner.connection.sessions.by_channel.get(channel_id)
            if live is not None:
                return "resumed" if live.prompted else live.origin
            if runner.connection.settled.is_set():
                able = runner.connection.capabilities
        if stored_session_id is None:
            return "fresh"
        if able is None or able.load:
            return "loaded"
        return "resumed" if able.resume else "fresh"

    def has_session(self, agent: str, channel_id: str) -> bool:
        """Whether a session is open for the channel."""
        runner = self._runners.get(agent)
        connection = runner.connection if runner is not None and runner.usable else None
        return connection is not None and channel_id in connection.sessions.by_channel

    def set_waiting(self, agent: str, waiting: bool) -> None:
        """Give the agent's slot to others while it waits for them; see the contract."""
        runner = self._runners.get(agent)
        if runner is not None:
            runner.waiting += 1 if waiting else -1
            self._settle()

    def close_session(self, agent: str, channel_id: str) -> None:
        """Forget the channel's session; nothing if there is none."""
        for runner in self._everyone():
            if runner.spec.name == agent and runner.connection is not None:
                live = runner.connection.sessions.by_channel.get(channel_id)
                if live is not None:
                    runner.connection.close_session(live)

    async def start(self, agent: str) -> None:
        """Start the process; see the contract."""

        async def nothing(_connection: AgentConnection) -> None:
            """It runs."""

        await self.with_process(agent, nothing)

    def spec(self, agent: str) -> AgentSpec:
        """How the agent is configured. Raises agentNotFound."""
        return self._runner(agent).spec

    def able(self, agent: str) -> Capabilities:
        """What its process can do, or its last one could; of one that never ran, nothing is known."""
        runner = self._runner(agent)
        if runner.connection is not None and runner.usable and runner.connection.settled.is_set():
            return runner.connection.capabilities
        return runner.known or Capabilities()

    async def with_process(self, agent: str, work: Callable[[AgentConnection], Awaitable[T]]) -> T:
        """Do something with the running process, outside every channel; nobody else gets the agent meanwhile."""
        runner = self._runner(agent)
        if runner.holder is None and not runner.usable and not self._has_slot(runner):
            victim = self._victim()
            if victim is None:
                limit = self._limits.max_running_agents
                raise SidekicksError(
                    "noSlot",
                    f"Agent {agent} cannot start: all {limit} running agents are busy (limits.maxRunningAgents).",
                    {"agent": agent},
                )
            self._evict(victim)
        lease = self._grant(runner, "") if runner.holder is None else None
        try:
            return await work(await self._connect(runner, runner.spec.workspace or str(Path.home())))
        finally:
            if lease is not None:
                self._release(lease)

    async def stop(self, agent: str) -> None:
        """Stop the process by the ladder; nothing if it does not run."""
        connection = self._runner(agent).connection
        if connection is not None:
            connection.end()
            await connection.gone.wait()

    def _runner(self, agent: str) -> Runner:
        runner = self._runners.get(agent)
        if runner is None:
            raise _not_found(agent)
        return runner


def _agent_busy(agent: str, channel_id: str) -> WaitsFor:
    return WaitsFor(reason="agentBusy", agent=agent, channel_id=channel_id or None)


def _not_found(agent: str) -> SidekicksError:
    return SidekicksError("agentNotFound", f"No agent is named {agent}.", {"agent": agent})


def _shutting_down() -> SidekicksError:
    return SidekicksError("shuttingDown", "The bridge is stopping; no agent can be used any more.")


if TYPE_CHECKING:

    def _implements(manager: AgentManager) -> Agents:
        return manager
