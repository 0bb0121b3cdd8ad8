"""`sidekicks data`: the histories that lie on this machine, and `data adopt` for a configuration that has moved."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from sidekicks_bridge import paths
from sidekicks_bridge.cli.exit_codes import FAILED, OK, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import counted, safe, use_utf8
from sidekicks_bridge.protocol.errors import SidekicksError


def main(argv: list[str]) -> int:
    """Run `sidekicks data` with ``argv``. 0: done; 1: refused; 64: wrong usage."""
    given = _arguments(use_utf8(argv))
    if isinstance(given, int):
        return given
    try:
        return _adopt(given) if given.verb == "adopt" else _list(given)
    except SidekicksError as refusal:
        print(f"sidekicks data: {safe(refusal.message)}", file=sys.stderr)
        return FAILED


def _arguments(argv: list[str]) -> Namespace | int:
    parser = ArgumentParser(
        prog="sidekicks data",
        description="List the histories on this machine. A configuration that is moved or renamed begins a new one; "
        "`sidekicks data adopt FOLDER` gives it its old one back.",
    )
    parser.add_argument("verb", nargs="?", choices=["adopt"], help="take a history over for the configuration")
    parser.add_argument("folder", nargs="?", type=Path, help="the history's folder, or the name of it")
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    parser.add_argument("--json", action="store_true", help="list as JSON")
    try:
        given = parser.parse_args(argv)
        if given.verb == "adopt" and given.folder is None:
            parser.error("adopt needs the folder of a history; `sidekicks data` lists them all")
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    return given


def _list(given: Namespace) -> int:
    from sidekicks_bridge.cli.doctor_checks import size
    from sidekicks_bridge.store.histories import histories

    here = str(paths.data_dir(located(given.config).path))
    found = histories(Path(here).parent)
    if given.json:
        from sidekicks_bridge.protocol.base import encode

        print(encode(found).decode())
        return OK
    for one in found:
        whose = "  (in use here)" if one.folder == here else "  (that file is gone)" if one.orphan else ""
        held = "unreadable" if one.messages is None else counted(one.messages, "message")
        print(f"{safe(one.folder)}\n  {held}, {size(one.bytes)}, of {safe(one.config_path)}{whose}")
    return OK


def _adopt(given: Namespace) -> int:
    from sidekicks_bridge.store.histories import adopt

    config = located(given.config).path
    data = paths.data_dir(config).parent
    folder = given.folder if given.folder.is_dir() else data / given.folder
    aside = adopt(folder.absolute(), config)
    print(f"{safe(str(folder))} is now the history of {safe(str(config))}.")
    if aside is not None:
        print(f"What it had before is kept in {safe(str(aside))}.")
    return OK
