"""Runs the search worker for `/find`: reads what it finds, kills it at a cancel or when it takes too long."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sidekicks_bridge.builtin import find_worker

if TYPE_CHECKING:
    from sidekicks_bridge.builtin.files import Workspace
    from sidekicks_bridge.builtin.turn import Turn

MAX_SHOWN = 60
TIME_LIMIT = 20  # seconds


class Hit(NamedTuple):
    """A line that matches: where it is (line from 1) and what it says."""

    path: str
    line: int
    text: str


class Found(NamedTuple):
    """The first matches; the counts are of all, and None where the time limit ended the search."""

    hits: list[Hit]
    matches: int | None
    files: int | None
    searched: int | None


def find(workspace: Workspace, pattern: str, paths: list[str], turn: Turn) -> Found:
    """Search the given files line by line; raise TurnCancelledError at a cancel."""
    request = {
        "root": workspace.root,
        "pattern": pattern,
        "paths": paths,
        "shown": MAX_SHOWN,
        "seconds": TIME_LIMIT + 5,
    }
    late = threading.Event()
    with subprocess.Popen(
        [sys.executable, "-P", find_worker.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:

        def give_up() -> None:
            late.set()
            worker.kill()

        limit = threading.Timer(TIME_LIMIT, give_up)
        limit.start()
        turn.when_cancelled(worker.kill)
        try:
            found = _read(worker, json.dumps(request).encode())
        finally:
            turn.when_cancelled(None)
            limit.cancel()
            worker.kill()
    turn.check()
    if found.matches is None and not late.is_set():
        raise RuntimeError(f"the search process ended with status {worker.returncode}; its reason is in the log")
    return found


def _read(worker: subprocess.Popen[bytes], request: bytes) -> Found:
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(BrokenPipeError):  # killed before it read: the output below is empty
        worker.stdin.write(request)
    with suppress(BrokenPipeError):
        worker.stdin.close()
    hits: list[Hit] = []
    for line in worker.stdout:
        if not line.endswith(b"\n"):
            break  # killed while it wrote
        frame = json.loads(line)
        if isinstance(frame, dict):
            return Found(hits, frame["matches"], frame["files"], frame["searched"])
        hits.append(Hit(*frame))
    return Found(hits, None, None, None)
