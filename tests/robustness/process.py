"""What the system says of processes: alive or not, how much memory, which ones carry an agent's mark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterable


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits for its parent to notice does not."""
    state = _asked(pid, "stat")
    return state != "" and not state.startswith("Z")


def memory(pid: int) -> int:
    """The resident memory of a process in bytes."""
    return int(_asked(pid, "rss")) * 1024


def _asked(pid: int, field: str) -> str:
    found = subprocess.run(["ps", "-o", f"{field}=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def started_for(folder: Path) -> list[int]:
    """Every living process that inherited a fake agent's variables from a bridge in ``folder``: the agent, what it
    started, and what that started. Only Linux tells; elsewhere nothing.
    """
    wanted = f"FAKE_AGENT_LOG={folder}/".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has just ended, or is another user's
        if any(variable.startswith(wanted) for variable in variables) and alive(int(entry.name)):
            found.append(int(entry.name))
    return found


async def gone(pids: Iterable[int], seconds: float = 5.0) -> None:
    """Wait for the end of processes that need not be our children; fails after ``seconds``."""
    with anyio.move_on_after(seconds):
        for pid in pids:
            await _end_of(pid)
        return
    left = {pid: _asked(pid, "args") for pid in pids if alive(pid)}
    raise AssertionError(f"Still running after {seconds:g} s: {left}")


async def _end_of(pid: int) -> None:
    if sys.platform != "linux":
        while alive(pid):
            await anyio.lowlevel.checkpoint()
        return
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(handle)
    finally:
        os.close(handle)
