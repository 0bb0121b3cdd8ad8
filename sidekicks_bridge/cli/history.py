"""`sidekicks channels|log|search|export`: history, read from disk with or without a running bridge."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.exit_codes import FAILED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.cli.text import safe
from sidekicks_bridge.config.locate import locate
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.bridge.export import Format
    from sidekicks_bridge.store.contract import Store, StoredChannel

LOG_LIMIT = 50
_PROGRESS_STEP = 1000


def channels(argv: list[str]) -> int:
    """List the channels: members, how many messages."""
    return _run(argv, _parser("channels", "List the channels and conversations."), _channels)


def log(argv: list[str]) -> int:
    """Print the last messages of a channel."""
    parser = _parser("log", "Print the last messages of a channel, as Markdown.")
    _add_channel(parser)
    parser.add_argument(
        "-n", "--limit", type=int, default=LOG_LIMIT, help=f"how many messages ({LOG_LIMIT}; at most 500)"
    )
    return _run(argv, parser, _log)


def search(argv: list[str]) -> int:
    """Print the messages that contain every given word, newest first."""
    parser = _parser("search", "Find messages that contain every word, newest first.")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--in", dest="channel", metavar="CHANNEL", help="only in '#name' or '@agent'")
    parser.add_argument("--by", dest="author", metavar="AUTHOR", help="only by an agent, or by `user`")
    parser.add_argument("-n", "--limit", type=int, default=LOG_LIMIT, help=f"how many hits ({LOG_LIMIT})")
    return _run(argv, parser, _search)


def export(argv: list[str]) -> int:
    """Write a channel's whole history to a file or to standard output."""
    parser = _parser("export", "Write a channel's whole history, as Markdown or (--json) as JSON lines.")
    _add_channel(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE (0600) instead of standard output")
    return _run(argv, parser, _export)


def _parser(verb: str, description: str) -> ArgumentParser:
    parser = ArgumentParser(prog=f"sidekicks {verb}", description=description)
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    return parser


def _add_channel(parser: ArgumentParser) -> None:
    parser.add_argument("channel", help="'#name' (quoted: the shell takes # for a comment), or '@agent'")


def _run(argv: list[str], parser: ArgumentParser, verb: Callable[[Store, Namespace], Awaitable[int]]) -> int:
    try:
        given = parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    import anyio

    try:
        return anyio.run(_with_history, given, verb)
    except SidekicksError as problem:
        print(f"{parser.prog}: {problem.message}", file=sys.stderr)
        return NOT_FOUND if problem.code == "channelNotFound" else FAILED
    except BrokenPipeError:
        sys.stdout = None  # whoever read it has enough: no complaint at exit
        return OK


async def _with_history(given: Namespace, verb: Callable[[Store, Namespace], Awaitable[int]]) -> int:
    from sidekicks_bridge.store.open import open_history

    path = locate(given.config, trusted_workspace=Path.cwd()).path
    store = await open_history(path)
    if store is None:
        print(f"There is no history for {path} yet.", file=sys.stderr)
        return OK
    try:
        return await verb(store, given)
    finally:
        await store.close()


def _title(channel: StoredChannel) -> str:
    if channel.kind == "pair":
        return "--".join(channel.peers)
    return f"@{channel.agent}" if channel.kind == "direct" else f"#{channel.name}"


async def _find(store: Store, wanted: str) -> StoredChannel:
    found = await store.channels()
    for channel in found:
        if fold(_title(channel)) in (fold(wanted), fold(f"#{wanted}")):
            return channel
    titles = ", ".join(_title(channel) for channel in found) or "none"
    raise SidekicksError("channelNotFound", f"There is no channel {wanted!r}. There is: {titles}.")


async def _channels(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.protocol.base import encode

    for channel in await store.channels():
        members = [member.name for member in await store.members(channel.id)]
        last = await store.last_seq(channel.id)
        if given.json:
            fields = {
                "id": channel.id,
                "title": _title(channel),
                "root": channel.root,
                "members": members,
                "lastSeq": last,
            }
            print(encode(fields).decode())
        else:
            print(
                f"{_title(channel)}\t{', '.join(members) or 'nobody'}\t{last} messages\t{channel.root or ''}".rstrip()
            )
    return OK


async def _log(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.bridge.export import rendered

    channel = await _find(store, given.channel)
    page = await store.page(channel.id, limit=max(1, min(given.limit, 500)))
    for message in page.messages:
        text = rendered(message, "json" if given.json else "markdown")
        sys.stdout.write(text if given.json else _shown(text))
    return OK


def _shown(text: str) -> str:
    """What agents wrote, harmless on a terminal; a file or pipe gets it as it is."""
    return "\n".join(safe(line) for line in text.split("\n")) if sys.stdout.isatty() else text


async def _search(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.protocol.base import encode

    channel = await _find(store, given.channel) if given.channel else None
    author = given.author.removeprefix("@") if given.author else None
    hits = await store.search(
        " ".join(given.words), channel_id=channel.id if channel else None, author=author, limit=max(1, given.limit)
    )
    titles = {one.id: _title(one) for one in await store.channels()}
    for hit in hits:
        who = hit.message.author.name or hit.message.author.kind
        if given.json:
            print(encode(hit).decode())
        else:
            line = " ".join(hit.snippet.split())
            print(
                _shown(
                    f"{titles.get(hit.channel_id, '?')} {hit.message.seq} {hit.message.created_at[:16]} {who}: {line}"
                )
            )
    return OK if hits else FAILED


async def _export(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.bridge.export import export_channel, pages, rendered

    channel = await _find(store, given.channel)
    kind: Format = "json" if given.json else "markdown"
    if given.output:
        path = Path(os.path.abspath(given.output))  # noqa: ASYNC240, PTH100  # no file is touched
        count = await export_channel(store, channel.id, _title(channel), kind, path, _progress)
        print(f"Wrote {count} messages to {path}.", file=sys.stderr)
        return OK
    if kind == "markdown":
        sys.stdout.write(f"# {_title(channel)}\n\n")
    async for messages in pages(store, channel.id):
        for message in messages:
            text = rendered(message, kind)
            sys.stdout.write(text if given.json else _shown(text))
    return OK


def _progress(count: int) -> None:
    if sys.stderr.isatty() and count % _PROGRESS_STEP == 0:
        sys.stderr.write(f"\r{count} messages …")
        sys.stderr.flush()
