"""One configured agent as the manager sees it: its process if it has one, who holds it, its state, its log."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.agents.process import LogRing
from sidekicks_bridge.private_files import private_file, private_folder

if TYPE_CHECKING:
    from io import TextIOWrapper

    import anyio

    from sidekicks_bridge.agents.capabilities import Capabilities
    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.agents.contract import AgentSink
    from sidekicks_bridge.agents.lease import AgentLease
    from sidekicks_bridge.agents.spec import AgentSpec
    from sidekicks_bridge.protocol.types import AgentState

_FILE_BYTES = 1 << 20
_log = logging.getLogger(__name__)


class Runner:
    """``outdated``: its process was started for a configuration that is no more. ``answered``: it was prompted."""

    def __init__(self, spec: AgentSpec, sink: AgentSink, log_dir: Path | None) -> None:
        self.spec = spec
        self.connection: AgentConnection | None = None
        self.holder: AgentLease | None = None
        self.outdated = False
        self.answered = False
        self.waiting = 0
        """How many questions to other agents it waits on in its turn."""
        self.last_used = 0.0
        self.state: AgentState = "stopped"
        self.error: str | None = None
        self.known: Capabilities | None = None
        """What its last process could do."""
        self.idle: anyio.CancelScope | None = None
        self._sink = sink
        self._file = _log_file(log_dir, spec.name)
        self.log = LogRing(self._keep_line)

    @property
    def counts(self) -> bool:
        """Whether it counts against the limit: built-in agents hold no model."""
        return self.spec.builtin is None

    @property
    def alive(self) -> bool:
        """Whether a process of it is left, be it in its last second."""
        return self.connection is not None and not self.connection.gone.is_set()

    @property
    def usable(self) -> bool:
        """Whether a process is there that takes work."""
        return self.connection is not None and not self.connection.ending

    @property
    def takes_slot(self) -> bool:
        """Whether it holds one of the slots for running agents."""
        return self.counts and not self.waiting and (self.holder is not None or self.usable)

    @property
    def evictable(self) -> bool:
        """Whether its slot can be given to another agent."""
        return self.counts and self.holder is None and self.usable

    def report(self, state: AgentState, error: str | None) -> None:
        """Keep and pass on a new state."""
        if (state, error) != (self.state, self.error):
            self.state, self.error = state, error
            self._sink.agent_state(self.spec.name, state, error)

    def close(self) -> None:
        """Nothing more will be logged."""
        if self._file is not None:
            self._file.close()

    def _keep_line(self, line: str) -> None:
        if self._file is not None:
            self._file.emit(logging.makeLogRecord({"msg": line}))
        self._sink.agent_log(self.spec.name, line)


def _log_file(log_dir: Path | None, agent: str) -> _PrivateLog | None:
    if log_dir is None:
        return None
    try:
        private_folder(log_dir)
    except OSError as problem:
        _log.warning("agents' logs are not kept in %s: %s", log_dir, problem)
        return None
    return _PrivateLog(
        log_dir / f"{agent}.log", maxBytes=_FILE_BYTES, backupCount=1, encoding="utf-8", errors="replace", delay=True
    )


class _PrivateLog(RotatingFileHandler):
    """A log that only the user may read: agents write what they please to it."""

    def _open(self) -> TextIOWrapper:
        os.close(private_file(Path(self.baseFilename)))
        return super()._open()
