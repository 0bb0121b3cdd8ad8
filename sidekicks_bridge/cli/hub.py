"""`sidekicks hub`: an owner without an editor, which outlives windows; and how others start one, detached.

Importing this must stay cheap: the command line and `serve` start hubs from here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sidekicks_bridge import ownership, paths
from sidekicks_bridge.private_files import private_file, private_folder

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
    from sidekicks_bridge.cli.serve import prepare_config, start_logging

    path = chosen_config(given.config)
    if (missing := prepare_config(path, explicit=given.config is not None)) is not None:
        print(f"sidekicks hub: {missing}", file=sys.stderr)
        return 1
    try:
        claimed = ownership.claim(path, patience=0)
    except (ownership.OtherVersion, PermissionError) as refusal:
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

    return anyio.run(Owner(path, claimed.held).serve_hub, given.idle)


def chosen_config(given: str | None) -> Path:
    """The configuration for the command line: --config, $SIDEKICKS_CONFIG, this folder's, the user's."""
    from sidekicks_bridge.cli.serve import choose_config

    folder = Path.cwd().as_uri()
    options = {"sidekicks": {"workspaceTrusted": True}}
    message = {"params": {"workspaceFolders": [{"uri": folder}], "initializationOptions": options}}
    return choose_config(given, message, os.environ)


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
            [sys.executable, "-m", "sidekicks_bridge", "hub", "--config", str(config_path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=folder,
            env=_environment(),
        )
    finally:
        os.close(log)


def _environment() -> dict[str, str]:
    """Ours, so that agents find their keys; the package is found from another folder too."""
    root = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{inherited}" if inherited else root}
