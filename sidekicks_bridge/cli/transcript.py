"""`sidekicks verify` and `sidekicks transcript`: the git repository of mail, looked at and written anew."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from sidekicks_bridge import paths
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.mail.transcript.verify import Verified

OK, FAILED, NOT_FOUND, USAGE = 0, 1, 5, 64


def verify(argv: list[str]) -> int:
    """Report what was changed, moved or is missing. 0: all is as it was written; 1: something is not."""
    parser = ArgumentParser(
        prog="sidekicks verify", description="Prove who wrote what: the transcript against the log."
    )
    parser.add_argument("name", nargs="?", help="only a peer, a pair (a--b) or a room")
    given = _parse(parser, argv)
    if isinstance(given, int):
        return given
    import anyio

    try:
        found = anyio.run(_verify, located(given.config).path, given.name)
    except SidekicksError as problem:
        print(f"sidekicks verify: {problem.message}", file=sys.stderr)
        return FAILED
    if found is None:
        print(f"sidekicks verify: nothing named {given.name or 'so'} is in the transcript.", file=sys.stderr)
        return NOT_FOUND
    _show(found, given.json)
    return FAILED if found.findings else OK


async def _verify(config_path: Path, name: str | None) -> Verified | None:
    from sidekicks_bridge.mail.transcript.verify import Verified, verify
    from sidekicks_bridge.store.open import open_history

    store = await open_history(config_path)
    if store is None:
        return None if name is not None else Verified(0, [])
    try:
        return await verify(store, paths.data_dir(config_path), name)
    finally:
        await store.close()


def _show(found: Verified, as_json: bool) -> None:
    if as_json:
        from sidekicks_bridge.protocol.base import encode

        print(encode(found).decode())
        return
    for finding in found.findings:
        print(f"{finding.path}: {finding.what}: {finding.text}")
    wrong = len(found.findings)
    waiting = f"; {found.waiting} not in the transcript yet" if found.waiting else ""
    print(f"{found.messages} messages, {'all as they were written' if not wrong else f'{wrong} findings'}{waiting}")


def transcript(argv: list[str]) -> int:
    """Say where the transcript lies, or write it anew without what was deleted."""
    parser = ArgumentParser(prog="sidekicks transcript", description="The git repository of mail.")
    parser.add_argument("what", choices=["path", "purge"], help="print where it lies, or throw its commits away")
    parser.add_argument("--yes", action="store_true", help="purge: do it, every commit is lost")
    given = _parse(parser, argv)
    if isinstance(given, int):
        return given
    location = located(given.config)
    folder = paths.data_dir(location.path) / "transcript"
    if given.what == "path":
        print(folder)
        return OK
    if not given.yes:
        print(
            f"sidekicks transcript: purging throws away every commit in {folder} and writes it anew, without what was "
            "deleted. Say --yes to do it.",
            file=sys.stderr,
        )
        return USAGE
    from sidekicks_bridge.cli.mail_socket import Gone, Refused, ask_owner
    from sidekicks_bridge.cli.reach import BridgeGone

    try:
        ensure(location)
        ask_owner(location.place, "sidekicks/mail/purge", lambda: {"confirm": "transcript"})
    except (BridgeGone, Gone, Refused, SidekicksError) as problem:
        print(f"sidekicks transcript: {problem}", file=sys.stderr)
        return FAILED
    return OK


def _parse(parser: ArgumentParser, argv: list[str]) -> Namespace | int:
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        return parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
