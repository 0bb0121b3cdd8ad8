"""How long starting takes, from the start of the process to the first word.

Figures (ms): initialize (to its answer; baseline: a bare pygls server), attach (what a start beside a running bridge
takes longer than Python alone), and what the command line's quick words take (baseline: Python alone).
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING

from scripts.bench.harness import HERE, compare, figure, home, started
from scripts.bench.peer import Peer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scripts.bench.harness import Figure, Home

ROUNDS = 7
PYTHON = [sys.executable, "-c", "import os; os.write(1, b'x')"]


def to_initialize(place: Home, command: Sequence[str]) -> float:
    """From the start of a server to its answer to `initialize`, ms; the server is told to go afterwards."""
    begin = time.perf_counter()
    with started(command, place.environment, place.workspace, place.folder / "start.log") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        peer = Peer(process.stdout.fileno(), process.stdin.fileno(), process.pid)
        peer.initialize(place.workspace)
        took = (time.perf_counter() - begin) * 1e3
        peer.leave()
    return took


def to_output(place: Home, command: Sequence[str]) -> float:
    """From the start of a command to the first thing it prints, ms."""
    begin = time.perf_counter()
    with started(command, place.environment, place.workspace, place.folder / "start.log") as process:
        assert process.stdout is not None
        if not process.stdout.read(1):
            raise EOFError(f"{' '.join(command)} printed nothing; see {place.folder / 'start.log'}")
        return (time.perf_counter() - begin) * 1e3


def initialize(place: Home) -> Figure:
    """The bridge that owns, and the bare server, in turns; the first start of each fills the caches."""
    bare = [sys.executable, str(HERE / "bare_server.py")]
    pairs = [(to_initialize(place, place.command("serve")), to_initialize(place, bare)) for _ in range(ROUNDS + 1)]
    return compare("initialize", "ms", [ours for ours, _ in pairs[1:]], [theirs for _, theirs in pairs[1:]])


def attach(place: Home) -> Figure:
    """A second `serve` on a running bridge."""
    times = [(to_initialize(place, place.command("serve")), to_output(place, PYTHON)) for _ in range(2 * ROUNDS)]
    python = statistics.median(bare for _, bare in times)
    return figure("attach", statistics.median(ours for ours, _ in times) - python, "ms", python)


def words(place: Home) -> Iterator[Figure]:
    """`--version` and, beside a running bridge, `status`."""
    version = [sys.executable, "-m", "sidekicks_bridge", "--version"]
    for name, command in (("start.version", version), ("start.status", place.command("status"))):
        times = [(to_output(place, command), to_output(place, PYTHON)) for _ in range(ROUNDS)]
        yield compare(name, "ms", [ours for ours, _ in times], [python for _, python in times])


def run() -> Iterator[Figure]:
    """All figures of this file."""
    with home() as place:
        yield initialize(place)
        with serving(place):
            yield attach(place)
            yield from words(place)
