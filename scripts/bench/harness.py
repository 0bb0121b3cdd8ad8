"""What every benchmark shares: figures, processes to measure, a configuration of its own for the bridge.

Owns temporary folders and child processes, and leaves neither behind. Knows nothing of what is measured.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CHANNEL = "bench"
"""The named channel of every configuration."""
AGENT = "stream"
"""The agent that streams (`stream_agent`)."""
PATIENCE = 60.0
"""Seconds after which a benchmark is given up."""

Figure = dict[str, Any]


def figure(name: str, value: float, unit: str, baseline: float | None = None) -> Figure:
    """One line of the output; ``ratio`` is value to baseline."""
    result: Figure = {"name": name, "value": round(value, 3), "unit": unit}
    if baseline:
        result |= {"baseline": round(baseline, 3), "ratio": round(value / baseline, 2)}
    return result


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which ``percent`` % of the values lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def compare(name: str, unit: str, ours: Sequence[float], theirs: Sequence[float]) -> Figure:
    """The medians of two series that were taken in turns."""
    return figure(name, statistics.median(ours), unit, statistics.median(theirs))


def cpu_ms(pid: int) -> float:
    """The CPU time that a running process has used so far, all threads, ms; not that of its children."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "clock_getcpuclockid"):  # macOS: hundredths of a second must do
        told = subprocess.run(["/bin/ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True)
        minutes, _, seconds = told.stdout.strip().rpartition(":")
        return (float(minutes) * 60 + float(seconds)) * 1e3
    clock = ctypes.c_int()
    if error := libc.clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise OSError(error, os.strerror(error))
    return time.clock_gettime(clock.value) * 1e3


class Home:
    """A configuration with a folder for everything the bridge writes, and the environment that makes it use them.

    Python's variables are left out: without bytecode caches, for one, every start would compile the bridge anew.
    """

    def __init__(self, folder: Path, *, others: int = 0) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.config = folder / "sidekicks.yaml"
        agents = [{"name": AGENT, "command": sys.executable, "args": [str(HERE / "stream_agent.py")]}]
        agents += [{"name": f"agent-{number:03d}", "command": sys.executable} for number in range(others)]
        channels = [{"name": CHANNEL, "members": [AGENT]}]
        self.config.write_text(json.dumps({"agents": agents, "channels": channels}, indent=1), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIDEKICKS_", "PYTHON"))}
        self.environment = {**kept, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(folder / "config")}

    @property
    def data(self) -> Path:
        """The folder of the configuration's history."""
        return next((self.folder / "config" / "sidekicks" / "data").iterdir())

    def command(self, *words: str) -> list[str]:
        """The command `sidekicks` with ``words``, on this configuration."""
        return [sys.executable, "-m", "sidekicks_bridge", *words, "--config", str(self.config)]


@contextmanager
def home(*, others: int = 0) -> Iterator[Home]:
    """A `Home` for as long as the block lasts, with ``others`` further agents that never run."""
    with tempfile.TemporaryDirectory(prefix="sk-", ignore_cleanup_errors=True) as name:
        yield Home(Path(name), others=others)


@contextmanager
def started(
    command: Sequence[str], environment: dict[str, str], cwd: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with pipes; at the end its input is closed, then it is waited for, at last killed."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=cwd, env=environment, bufsize=0
        )
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
