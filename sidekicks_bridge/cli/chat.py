"""`sidekicks chat ['#general'|@scout]`: arguments, then the terminal client or, without a terminal, plain lines."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli.attach import connection
from sidekicks_bridge.cli.channel_ref import UnknownChannel
from sidekicks_bridge.cli.client import BridgeError, BridgeGone
from sidekicks_bridge.cli.exit_codes import BRIDGE_GONE, FAILED, HELP, INTERRUPTED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.cli.here import offer_trust
from sidekicks_bridge.cli.text import use_utf8
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.cli.client import BridgeClient

_HISTORY = 50


def main(argv: list[str], *, command: Sequence[str] | None = None) -> int:
    """Run `sidekicks chat` with ``argv``; ``command`` starts another bridge than our own. Answers the exit code."""
    arguments = _arguments(use_utf8(argv))
    if isinstance(arguments, int):
        return arguments
    talk = _on_screen if _has_screen() else _plainly
    try:
        if talk is _on_screen:
            offer_trust(arguments.config)
        return anyio.run(talk, arguments, command)
    except BridgeGone as gone:
        print(f"sidekicks chat: {gone}", file=sys.stderr)
        return BRIDGE_GONE
    except UnknownChannel as unknown:
        print(f"sidekicks chat: {unknown}", file=sys.stderr)
        return NOT_FOUND
    except SidekicksError as wrong:
        print(f"sidekicks chat: {wrong.message}", file=sys.stderr)
        return FAILED
    except BridgeError as refused:
        print(f"sidekicks chat: {refused.message}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _arguments(argv: list[str]) -> Namespace | int:
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    parser = ArgumentParser(
        prog="sidekicks chat",
        description="Talk in a channel. Without a terminal: every line of stdin is a message, answers are plain text.",
        epilog=HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("channel", nargs="?", help="'#general', or @scout for a direct conversation")
    parser.add_argument("--history", type=int, default=_HISTORY, metavar="N", help="earlier messages to show (50)")
    parser.add_argument(
        "--allow",
        choices=("once", "never"),
        default="never",
        help="without a terminal: what to answer when an agent asks for permission (default: never)",
    )
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    arguments.history = min(max(arguments.history, 1), 500)
    return arguments


def _has_screen() -> bool:
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "dumb") != "dumb"


async def _plainly(arguments: Namespace, command: Sequence[str] | None) -> int:
    from sidekicks_bridge.cli.plain import talk_plainly

    return await talk_plainly(command, arguments.config, arguments.channel, allow=arguments.allow == "once")


async def _on_screen(arguments: Namespace, command: Sequence[str] | None) -> int:
    folder = str(Path.cwd())
    apps: list[ChatApp] = []

    def on_event(name: str, raw: bytes) -> None:
        if apps:  # what comes before is in the state that the app asks for first
            apps[0].event(name, raw)

    def connect(meanwhile: Callable[[], None] = lambda: None) -> AbstractAsyncContextManager[BridgeClient]:
        return connection(command, arguments.config, on_event, folder=folder, meanwhile=meanwhile)

    async with connect(_load_screen) as client:
        from sidekicks_bridge.cli.chat_app import ChatApp
        from sidekicks_bridge.cli.chat_attachment import Attachment
        from sidekicks_bridge.cli.chat_model import ChatModel

        app = ChatApp(Attachment(client, connect), ChatModel(folder, 80), arguments.history)
        apps.append(app)
        await app.run(arguments.channel)
    return OK


def _load_screen() -> None:
    import_module("sidekicks_bridge.cli.chat_app")
