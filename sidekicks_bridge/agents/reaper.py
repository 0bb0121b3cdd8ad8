"""The reaper: a tiny process that outlives the bridge just long enough to end what the bridge had started.

It reads lines on its standard input and, when the pipe closes (also when the bridge was killed with -9), kills every
process group it still knows, and on Linux whatever left its group but carries ``SIDEKICKS_AGENT=<id>`` in its
environment. This file is both the program (``python -I -S reaper.py``) and the bridge's handle on it, so it imports
nothing but the standard library and must not import the package.

Lines: ``add <pid> <start time> <id>`` (the pid is also the process group) and ``del <pid>``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

MARK = "SIDEKICKS_AGENT"
_UNKNOWN = "-"


class Reaper:
    """The bridge's end of the pipe. The process starts with the first `add`; a failure to start is harmless."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[int, str] = {}

    def add(self, pid: int, mark: str) -> None:
        """Have the group ``pid`` and everything marked ``mark`` killed if the bridge goes."""
        self._known[pid] = f"add {pid} {start_time(pid)} {mark}\n"
        self._tell(self._known[pid])

    def remove(self, pid: int) -> None:
        """Forget the group ``pid``: it has ended."""
        self._known.pop(pid, None)
        if self._process is not None:
            self._tell(f"del {pid}\n")

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
    known: dict[int, tuple[str, str]] = {}
    for line in sys.stdin.buffer:
        match line.decode("ascii", "replace").split():
            case ["add", pid, started, mark]:
                known[int(pid)] = (started, mark)
            case ["del", pid]:
                known.pop(int(pid), None)
    for pid, (started, _) in known.items():
        kill_group(pid, started)
    kill_marked({mark for _, mark in known.values()})


if __name__ == "__main__":
    main()
