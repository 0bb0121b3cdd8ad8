"""Trying one agent out: started, introduced, a session opened, a prompt sent if wished, and everything ended again.

Owns what is measured. Uses the very connection that the bridge uses, so what works here works there; no bridge needed.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from sidekicks_bridge.agents.connection import AgentConnection
from sidekicks_bridge.agents.contract import CommandsUpdate, SettingsUpdate, TextChunk
from sidekicks_bridge.agents.opening import open_session
from sidekicks_bridge.agents.process import LogRing, build_argv, build_environment
from sidekicks_bridge.agents.raw import line, record
from sidekicks_bridge.agents.reaper import Reaper
from sidekicks_bridge.agents.sdk import connection_class
from sidekicks_bridge.agents.supervise import supervised
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate
    from sidekicks_bridge.agents.recording import Recorder
    from sidekicks_bridge.agents.spec import AgentSpec, Limits
    from sidekicks_bridge.protocol.types import AgentState

COMMANDS_SECONDS = 1.0
"""How long to wait for an agent's commands once its session is open: they may come late, or never."""
_BYTES_PER_UNIT = 1024


class Examined(msgspec.Struct, kw_only=True):
    """What was found. Seconds and bytes; None: it did not come so far."""

    program: str | None = None
    name: str | None = None
    version: str | None = None
    start_seconds: float | None = None
    session_seconds: float | None = None
    capabilities: list[str] = []
    sign_in: list[str] = []
    commands: list[str] = []
    settings: list[str] = []
    noise: int = 0
    stderr: int = 0
    memory: int | None = None
    answers: list[str] = []
    error: str | None = None
    code: str | None = None
    """The code of the error."""
    timed_out: bool = False
    """Whether it was not ready in the time that it has (`limits.startTimeout`)."""


class _Listener:
    """An `AgentSink` that remembers. Permissions are answered at once."""

    def __init__(self, allow: bool) -> None:
        self._allow = allow
        self.lines = 0
        self.text = ""
        self.commands: list[str] | None = None
        self.settings: list[str] = []
        self.commands_came = anyio.Event()

    def agent_state(self, agent: str, state: AgentState, error: str | None) -> None:
        """Not of interest: the connection tells."""

    def agent_log(self, agent: str, line: str) -> None:
        """Count."""
        self.lines += 1

    def session_update(self, agent: str, channel_id: str, update: SessionUpdate) -> None:
        """Keep what is reported."""
        if isinstance(update, CommandsUpdate):
            self.commands = [command.name for command in update.commands]
            self.commands_came.set()
        elif isinstance(update, SettingsUpdate):
            self.settings = _settings(update)
        elif isinstance(update, TextChunk):
            self.text += update.text

    def permission_asked(self, ask: PermissionAsk) -> None:
        """Allow once, or reject."""
        wanted = "allow_once" if self._allow else "reject_once"
        ask.answer(next((option.option_id for option in ask.options if option.kind == wanted), None))

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        """Nobody is there to be asked."""
        ask.answer("cancel")

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        """Answered already."""

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        """Answered already."""


async def examine(
    spec: AgentSpec,
    limits: Limits,
    folder: str,
    *,
    prompts: Sequence[str] = (),
    allow: bool = False,
    recorder: Recorder | None = None,
) -> Examined:
    """Try ``spec`` out in ``folder``. Never raises for what an agent does wrong: that is the finding."""
    found = Examined()
    sink = _Listener(allow)
    reaper = Reaper()
    try:
        found.program = build_argv(spec, build_environment(os.environ, spec, ""), folder)[0]
    except SidekicksError as problem:
        found.error, found.code = problem.message, problem.code
        return found
    await anyio.to_thread.run_sync(connection_class)  # not part of the agent's time
    log = LogRing(lambda text: sink.agent_log(spec.name, text))
    connection = AgentConnection(spec, limits, sink, _no_buffer, log, lambda _state, _error: None, recorder)
    try:
        async with anyio.create_task_group() as tasks:
            began = time.monotonic()
            # A mark of its own: at the end, what carries it is killed, and another doctor may be at work.
            supervised(tasks, connection.run, folder, Ulids().new(), reaper)
            try:
                await _converse(connection, sink, found, folder, prompts, began)
            except SidekicksError as problem:
                found.error, found.code = problem.message, problem.code
                started = found.start_seconds is not None
                found.timed_out = not started and time.monotonic() - began >= limits.start_timeout
            found.memory = await anyio.to_thread.run_sync(memory_of, connection.pid)
            found.noise, found.stderr = connection.noise, sink.lines - connection.noise
            connection.end()
            await connection.gone.wait()
    finally:
        await anyio.to_thread.run_sync(reaper.close)
    return found


async def _converse(
    connection: AgentConnection,
    sink: _Listener,
    found: Examined,
    folder: str,
    prompts: Sequence[str],
    began: float,
) -> None:
    await connection.ready()
    found.start_seconds = time.monotonic() - began
    _introduce(connection.introduction, found)
    began = time.monotonic()
    session = await open_session(connection, "doctor", folder, None)
    found.session_seconds = time.monotonic() - began
    for prompt in prompts:
        sink.text = ""
        result = await session.prompt(session.blocks(prompt, []))
        found.answers.append(f"{result.stop_reason}: {sink.text}")
    with anyio.move_on_after(COMMANDS_SECONDS):
        await sink.commands_came.wait()
    found.commands, found.settings = sink.commands or [], sink.settings


def _introduce(said: dict[str, Any], found: Examined) -> None:
    info = record(said.get("agentInfo"))
    found.name, found.version = line(info.get("title")) or line(info.get("name")), line(info.get("version"))
    found.capabilities = _names(record(said.get("agentCapabilities")))
    methods = said.get("authMethods")
    for method in methods if isinstance(methods, list) else []:
        if name := line(record(method).get("name")) or line(record(method).get("id")):
            found.sign_in.append(name)


def _names(said: dict[str, Any]) -> list[str]:
    """What it can do, in one list: `loadSession`, `image`, `http`, `resume` …"""
    names = []
    for key, value in said.items():
        if isinstance(value, dict) and key.endswith("Capabilities"):
            names += [name for name, one in value.items() if one not in (None, False) and not name.startswith("_")]
        elif value not in (None, False, {}) and not key.startswith("_"):
            names.append(key)
    return names


def _settings(update: SettingsUpdate) -> list[str]:
    found = [f"{option.id}={option.value}" for option in update.options or []]
    found += [f"mode={update.modes.current}"] if update.modes else []
    return found + ([f"model={update.models.current}"] if update.models else [])


def memory_of(group: int | None) -> int | None:
    """The resident memory of a process group in bytes; None where it cannot be told."""
    if group is None:
        return None
    try:
        listed = subprocess.run(["ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=True).stdout  # noqa: S607
    except (OSError, subprocess.CalledProcessError):
        return None
    rows = [row.split() for row in listed.splitlines()]
    return sum(int(rss) for pgid, rss in rows if pgid == str(group)) * _BYTES_PER_UNIT or None


async def _no_buffer(_path: str) -> str | None:
    return None
