"""The bench the agents are tested on: a manager with a sink that remembers, and waits that cannot hang."""

from __future__ import annotations

import shlex
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate, TextChunk
from sidekicks_bridge.agents.manager import AgentManager
from sidekicks_bridge.clock import SystemClock
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.fake_agent import command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from sidekicks_bridge.agents.contract import PromptResult, Session
    from sidekicks_bridge.protocol.types import AgentState, WaitsFor

PATIENCE = 60.0


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of a configuration, as `AgentSpec` wants it."""

    name: str
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    workspace: str | None = None
    mcp_servers: list[dict[str, Any]] = []
    builtin: str | None = None


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits, as `Limits` wants them."""

    max_running_agents: int = 2
    idle_stop: float = 0
    start_timeout: float = 15
    cancel_timeout: float = 5


class Sink:
    """Remembers everything; `until` waits for what it is told."""

    def __init__(self) -> None:
        self.states: list[tuple[str, AgentState, str | None]] = []
        self.lines: list[str] = []
        self.updates: list[tuple[str, str, SessionUpdate]] = []
        self.forms: list[ElicitationAsk] = []
        self.declines_forms = False
        self.forms_withdrawn: list[ElicitationAsk] = []
        self.asks: list[PermissionAsk] = []
        self.withdrawn: list[PermissionAsk] = []
        self.on_ask: Callable[[PermissionAsk], None] | None = None
        self._news = anyio.Event()

    def agent_state(self, agent: str, state: AgentState, error: str | None) -> None:
        self.states.append((agent, state, error))
        self.wake()

    def agent_log(self, agent: str, line: str) -> None:
        self.lines.append(line)
        self.wake()

    def session_update(self, agent: str, channel_id: str, update: SessionUpdate) -> None:
        self.updates.append((agent, channel_id, update))
        self.wake()

    def permission_asked(self, ask: PermissionAsk) -> None:
        self.asks.append(ask)
        self.wake()
        if self.on_ask is not None:
            self.on_ask(ask)

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        self.forms.append(ask)
        if self.declines_forms:
            ask.answer("decline")
        self.wake()

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        self.forms_withdrawn.append(ask)
        self.wake()

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        self.withdrawn.append(ask)
        self.wake()

    def wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, met: Callable[[], object]) -> None:
        """Wait until ``met()``, looking again at each news."""
        with anyio.fail_after(PATIENCE):
            while not met():
                await self._news.wait()

    def text(self, channel_id: str = "c1") -> str:
        """All text that a channel was told."""
        return "".join(u.text for _, c, u in self.updates if c == channel_id and isinstance(u, TextChunk))

    def of(self, kind: type[Any]) -> list[Any]:
        """All updates of one kind."""
        return [update for _, _, update in self.updates if isinstance(update, kind)]


class World:
    """A manager at work. ``root`` is the channels' folder."""

    def __init__(self, manager: AgentManager, sink: Sink, root: Path) -> None:
        self.manager = manager
        self.sink = sink
        self.root = root
        self.waits: list[tuple[str, WaitsFor | None]] = []
        self.buffers: dict[str, str] = {}

    def configure(self, *specs: Spec, **limits: Any) -> None:
        self.manager.configure(specs, Bounds(**limits))

    def on_wait(self, who: str) -> Callable[[WaitsFor | None], None]:
        def note(waits_for: WaitsFor | None) -> None:
            self.waits.append((who, waits_for))
            self.sink.wake()

        return note

    @asynccontextmanager
    async def session(
        self, agent: str = "fake", channel: str = "c1", stored: str | None = None
    ) -> AsyncIterator[Session]:
        with anyio.fail_after(PATIENCE):
            async with await self.manager.lease(agent, channel, self.on_wait(channel)) as lease:
                yield await lease.session(str(self.root), stored)

    async def ask(self, text: str, agent: str = "fake", channel: str = "c1", stored: str | None = None) -> PromptResult:
        """One whole turn."""
        async with self.session(agent, channel, stored) as session:
            return await session.prompt(session.blocks(text, []))

    async def fails(self, text: str, agent: str = "fake", channel: str = "c1") -> SidekicksError:
        """The error of a turn that must fail."""
        try:
            await self.ask(text, agent, channel)
        except SidekicksError as problem:
            return problem
        raise AssertionError(f"{text!r} did not fail; said: {self.sink.text(channel)!r}")


def fake(options: str = "", *, name: str = "fake", **fields: Any) -> Spec:
    """The fake agent with its options as a line."""
    program, *args = command("--name", name, *shlex.split(options))
    return Spec(name=name, command=program, args=args, **fields)


@asynccontextmanager
async def world(root: Path, tools: Sequence[dict[str, Any]] = (), **limits: Any) -> AsyncIterator[World]:
    """A manager that knows one agent, ``fake``, and gives it ``tools``; everything is stopped at the end."""
    sink = Sink()
    buffers: dict[str, str] = {}

    async def read_buffer(path: str) -> str | None:
        return buffers.get(path)

    async with anyio.create_task_group() as tasks:
        manager = AgentManager(
            tasks, sink, SystemClock(), Ulids(), read_buffer, None, tools=lambda _agent, _channel_id: list(tools)
        )
        here = World(manager, sink, root)
        here.buffers = buffers
        here.configure(fake(), **limits)
        try:
            yield here
        finally:
            with anyio.CancelScope(shield=True):
                await manager.aclose()
            tasks.cancel_scope.cancel()
