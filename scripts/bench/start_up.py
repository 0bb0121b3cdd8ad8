"""Measures what starting costs: wall time and memory of a bare Python, of imports, and of verbs.

Prints the median of several runs, each in a process of its own. On a loaded machine only ratios count.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = 7

COMMANDS = {
    "python alone": ["-c", "pass"],
    "import sidekicks_bridge": ["-c", "import sidekicks_bridge"],
    "import the protocol": ["-c", "import sidekicks_bridge.protocol.methods, sidekicks_bridge.protocol.events"],
    "import pygls (the LSP face)": ["-c", "import pygls.lsp.server"],
    "import acp (the ACP SDK)": ["-c", "import acp"],
    "import the built-in agents": ["-c", "import sidekicks_bridge.builtin.__main__"],
    "sidekicks --version": ["-m", "sidekicks_bridge", "--version"],
}


def measure(arguments: list[str]) -> tuple[float, int]:
    """Milliseconds from start to end of one run, and its greatest memory in KiB."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = (time.perf_counter() - started) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`{' '.join(arguments)}` failed with status {process.returncode}")
    return elapsed, usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def main() -> None:
    """Print one line for each command."""
    print(f"{'':30}{'ms':>8}{'MiB':>8}")
    for title, arguments in COMMANDS.items():
        measure(arguments)  # once for the bytecode caches
        runs = [measure(arguments) for _ in range(RUNS)]
        wall = statistics.median(run[0] for run in runs)
        memory = statistics.median(run[1] for run in runs)
        print(f"{title:30}{wall:8.0f}{memory / 1024:8.1f}", flush=True)


if __name__ == "__main__":
    main()
