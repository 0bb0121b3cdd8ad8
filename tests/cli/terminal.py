"""A real pseudo-terminal of a given size with a process in it, read through pyte as a person would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LIMIT = 40.0
"""Seconds after which what a test waits for counts as not happening."""

KEYS = {
    "enter": "\r",
    "alt-enter": "\x1b\r",
    "tab": "\t",
    "esc": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pageup": "\x1b[5~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    **{f"ctrl-{letter}": chr(ord(letter) - 96) for letter in "cdfgjlnoqt"},
}


class Terminal:
    """A process on a pseudo-terminal. ``text()`` is the scrollback and the screen, as shown."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: dict[str, str], columns: int = 100, rows: int = 24) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=1.0)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        self.raw = bytearray()
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=env, start_new_session=True, close_fds=True
        )
        os.close(slave)

    def resize(self, columns: int, rows: int) -> None:
        """Another size, as when a person drags the window."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)
        if hasattr(self, "process"):
            os.killpg(self.process.pid, signal.SIGWINCH)

    def type(self, text: str) -> None:
        """Write keys: the text as it is."""
        os.write(self._master, text.encode())

    def key(self, name: str) -> None:
        """Press one named key, in a read of its own."""
        self.type(KEYS[name])

    def send(self, text: str) -> None:
        """Type a message, press Enter after it has arrived on the screen, see the composer empty."""
        self.type(text)
        self.wait_for(text[-6:])
        self.key("enter")
        self.wait_for("F1 keys")

    def text(self) -> str:
        """Everything shown so far: what has scrolled away and what stands on the screen."""
        above = ["".join(row[at].data for at in range(self.screen.columns)).rstrip() for row in self.screen.history.top]
        return "\n".join([*above, self.on_screen()])

    def on_screen(self) -> str:
        """The rows of the screen."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    def wait_for(self, what: str | Callable[[str], bool], *, screen: bool = True) -> str:
        """Read until ``what`` stands on the screen (or in all text); fails at once if the process has ended."""

        def seen() -> bool:
            shown = self.on_screen() if screen else self.text()
            return what in shown if isinstance(what, str) else what(shown)

        deadline = time.monotonic() + LIMIT
        while not seen():
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{what!r} never came; the terminal shows:\n{self.text()}")
        return self.text()

    def wait_for_end(self) -> int:
        """Read until the process has ended; answers its exit code."""
        deadline = time.monotonic() + LIMIT
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def wait_a_moment(self, seconds: float) -> None:
        """Let so much time pass: for what is about time itself, like a key that does nothing for half a second."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)

    def children(self) -> list[int]:
        """The processes that the one in the terminal has started and that still run."""
        found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        pairs = [tuple(map(int, line.split())) for line in found.splitlines()]
        return [pid for pid, parent in pairs if parent == self.process.pid]

    def kill_children(self, how: signal.Signals) -> None:
        """Signal them."""
        for pid in self.children():
            os.kill(pid, how)

    def close(self) -> None:
        """End the process, if it still runs, and the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        """Read what is there, waiting so long; False when nothing will come any more."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: the last process has closed the terminal
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)


def with_peer(verb: str, *arguments: str, peer: Sequence[str] = ()) -> list[str]:
    """The command line of the real client, connected to the scripted peer."""
    program = (
        "import sys\n"
        f"from sidekicks_bridge.cli.{verb} import main\n"
        f"sys.exit(main({list(arguments)!r}, command=[sys.executable, '-m', 'tests.cli.peer', *{list(peer)!r}]))"
    )
    return [sys.executable, "-c", program]
