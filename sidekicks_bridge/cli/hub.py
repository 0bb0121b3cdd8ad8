"""`sidekicks hub`: an owner without an editor, which outlives windows; and how others start one, detached.

Importing this must stay cheap: the command line and `serve` start hubs from here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sidekicks_bridge import ownership, paths
from sidekicks_bridge.cli.program import own_program
from sidekicks_bridge.config.locate import ensure, locate
from sidekicks_bridge.private_files import private_file, private_folder
from sidekicks_bridge.protocol.errors import SidekicksError

IDLE_SECONDS = 60.0
USAGE = """usage: sidekicks hub [--config FILE] [--idle SECONDS] [--log-level LEVEL]

Own the configuration's history and agents without an editor. Ends when no client was attached and nothing ran for
SECONDS (60). Started on demand by the command line, and by editors with `ui.keepRunning: true`.
"""


def main(argv: list[str]) -> int:
    """Run a hub in this process. 0 at its end, also when a bridge already runs."""
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="sidekicks hub", usage=USAGE.partition("\n")[0].removeprefix("usage: "))
    parser.add_argument("--config", metavar="FILE")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, metavar="SECONDS")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    try:
        given = parser.parse_args(argv)
    except SystemExit as leaving:
        return 64 if leaving.code else 0
    from sidekicks_bridge.cli.serve import start_logging

    try:
        location = locate(given.config, trusted_workspace=Path.cwd())
        ensure(location)
        claimed = ownership.claim(location.path, patience=0)
    except (SidekicksError, ownership.OtherVersion, PermissionError) as refusal:
        print(f"sidekicks hub: {refusal}", file=sys.stderr)
        return 1
    if claimed.connection is not None:
        claimed.connection.close()
        print("sidekicks hub: a bridge already runs for this configuration", file=sys.stderr)
        return 0
    if claimed.held is None:
        print(f"sidekicks hub: {claimed.reason}", file=sys.stderr)
        return 1
    start_logging(given.log_level)
    import anyio

    from sidekicks_bridge.server.owner import Owner

    return anyio.run(Owner(location.path, claimed.held).serve_hub, given.idle)


def start_hub(config_path: Path) -> None:
    """Start a hub for the configuration, detached from this process and its terminal, unless a bridge runs."""
    if ownership.running(config_path) is not None:
        return
    import subprocess

    folder = paths.data_dir(config_path)
    private_folder(folder)
    log = private_file(folder / "hub.log")
    try:
        subprocess.Popen(
            own_program("hub", "--config", str(config_path)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=folder,
        )
    finally:
        os.close(log)
