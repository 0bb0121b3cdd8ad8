"""`sidekicks hub`: an owner without an editor, which outlives windows; and how others start one, detached.

Importing this must stay cheap: the command line and `serve` start hubs from here.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from sidekicks_bridge import ownership, paths
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.program import own_program
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.private_files import private_file, private_folder
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

IDLE_SECONDS = 60.0
LOG_BYTES = 1 << 20
"""A log that has grown so big is begun anew by the next hub."""
_START_SECONDS = 30.0
_DESCRIPTION = """
Own the configuration's history and agents without an editor. Started on demand by the command line, and by editors
with `ui.keepRunning: true`. Ends when no client was attached and nothing ran or waited for a while; an open permission
question waits.
"""


class HubFailed(Exception):
    """No hub came up; the message says why, or where that is written."""


def main(argv: list[str]) -> int:
    """Run a hub in this process. 0 at its end, also when a bridge already runs; 1: it cannot; 64: wrong usage."""
    given = _arguments(argv)
    if isinstance(given, int):
        return given
    try:
        location = located(given.config)
        ensure(location)
        ready = _detach(location.path) if given.detach else _nothing
        return _own(location.path, given, ready)
    except (SidekicksError, ownership.OtherVersion, HubFailed, OSError) as refusal:
        print(f"sidekicks hub: {refusal}", file=sys.stderr)
        return 1


def _arguments(argv: list[str]) -> Namespace | int:
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="sidekicks hub", description=_DESCRIPTION)
    parser.add_argument("--config", metavar="FILE", help="this configuration and no other")
    parser.add_argument(
        "--idle", type=float, default=IDLE_SECONDS, metavar="SECONDS", help="how long it waits for clients or work (60)"
    )
    parser.add_argument("--detach", action="store_true", help="go on in the background once it can be attached to")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    try:
        return parser.parse_args(argv)
    except SystemExit as leaving:
        return 64 if leaving.code else 0


def _own(config_path: Path, given: Namespace, ready: Callable[[], None]) -> int:
    def stopped(_signal: int, _frame: FrameType | None) -> None:
        ready()
        os._exit(0)

    signal.signal(signal.SIGTERM, stopped)  # `sidekicks stop` finds the lock before the owner's loop runs
    claimed = ownership.claim(config_path)
    if claimed.connection is not None:
        claimed.connection.close()
        print("sidekicks hub: a bridge already runs for this configuration", file=sys.stderr)
        ready()
        return 0
    if claimed.held is None:
        print(f"sidekicks hub: {claimed.reason}", file=sys.stderr)
        return 1
    from sidekicks_bridge.cli.serve import end, start_logging

    start_logging(given.log_level)
    import anyio

    from sidekicks_bridge.server.owner import Owner

    code = anyio.run(Owner(config_path, claimed.held).serve_hub, given.idle, ready)
    if code == 0:
        ready()
    return end(code)


def _nothing() -> None:
    """Nobody waits to hear that the hub can be attached to."""


def log_path(config_path: Path) -> Path:
    """Where a detached hub writes what would go to standard error."""
    return paths.data_dir(config_path) / "hub.log"


def _detach(config_path: Path) -> Callable[[], None]:
    """Go on as a process of its own session, with a log instead of the standard streams it was given.

    Returns in the new process only: what to call once the hub can be attached to, or was stopped before: then the next
    one can be started. Whoever started this one sees it end at the first call, with 0; with 1 if the hub failed before.
    """
    folder = paths.data_dir(config_path)
    try:
        private_folder(folder)
        log = private_file(log_path(config_path), os.O_APPEND)
    except OSError as problem:
        raise HubFailed(ownership.unusable(folder, problem)) from problem
    read, write = os.pipe()
    if os.fork():
        os.close(write)
        os._exit(0 if os.read(read, 1) else 1)
    os.close(read)
    os.setsid()
    os.chdir(folder)
    if os.fstat(log).st_size > LOG_BYTES:
        os.ftruncate(log, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for given, own in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(given, own)
    os.close(log)
    os.close(nothing)

    told = False

    def ready() -> None:
        nonlocal told
        if not told:
            told = True
            os.write(write, b"1")
            os.close(write)

    return ready


def start_hub(config_path: Path) -> None:
    """Start a hub for the configuration, detached, unless a bridge runs; returns when one can be attached to.

    Raises HubFailed.
    """
    if ownership.running(config_path) is not None:
        return
    import subprocess

    command = own_program("hub", "--detach", "--config", str(config_path))
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise HubFailed(f"The bridge could not be started: {problem}") from problem
    if ended.returncode:
        told = ended.stderr.decode("utf-8", "replace").strip().removeprefix("sidekicks hub: ")
        raise HubFailed(f"The bridge could not be started: {told or f'{log_path(config_path)} says why.'}")
