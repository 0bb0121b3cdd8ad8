"""`sidekicks chat` in a terminal of 100×24 that reads as fast as it can: what a flood costs, and whether it is shown.

Figure: chat20k.cpu (ms of CPU of bridge and terminal client together for 20,000 chunks, each of which stands in the
terminal at the end, once and in order; baseline: the ACP SDK alone, which shows nothing).
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyte

from scripts.bench.chunks import FLOOD, sdk_cpu
from scripts.bench.harness import CHANNEL, PATIENCE, compare, cpu_ms, home
from scripts.bench.peer import serving, warm_up
from scripts.bench.stream_agent import word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.bench.harness import Figure, Home

COLUMNS, ROWS = 100, 24
ROUNDS = 2
READY = b"F1 keys"
"""Stands in the empty composer."""
QUIET = 0.5
"""Seconds without output after which a frame is taken for the last one."""


class Screen:
    """The process in the terminal and what it wrote."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.pid = process.pid
        self.written = bytearray()
        self._master = master

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def read(self, seconds: float) -> bool:
        """Take what comes within so many seconds; False: nothing came."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        self.written += os.read(self._master, 1 << 16)
        return True

    def wait_for(self, mark: bytes, start: int) -> None:
        """Read until ``mark`` was written after ``start``, and then until all is drawn."""
        end = time.monotonic() + PATIENCE
        while self.written.find(mark, start) < 0:
            if not self.read(end - time.monotonic()):
                raise TimeoutError(f"{mark!r} was never shown; the last was {bytes(self.written[-2000:])!r}")
        while self.read(QUIET):
            pass

    def text(self) -> str:
        """All that stands in the terminal, what has scrolled away included."""
        screen = pyte.HistoryScreen(COLUMNS, ROWS, history=100_000, ratio=1.0)
        pyte.ByteStream(screen).feed(bytes(self.written))
        above = ["".join(row[at].data for at in range(COLUMNS)) for row in screen.history.top]
        return "\n".join([*above, *screen.display])


@contextmanager
def chatting(place: Home) -> Iterator[Screen]:
    """`sidekicks chat` in a terminal; it attaches to the bridge that runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        place.command("chat", f"#{CHANNEL}"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=place.workspace,
        env={**place.environment, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(slave)
    screen = Screen(process, master)
    try:
        screen.wait_for(READY, 0)
        yield screen
    finally:
        process.kill()
        process.wait()
        os.close(master)


def flood(screen: Screen, owner: int, count: int) -> float:
    """The CPU time of bridge and client from Enter to the last frame, ms."""
    prompt = f"burst {count}"
    screen.type(prompt)
    screen.wait_for(prompt.encode(), len(screen.written))
    before = cpu_ms(owner) + cpu_ms(screen.pid)
    start = len(screen.written)
    screen.type("\r")
    screen.wait_for(word(count - 1).strip().encode(), start)
    return cpu_ms(owner) + cpu_ms(screen.pid) - before


def check(screen: Screen, count: int) -> None:
    """Every chunk of the last flood is shown, once, in order."""
    shown = re.findall(r"w\d{5}", screen.text())[-count:]
    assert shown == [word(number).strip() for number in range(count)], "the answer is not shown whole"


def run() -> Iterator[Figure]:
    """All figures of this file, the bridge with its client and the SDK in turns."""
    ours: list[float] = []
    theirs: list[float] = []
    with home() as place, serving(place) as owner:
        channel_id = owner.open()
        warm_up(owner, channel_id)
        owner.request("sidekicks/channel/close", channelId=channel_id)
        for _ in range(ROUNDS):
            with chatting(place) as screen:
                flood(screen, owner.pid, 1)
                ours.append(flood(screen, owner.pid, FLOOD))
                check(screen, FLOOD)
            owner.drain()
            theirs.append(sdk_cpu(FLOOD))
    yield compare("chat20k.cpu", "ms", ours, theirs)
