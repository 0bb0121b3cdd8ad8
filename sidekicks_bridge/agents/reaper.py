"""The reaper: a tiny process that outlives the bridge just long enough to end what the bridge had started.

It reads lines on its standard input and, when the pipe closes (also when the bridge was killed with -9), kills every
process group it still knows, and on Linux whatever left its group but carries ``SIDEKICKS_AGENT=<id>`` in its
environment. This file is both the program (``python -I -S reaper.py``) and the bridge's handle on it, so it imports
nothing but the standard library and must not import the package.

Lines: ``expect <id>`` before a process is started, ``add <id> <pid> <start time>`` when it runs (the pid is also the
process group), ``del <id>`` when it has ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "SIDEKICKS_AGENT"
_UNKNOWN = "-"
_BIRTH_SECONDS = 0.3


class Reaper:
    """The bridge's end of the pipe. The process starts with the first `expect`; a failure to start is harmless."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, str] = {}

    def expect(self, mark: str) -> None:
        """A process marked ``mark`` is about to start: have it killed even if the bridge goes before `add`."""
        self._known[mark] = f"expect {mark}\n"
        self._tell(self._known[mark])

    def add(self, mark: str, pid: int) -> None:
        """It runs: have the group ``pid`` and everything marked ``mark`` killed if the bridge goes."""
        self._known[mark] = f"add {mark} {pid} {start_time(pid)}\n"
        self._tell(self._known[mark])

    def remove(self, mark: str) -> None:
        """Forget it: it has ended, or could not be started."""
        self._known.pop(mark, None)
        if self._process is not None:
            self._tell(f"del {mark}\n")

    def close(self) -> None:
        """Let go: the reaper kills what it still knows and ends. Blocks for at most half a second."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.close()
            process.wait(0.5)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()

    def _tell(self, line: str) -> None:
        if sys.platform == "win32":
            return
        try:
            if self._process is None or self._process.poll() is not None:
                self.close()
                self._process = _start()
                line = "".join(self._known.values())
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode())
        except OSError:
            # Without it agents outlive a killed bridge; that must not keep them from starting.
            return


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=os.sep,
        start_new_session=True,
    )


def start_time(pid: int) -> str:
    """When the process ``pid`` started, as an opaque word without blanks; ``-`` if there is none."""
    if sys.platform == "linux":
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            return _UNKNOWN
        return stat.rpartition(b")")[2].split()[19].decode()
    found = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False)
    return found.stdout.decode("ascii", "replace").strip().replace(" ", "_") or _UNKNOWN


def kill_group(pid: int, started: str) -> None:
    """Kill the process group ``pid``, unless its number now belongs to a process that started at another time."""
    now = start_time(pid)
    if _UNKNOWN not in (now, started) and now != started:
        return
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return


def kill_marked(marks: set[str]) -> None:
    """Kill every process with ``SIDEKICKS_AGENT`` set to one of ``marks`` (Linux; elsewhere nothing). Blocks."""
    if sys.platform != "linux" or not marks:
        return
    wanted = {f"{MARK}={mark}".encode() for mark in marks}
    for _ in range(5):  # again, for what was forked meanwhile
        found = _marked(wanted)
        for pid in found:
            _kill(pid)
        if not found:
            return


def _marked(wanted: set[bytes]) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes()
        except OSError:
            continue
        if not wanted.isdisjoint(environment.split(b"\0")):
            found.append(int(entry.name))
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def main() -> None:
    """Listen until the pipe closes, then kill what is still known."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    known: dict[str, tuple[int, str] | None] = {}
    for line in sys.stdin.buffer:
        match line.decode("ascii", "replace").split():
            case ["expect", mark]:
                known[mark] = None
            case ["add", mark, pid, started]:
                known[mark] = (int(pid), started)
            case ["del", mark]:
                known.pop(mark, None)
    for group in known.values():
        if group is not None:
            kill_group(*group)
    kill_marked(set(known))
    if None in known.values():  # a process between its birth and its own environment carries no mark yet
        time.sleep(_BIRTH_SECONDS)
        kill_marked(set(known))


if __name__ == "__main__":
    main()
