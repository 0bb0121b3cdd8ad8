"""Mail in this process: a store in memory, real channels and mail, no agents; and peers on a real bridge's socket."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from sidekicks_bridge.agents.manager import AgentManager
from sidekicks_bridge.channels.announced import AnnouncedCommands
from sidekicks_bridge.channels.directory import Directory
from sidekicks_bridge.channels.env import Env
from sidekicks_bridge.channels.journal import Journal
from sidekicks_bridge.cli.mail_socket import signed
from sidekicks_bridge.clock import SystemClock
from sidekicks_bridge.config.model import Config
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.mail.callers import Caller
from sidekicks_bridge.mail.office import Mail
from sidekicks_bridge.mail.signing import PrivateKey
from sidekicks_bridge.protocol.mail import MailOrigin
from sidekicks_bridge.store.open import memory_store
from tests.support.wire import attached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from anyio.abc import TaskGroup

    from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store
    from tests.support.wire import Wire

    JSON = dict[str, Any]


class Nobody:
    """Where agents would report to: there are none."""

    def agent_state(self, agent: str, state: str, error: str | None) -> None:
        raise AssertionError(agent)

    def agent_log(self, agent: str, line: str) -> None:
        raise AssertionError(line)

    def session_update(self, agent: str, channel_id: str, update: SessionUpdate) -> None:
        raise AssertionError(agent)

    def permission_asked(self, ask: PermissionAsk) -> None:
        raise AssertionError(ask)

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        raise AssertionError(ask)

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        raise AssertionError(ask)

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        raise AssertionError(ask)


class SetClock:
    """A clock set by hand; ``at`` is RFC 3339."""

    def __init__(self, at: str = "2026-11-30T12:00:00.000Z") -> None:
        self.at = at

    def now(self) -> str:
        return self.at

    def monotonic(self) -> float:
        return 0.0


async def no_buffer(_path: str) -> str | None:
    return None


class Office:
    """A directory and mail on a store; `restart` gives another one on the same store."""

    def __init__(self, tasks: TaskGroup, store: Store, clock: SystemClock | SetClock, folder: Path | None) -> None:
        self.store = store
        self.clock = clock
        self.tasks = tasks
        self.config = Config()
        ids = Ulids()
        journal = Journal(store, lambda _state: None)
        self.env = Env(
            agents=AgentManager(tasks, Nobody(), clock, ids, no_buffer),
            store=store,
            journal=journal,
            announced=AnnouncedCommands(journal),
            ids=ids,
            clock=clock,
            config=lambda: self.config,
            spawn=self.spawn,
            to_all=lambda _event: None,
            channel_changed=self._changed,
            finished=self._finished,
            peers=self._peers,
            auth_required=lambda *_: None,
            auth_settled=lambda _: None,
        )
        self.directory = Directory(self.env, lambda _channel: 0)
        self.mail = Mail(self.env, self.directory, clock.now(), lambda: False, folder, lambda: None)

    def spawn(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        self.tasks.start_soon(_run, task, args)

    def _changed(self) -> None:
        self.mail.channels_changed()

    def _finished(self, message: Message) -> None:
        self.mail.arrived(message)

    def _peers(self) -> list[str]:
        return self.mail.registry.names()

    async def load(self) -> None:
        self.env.agents.configure([], self.config.limits)  # type: ignore[attr-defined]  # the manager's own
        await self.mail.load()
        await self.directory.load()
        self.spawn(self.directory.run)
        self.spawn(self.mail.run_transcript)

    async def peer(self, name: str) -> Caller:
        """A registered peer."""
        peer = await self.mail.register(name, PrivateKey(name.encode().ljust(32)[:32]).public, None)
        return Caller(peer.name, "peer", None, MailOrigin())


async def _run(task: Callable[..., Awaitable[object]], args: tuple[object, ...]) -> None:
    await task(*args)


@asynccontextmanager
async def office(
    store: Store | None = None, clock: SystemClock | SetClock | None = None, folder: Path | None = None
) -> AsyncIterator[Office]:
    """A running office; its tasks end with it, its store does not. ``folder``: where a transcript is kept."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        made = Office(tasks, store or memory_store(), clock or SystemClock(), folder)
        await made.load()
        try:
            yield made
        except Exception as error:  # raised below, without a group around it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


class PeerClient:
    """A peer on a bridge's socket, which says no `initialize`: it signs what it asks."""

    def __init__(self, wire: Wire, name: str) -> None:
        self.wire = wire
        self.name = name
        self.key = PrivateKey(name.encode().ljust(32, b".")[:32])

    def sign(self, verb: str, params: JSON, name: str | None = None) -> JSON:
        """The parameters with the peer's signature."""
        return signed(f"sidekicks/mail/{verb}", params, self.name if name is None else name, self.key.sign)

    async def ask(self, verb: str, **params: Any) -> Any:
        """Send a request without waiting; its id."""
        return await self.wire.ask(f"sidekicks/mail/{verb}", self.sign(verb, params))

    async def result(self, request_id: Any) -> JSON:
        """The result of an `ask`."""
        answer = await self.wire.answer(request_id)
        assert "result" in answer, answer
        result: JSON = answer["result"]
        return result

    async def refusal(self, request_id: Any) -> str:
        """The string code with which an `ask` was refused."""
        answer = await self.wire.answer(request_id)
        assert "error" in answer, answer
        code: str = answer["error"]["data"]["code"]
        return code

    async def call(self, verb: str, **params: Any) -> JSON:
        """Ask and return the result."""
        return await self.result(await self.ask(verb, **params))

    async def refused(self, verb: str, **params: Any) -> str:
        """Ask and return the code of the refusal."""
        return await self.refusal(await self.ask(verb, **params))

    async def register(self) -> JSON:
        """Register with the peer's own key."""
        return await self.call("register", key=self.key.public)


@asynccontextmanager
async def peers(socket: str, *names: str) -> AsyncIterator[list[PeerClient]]:
    """Registered peers on one connection."""
    async with attached(socket) as wire:
        made = [PeerClient(wire, name) for name in names]
        for peer in made:
            await peer.register()
        yield made


def said(letters: JSON) -> list[str]:
    """The bodies of a result's messages."""
    return [one["body"] for one in letters["messages"]]
