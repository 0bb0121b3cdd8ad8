"""The configuration that a command means where it is run, and `sidekicks trust`.

A folder's own configuration is read only if the user trusts the folder: else `cd` into somebody's repository would be
enough to run its programs. Light: every command passes here, the mail verbs too; `pathlib` is left until it is needed.
"""

from __future__ import annotations

import os
import sys

from sidekicks_bridge.cli.exit_codes import FAILED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.config.locate import WORKSPACE_FILE, Location, locate

_NOT_KEPT = "sidekicks trust: that cannot be kept"
_passed_over: set[str] = set()
"""What was said once, however often a command looks."""


def located(config: str | None) -> Location:
    """The configuration: ``--config``, else by the rules; says so where the folder's own one is passed over."""
    location = locate(config, trusted_workspace=os.getcwd())
    if location.origin != "workspace" or trusted_here():
        return location
    _pass_over(location.place)
    return locate(config)


def _pass_over(place: str) -> None:
    if place in _passed_over:
        return
    _passed_over.add(place)
    from sidekicks_bridge.cli.text import safe

    print(
        f"sidekicks: {safe(place)} is not used: it can start any program, and you have not trusted this folder. "
        "Look at it, then run `sidekicks trust`.",
        file=sys.stderr,
    )


def trusted_here() -> bool:
    """Whether the user trusts the current folder."""
    from pathlib import Path

    from sidekicks_bridge.config.trust import is_trusted

    return is_trusted(Path.cwd())


def offer_trust(config: str | None) -> None:
    """In a terminal: ask about a folder's own configuration before anything of it is read."""
    location = locate(config, trusted_workspace=os.getcwd())
    if location.origin != "workspace" or trusted_here():
        return
    from pathlib import Path

    from sidekicks_bridge.cli.text import safe
    from sidekicks_bridge.config.trust import set_trust

    print(f"This folder has a configuration of its own, {safe(location.place)}.\nIt can start any program.")
    try:
        answer = input("Use it, now and later? [y/N] ")
    except EOFError:
        return
    if answer.strip().lower() in ("y", "yes"):
        try:
            set_trust(Path.cwd(), trusted=True)
        except OSError as problem:
            print(f"{_NOT_KEPT}: {problem}", file=sys.stderr)


def main(argv: list[str]) -> int:
    """Run `sidekicks trust`. 0: done; 1: it cannot be kept; 5: no such folder; 64: wrong usage."""
    from argparse import ArgumentParser
    from pathlib import Path

    from sidekicks_bridge.config.trust import set_trust, trusted_folders

    parser = ArgumentParser(
        prog="sidekicks trust",
        description=f"Read a folder's own {WORKSPACE_FILE}, which can start any program, when a command runs there.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="the folder (the current one)")
    parser.add_argument("--revoke", action="store_true", help="trust it no longer")
    parser.add_argument("--list", action="store_true", help="list the folders you trust")
    try:
        given = parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    if given.list:
        from sidekicks_bridge.cli.text import safe

        print("".join(f"{safe(folder)}\n" for folder in trusted_folders()), end="")
        return OK
    if not given.revoke and not given.folder.is_dir():
        print(f"sidekicks trust: there is no folder {given.folder}", file=sys.stderr)
        return NOT_FOUND
    try:
        set_trust(given.folder, trusted=not given.revoke)
    except OSError as problem:
        print(f"{_NOT_KEPT}: {problem}", file=sys.stderr)
        return FAILED
    from sidekicks_bridge.cli.text import safe

    folder = safe(str(given.folder.absolute()))
    print(f"No longer trusted: {folder}" if given.revoke else f"Now trusted: {folder}")
    return OK
