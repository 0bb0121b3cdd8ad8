"""The application: everything that runs in an owner, put together. Faces call its requests; agents report to it.

Owns the order of starting and stopping. What can be asked of it is in `requests`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import anyio

from sidekicks_bridge import paths
from sidekicks_bridge.bridge.attention import attention
from sidekicks_bridge.bridge.clients import Clients
from sidekicks_bridge.bridge.configuration import Configuration
from sidekicks_bridge.bridge.mail_tools import MailTools
from sidekicks_bridge.bridge.overview import Overview
from sidekicks_bridge.bridge.sign_ins import SignIns
from sidekicks_bridge.channels.announced import AnnouncedCommands
from sidekicks_bridge.channels.directory import Directory
from sidekicks_bridge.channels.env import Env
from sidekicks_bridge.channels.journal import Journal
from sidekicks_bridge.clock import SystemClock
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.mail.office import Mail
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import (
    AgentLog,
    AgentStateChanged,
    AttentionChanged,
    ChannelsChanged,
    ConfigChanged,
    StorageChanged,
)
from sidekicks_bridge.protocol.types import Agent, StorageState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from anyio.abc import TaskGroup

    from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.lock import Lock
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.types import AgentState, AttentionItem, Channel, Elicitation, Message, Permission
    from sidekicks_bridge.store.contract import Store

_log = logging.getLogger(__name__)
CLOSE_SECONDS = 1.8
"""Editors kill a server about two seconds after `exit`; storing what streams and stopping agents must fit in."""


class Bridge:
    """One owner's application. Implements `AgentSink`. Use `start`, then requests, then `stop`."""

    def __init__(
        self, task_group: TaskGroup, config_path: Path, held: Lock | None = None, reason: str | None = None
    ) -> None:
        self._task_group = task_group
        self._held = held
        self._reason = reason
        self.on_stop: Callable[[], None] = lambda: None
        self.kind: Literal["hub", "editor"] = "editor"
        self.clock = SystemClock()
        self.ids = Ulids()
        self.clients = Clients()
        self.configuration = Configuration(config_path)
        self.sign_ins = SignIns(self.to_all)
        self.mail_tools = MailTools(self)
        self.overview = Overview(self._tell_channels)
        self._transcript_problem: str | None = None
        self._attention_count = 0
        self.started_at = self.clock.now()

    async def start(self) -> None:
        """Read the configuration, open the store, load the channels. Starts no agent."""
        from sidekicks_bridge.store.open import memory_store, open_global_preferences, open_store

        path = self.configuration.path
        await self.configuration.reload()
        self.recent = await open_global_preferences()
        try:
            await self._load(memory_store(self._reason) if self._reason else await open_store(path, held=self._held))
        except SidekicksError as damage:
            if damage.code != "storeUnavailable" or not self.store.persistent:
                raise
            await self.store.close()
            await self._load(memory_store(damage.message))
        self.store.start_indexing()
        self.spawn(self.directory.run)
        self.spawn(self.journal.retry)
        self.spawn(self.overview.run)
        await self.directory.declare(self.configuration.current.channels)
        self.recent.note_recent(str(path), self.clock.now())
        self._attention_count = len(self.attention())

    async def _load(self, store: Store) -> None:
        """Put everything together on a store. Raises storeUnavailable when what it holds cannot be read."""
        from sidekicks_bridge.agents.errands import Errands
        from sidekicks_bridge.agents.manager import AgentManager
        from sidekicks_bridge.store.open import open_channel_preferences

        path = self.configuration.path
        self.store = store
        self.preferences = await open_channel_preferences(path, self.store)
        self.journal = Journal(self.store, self._storage_changed)
        self.announced = AnnouncedCommands(self.journal)
        await self.announced.load(self.store)
        logs = paths.data_dir(path) / "logs" if self.store.persistent else None
        self.agents = AgentManager(
            self._task_group, self, self.clock, self.ids, self.clients.read_buffer, logs, self.mail_tools.servers
        )
        self.errands = Errands(self.agents)
        self.agents.configure(self.configuration.current.agents, self.configuration.current.limits)
        self.env = Env(
            agents=self.agents,
            store=self.store,
            journal=self.journal,
            announced=self.announced,
            ids=self.ids,
            clock=self.clock,
            config=lambda: self.configuration.current,
            spawn=self.spawn,
            to_all=self.to_all,
            channel_changed=self.overview.changed,
            finished=self._finished,
            peers=self._peers,
            auth_required=self.sign_ins.required,
            auth_settled=self.sign_ins.settled,
        )
        self.directory = Directory(self.env, self.preferences.read_mark)
        folder = paths.data_dir(path) if self.store.persistent else None
        self.mail = Mail(
            self.env, self.directory, self.started_at, self.clients.are_there, folder, self._transcript_changed
        )
        await self.mail.load()
        self._tell_taken_names()
        await self.directory.load()

    def run_in_background(self) -> None:
        """What may begin after the first client has its answers: watching the file, forgetting old prompts."""
        self.spawn(self.configuration.watch, self.config_changed)
        self.spawn(self._forget_prompts)
        self.spawn(self.mail.sweep)
        self.spawn(self.mail.run_transcript)
        self.spawn(self.configuration.refresh_schema)

    async def _forget_prompts(self) -> None:
        from datetime import UTC, datetime, timedelta

        keep = timedelta(seconds=self.configuration.current.limits.keep_prompts)
        await self.store.drop_prompts((datetime.now(UTC) - keep).isoformat())

    async def stop(self) -> None:
        """Keep what streams (marked interrupted), stop the agents, close the store."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
            for channel in self.directory.all():
                await channel.interrupt()
            await self.agents.aclose()
            await self.mail.stop()
        with anyio.CancelScope(shield=True):
            await self.preferences.file.close()
            await self.recent.file.close()
            await self.store.close()

    @property
    def pasted(self) -> Path:
        """The folder of what was pasted into messages."""
        return paths.data_dir(self.configuration.path) / "attachments"

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits to."""
        return any(channel.state.turns for channel in self.directory.all())

    def detach(self, client: Client) -> None:
        """A client is gone: nothing more is queued for it."""
        self.clients.detach(client)
        for channel in self.directory.all():
            channel.close(client)

    def spawn(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Start a child task; its failure is logged and ends nothing else."""
        self._task_group.start_soon(_contained, task, args)

    async def stop_agent(self, agent: str) -> None:
        """Stop an agent; its turns are cancelled first, so that nothing looks like a crash."""
        for channel in self.directory.all():
            await channel.end_turns_of(agent)
        await self.agents.stop(agent)

    # ── telling clients ──────────────────────────────────────────────────────────────────────────────────────────

    def to_all(self, event: Wire) -> None:
        """Send an event to every client; what waits for the user may have changed with it."""
        self.clients.to_all(event)
        self.attention_changed()

    def channels(self) -> list[Channel]:
        """All channels as clients see them."""
        return [channel.state.view() for channel in self.directory.all()]

    def open_permissions(self) -> list[Permission]:
        """The questions that wait for an answer, in all channels."""
        return [permission for channel in self.directory.all() for permission in channel.open_permissions()]

    def open_elicitations(self) -> list[Elicitation]:
        """What agents ask the user for, in all channels."""
        return [asked for channel in self.directory.all() for asked in channel.permissions.forms.all()]

    def open_questions(self) -> list[Wire]:
        """Everything that waits for an answer of the user."""
        return [*self.open_permissions(), *self.open_elicitations(), *self.sign_ins.all()]

    def _tell_channels(self) -> None:
        """A channel was made, changed, deleted, or a message in it finished."""
        self.mail.channels_changed()
        self.clients.to_all(ChannelsChanged(channels=self.channels()))
        self.attention_changed()

    def attention(self) -> list[AttentionItem]:
        """Everything that waits for the user."""
        agents = [spec.name for spec in self.configuration.current.agents]
        return attention(self.directory.all(), agents, self.sign_ins.all())

    def attention_changed(self) -> None:
        """Tell how much waits for the user, if that changed."""
        count = len(self.attention())
        if count != self._attention_count:
            self._attention_count = count
            self.clients.to_all(AttentionChanged(count=count))

    @property
    def storage(self) -> StorageState:
        """Whether history is kept, and what is wrong with it or with the transcript."""
        state = self.journal.state
        reasons = [reason for reason in (state.reason, self._transcript_problem) if reason is not None]
        return StorageState(persistent=state.persistent, reason=" ".join(reasons) or None)

    def _storage_changed(self, _state: StorageState) -> None:
        self.clients.to_all(StorageChanged(persistent=self.storage.persistent, reason=self.storage.reason))

    def _transcript_changed(self) -> None:
        self._transcript_problem = self.mail.transcript.problem if self.mail.transcript is not None else None
        self._storage_changed(self.storage)

    def _finished(self, message: Message) -> None:
        self.mail.arrived(message)

    def _peers(self) -> list[str]:
        return self.mail.registry.names()

    def _tell_taken_names(self) -> None:
        """A configuration that takes a registered peer's name has a problem: one name, one participant."""
        for index, name in self.mail.taken():
            sentence = f"The agent {name} has the name of a registered peer; rename it, or `sidekicks unregister` that."
            self.configuration.add_problem(["agents", index, "name"], sentence)

    async def config_changed(self) -> None:
        """The configuration was read again: put it in force and say so. Running agents are not touched."""
        self._tell_taken_names()
        config = self.configuration.current
        self.agents.configure(config.agents, config.limits)
        self.sign_ins.keep_only({spec.name for spec in config.agents})
        await self.directory.declare(config.channels)
        self.clients.to_all(
            ConfigChanged(agents=self.agent_list(), channels=self.channels(), problems=self.configuration.problems)
        )
        self.attention_changed()

    def agent_list(self) -> list[Agent]:
        """Every configured agent and how it is doing."""
        agents: list[Agent] = []
        for spec in self.configuration.current.agents:
            state, error = self.agents.state(spec.name)
            agents.append(
                Agent(
                    name=spec.name,
                    title=spec.title,
                    icon=spec.icon,
                    description=spec.description,
                    state=state,
                    error=error,
                    origin="builtin" if spec.builtin else "config",
                    commands=self.announced.of(spec.name),
                    sign_in=self.errands.sign_in_methods(spec.name),
                    takes_images=self.errands.takes_images(spec.name),
                    can_log_out=self.errands.can_log_out(spec.name),
                )
            )
        return agents

    # ── what agents report (AgentSink) ───────────────────────────────────────────────────────────────────────────

    def agent_state(self, agent: str, state: AgentState, error: str | None) -> None:
        """An agent's process changed state."""
        self.clients.to_all(AgentStateChanged(agent=agent, state=state, error=error))

    def agent_log(self, agent: str, line: str) -> None:
        """An agent wrote a line to stderr."""
        self.clients.to_followers(agent, AgentLog(agent=agent, line=line))

    def session_update(self, agent: str, channel_id: str, update: SessionUpdate) -> None:
        """A session said something: to its channel, unless that was deleted."""
        if channel := self.directory.find(channel_id):
            channel.update(agent, update)

    def permission_asked(self, ask: PermissionAsk) -> None:
        """An agent asks for permission: in its channel; without one the answer is no."""
        if channel := self.directory.find(ask.channel_id):
            channel.permission_asked(ask)
        else:
            ask.answer(None)

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        """An agent asks the user for something: in its channel."""
        if channel := self.directory.find(ask.channel_id):
            channel.elicitation_asked(ask)
        else:
            ask.answer("cancel")

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        """That is void."""
        if channel := self.directory.find(ask.channel_id):
            channel.elicitation_withdrawn(ask)

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        """A question is void."""
        if channel := self.directory.find(ask.channel_id):
            channel.permission_withdrawn(ask)


async def _contained(task: Callable[..., Awaitable[object]], args: tuple[object, ...]) -> None:
    try:
        await task(*args)
    except Exception:  # one child's failure must not cancel its siblings
        _log.exception("a task of the bridge failed: %s", getattr(task, "__qualname__", task))
