"""The log of what a fake agent received: the agent writes it, tests read it.

One JSON object a line, flushed line by line, appended, so that restarts and several agents may share a file.
Every record has ``event``, ``agent`` (its name), ``pid`` and ``at`` (monotonic seconds). Events:

==========  ================================================================================================
start       ``argv``, ``cwd``, ``ppid``, ``pgid``, ``env`` (see `Recorder`), ``env_names`` (all names, sorted)
received    ``message``: a JSON-RPC message, whole
unreadable  ``line``: the first 200 characters of what was not a JSON object
holding     ``gate``: a turn, an answer or the start waits for this gate
children    ``group`` and ``setsid``: pids of started children
violation   ``what``: the client broke a rule of the protocol (a second prompt in a busy session, a relative
cwd …) eof         standard input ended
==========  ================================================================================================

It must not wait: tests wait for what they see of the bridge and read this afterwards.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    JSON = dict[str, Any]

ENV_PREFIXES = ("FAKE_AGENT_", "SIDEKICKS_")


class Recorder:
    """Appends records to ``path``; with an empty path it does nothing.

    The start record shows the variables that begin with `ENV_PREFIXES` and those named in
    ``FAKE_AGENT_LOG_ENV`` (separated by commas).
    """

    def __init__(self, path: str, agent: str) -> None:
        self._agent = agent
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if path else None

    def write(self, event: str, **fields: Any) -> None:
        """Append one record with one write, so that records of several processes never mix."""
        if self._file is None:
            return
        record = {"event": event, "agent": self._agent, "pid": os.getpid(), "at": time.monotonic(), **fields}
        left = memoryview(json.dumps(record).encode() + b"\n")
        while left:
            left = left[os.write(self._file, left) :]

    def start(self) -> None:
        """Append the start record."""
        wanted = os.environ.get("FAKE_AGENT_LOG_ENV", "").split(",")
        env = {k: v for k, v in os.environ.items() if k in wanted or k.startswith(ENV_PREFIXES)}
        self.write(
            "start",
            argv=sys.argv,
            cwd=os.getcwd(),  # noqa: PTH109 - pathlib is not loaded before it is needed
            ppid=os.getppid(),
            pgid=os.getpgid(0),
            env=env,
            env_names=sorted(os.environ),
        )


def records(path: Path, event: str = "", *, agent: str = "") -> list[JSON]:
    """All whole records so far, of one event or agent if named; none if there is no file yet."""
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    found: list[JSON] = [json.loads(line) for line in whole.splitlines()]
    return [r for r in found if (not event or r["event"] == event) and (not agent or r["agent"] == agent)]


def received(path: Path, method: str = "", *, agent: str = "") -> list[JSON]:
    """The messages an agent received, oldest first; of one method (``session/prompt``) if named."""
    messages: list[JSON] = [r["message"] for r in records(path, "received", agent=agent)]
    return [m for m in messages if not method or m.get("method") == method]


def replies(path: Path, *, agent: str = "") -> list[JSON]:
    """The client's answers to the agent's own requests."""
    return [m for m in received(path, agent=agent) if "method" not in m]


def prompts(path: Path, *, agent: str = "") -> list[str]:
    """The text of each prompt exactly as the agent got it (its text blocks joined), oldest first."""
    blocks = [m["params"]["prompt"] for m in received(path, "session/prompt", agent=agent)]
    return ["".join(b["text"] for b in prompt if b["type"] == "text") for prompt in blocks]


def pids(path: Path, *, agent: str = "") -> list[int]:
    """The process ids of all starts, oldest first."""
    return [r["pid"] for r in records(path, "start", agent=agent)]
