"""`sidekicks say '#general' 'text'`: one message, its answers on stdout, then the exit code tells how it went.

Made for scripts: answers on stdout, everything else on stderr. Where a channel has no root yet, agents work in the
folder it is called in, but it never sets a root (design rule 13), and without `--allow once` it rejects what agents
ask permission for.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli.attach import connection
from sidekicks_bridge.cli.attached import NoFileError, attached
from sidekicks_bridge.cli.channel_ref import UnknownChannel, find_channel, slug
from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.config import check_usable
from sidekicks_bridge.cli.exit_codes import (
    BRIDGE_GONE,
    FAILED,
    HELP,
    INTERRUPTED,
    NOBODY,
    NOT_FOUND,
    OK,
    QUOTE,
    USAGE,
)
from sidekicks_bridge.cli.listener import Exchange, PlainListener
from sidekicks_bridge.cli.text import safe, use_utf8
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.requests import Empty, MarkRead, OpenChannel, OpenedChannel, SendMessage, SentMessage
from sidekicks_bridge.protocol.requests import State as BridgeState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from sidekicks_bridge.protocol.types import Attachment, Channel


def main(argv: list[str], *, command: Sequence[str] | None = None) -> int:
    """Run `sidekicks say` with ``argv``; ``command`` starts another bridge than our own. Answers the exit code."""
    arguments = _arguments(use_utf8(argv))
    if isinstance(arguments, int):
        return arguments
    text = sys.stdin.read() if arguments.text == ["-"] else " ".join(arguments.text)
    if not text.strip():
        print("sidekicks say: there is nothing to say; give a text, or `-` to read it from stdin.", file=sys.stderr)
        return USAGE
    try:
        files = [attached(name, str(Path.cwd())) for name in arguments.attach]
        return anyio.run(_run, arguments, text, files, command)
    except NoFileError as missing:
        print(f"sidekicks say: {missing}", file=sys.stderr)
        return USAGE
    except BridgeGone as gone:
        print(f"sidekicks say: {gone}", file=sys.stderr)
        return BRIDGE_GONE
    except UnknownChannel as unknown:
        print(f"sidekicks say: {unknown}", file=sys.stderr)
        return NOT_FOUND
    except SidekicksError as wrong:
        print(f"sidekicks say: {wrong.message}", file=sys.stderr)
        return FAILED
    except BridgeError as refused:
        print(f"sidekicks say: {refused.message}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return FAILED


def _arguments(argv: list[str]) -> Namespace | int:
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    parser = ArgumentParser(
        prog="sidekicks say",
        description="Send one message to a channel and print the answers.",
        epilog=HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("channel", nargs="?", help="'#general', or '@scout' for a direct conversation")
    parser.add_argument("text", nargs="*", help="the message, in one or several words; - reads it from stdin")
    parser.add_argument(
        "--allow",
        choices=("once", "never"),
        default="never",
        help="what to answer when an agent asks for permission (default: never)",
    )
    parser.add_argument(
        "--attach", action="append", default=[], metavar="FILE", help="send this file too (again: more)"
    )
    parser.add_argument("--json", action="store_true", help="print the channel's events, one JSON object a line")
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    try:
        given = parser.parse_intermixed_args(argv)
        if given.channel is None or not given.text:
            what = "a channel and a text are" if given.channel is None else "a text is"
            parser.error(f"{what} needed: sidekicks say '#general' 'hello'. {QUOTE}")
        return given
    except SystemExit as leaving:
        return USAGE if leaving.code else OK


async def _run(arguments: Namespace, text: str, files: list[Attachment], command: Sequence[str] | None) -> int:
    listener = PlainListener(allow=arguments.allow == "once", json=arguments.json)
    async with connection(command, arguments.config, listener.on_event, folder=str(Path.cwd())) as client:
        state = await client.request("sidekicks/state/get", Empty(), BridgeState)
        check_usable(state)
        listener.know(state)
        tell_not_kept(state)
        channel = await find_channel(client, state, arguments.channel)
        return await _talk(client, listener, channel, text, files)


async def _talk(
    client: BridgeClient, listener: PlainListener, channel: Channel, text: str, files: list[Attachment]
) -> int:
    asked = OpenChannel(channel_id=channel.id, limit=1, keep_root=True)
    opened = await client.request("sidekicks/channel/open", asked, OpenedChannel, listener.opened)
    tell_other_root(opened)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, client)
        tasks.start_soon(listener.waiting.run)
        interrupt = Interrupt(client, listener)
        tasks.start_soon(interrupt.watch)
        exchange = await send(client, listener, channel.id, text, files)
        tasks.cancel_scope.cancel()
    return INTERRUPTED if interrupt.seen else outcome(exchange)


def tell_not_kept(state: BridgeState) -> None:
    """Say on stderr that history is not being kept, and why (design rule 9)."""
    if not state.storage.persistent:
        reason = safe(state.storage.reason or "it is in memory")
        print(f"sidekicks: history is not kept: {reason}", file=sys.stderr, flush=True)


def tell_other_root(opened: OpenedChannel) -> None:
    """Say on stderr that the channel works in another folder than this one."""
    if opened.other_root is not None:
        where = f"{slug(opened.channel)} works in {safe(opened.other_root)}, not in this folder"
        print(f"sidekicks: {where}", file=sys.stderr, flush=True)


async def send(
    client: BridgeClient, listener: PlainListener, channel_id: str, text: str, files: Sequence[Attachment] = ()
) -> Exchange:
    """Send ``text`` with ``files``, wait until everybody asked has answered. What was printed counts as read."""
    exchange = listener.expect(channel_id)
    message = SendMessage(channel_id=channel_id, text=text, attachments=list(files))
    await client.request("sidekicks/message/send", message, SentMessage, listener.sent)
    await listener.settled(client)
    if seq := listener.read_up_to():
        await client.request("sidekicks/channel/markRead", MarkRead(channel_id=channel_id, seq=seq), Empty)
    return exchange


def outcome(exchange: Exchange) -> int:
    """The exit code for one message and its answers; says on stderr why nobody answered, if nothing else did."""
    if exchange.failed:
        return FAILED
    if exchange.answered:
        return OK
    if not exchange.explained:
        print(f"sidekicks: {exchange.why_nobody()}", file=sys.stderr)
    return NOBODY


class Interrupt:
    """Ctrl-C (or SIGTERM, SIGHUP) cancels what we asked for and nothing else; a second one leaves at once."""

    def __init__(self, client: BridgeClient, listener: PlainListener) -> None:
        self._client = client
        self._listener = listener
        self.seen = False

    async def watch(self) -> None:
        """Wait for the signals; to run beside the exchange."""
        if sys.platform == "win32":
            return  # no such signals: Ctrl-C is Python's own
        async with anyio.create_task_group() as tasks:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
                async for _ in signals:
                    if self.seen or not self._listener.busy:
                        raise KeyboardInterrupt
                    self.seen = True
                    tasks.start_soon(self._listener.cancel, self._client)
