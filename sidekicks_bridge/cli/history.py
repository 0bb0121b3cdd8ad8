"""`sidekicks channels|log|search|export`: history, read from disk with or without a running bridge.

Owns arguments and what is read; how it looks is `history_view`'s.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.exit_codes import FAILED, HISTORY_HELP, INTERRUPTED, NOT_FOUND, OK, QUOTE, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import one_line, silence, use_utf8
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.names import fold
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.bridge.export import Format
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store, StoredChannel

LIMIT = 50
_PAGE = 500


def channels(argv: list[str]) -> int:
    """List the channels: members, how many messages, when the last one was, in which folder."""
    return _run(argv, _parser("channels", "List the channels and conversations, the one used last first."), _channels)


def log(argv: list[str]) -> int:
    """Print the last messages of a channel."""
    parser = _parser("log", "Print the last messages of a channel: as `chat` shows them, to a file as Markdown.")
    _add_channel(parser)
    _add_limit(parser, "messages")
    return _run(argv, parser, _log)


def search(argv: list[str]) -> int:
    """Print the messages that contain every given word, newest first."""
    parser = _parser("search", "Find messages that contain every word, newest first.")
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("--in", dest="within", metavar="CHANNEL", help="only in '#name' or '@agent'")
    parser.add_argument("--by", dest="author", metavar="AUTHOR", help="only by an agent, or by `user`")
    _add_limit(parser, "hits")
    return _run(argv, parser, _search)


def export(argv: list[str]) -> int:
    """Write a channel's whole history to a file or to standard output."""
    parser = _parser("export", "Write a channel's whole history, as Markdown or (--json) as JSON lines.")
    _add_channel(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE (0600) instead of standard output")
    return _run(argv, parser, _export)


def _parser(verb: str, description: str) -> ArgumentParser:
    parser = ArgumentParser(
        prog=f"sidekicks {verb}",
        description=description,
        epilog=HISTORY_HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    return parser


def _add_channel(parser: ArgumentParser) -> None:
    parser.add_argument("channel", nargs="?", help="'#name' (quoted: the shell takes # for a comment), or '@agent'")


def _add_limit(parser: ArgumentParser, what: str) -> None:
    parser.add_argument(
        "-n", "--limit", type=_count, default=LIMIT, metavar="N", help=f"how many {what}, the newest ({LIMIT})"
    )


def _count(written: str) -> int:
    if not written.isdecimal() or int(written) < 1:
        raise ArgumentTypeError(f"{written!r} is no number from 1 on")
    return int(written)


def _run(argv: list[str], parser: ArgumentParser, verb: Callable[[Store, Namespace], Awaitable[int]]) -> int:
    try:
        given = parser.parse_args(use_utf8(argv))
        if getattr(given, "channel", "") is None:
            parser.error(f"a channel is needed: {parser.prog} '#general'. {QUOTE}")
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    import anyio

    try:
        code = anyio.run(_with_history, given, verb)
        sys.stdout.flush()
        return code
    except SidekicksError as problem:
        print(f"{parser.prog}: {problem.message}", file=sys.stderr)
        return NOT_FOUND if problem.code in ("channelNotFound", "agentNotFound") else FAILED
    except BrokenPipeError:
        silence("stdout")  # whoever read it has enough
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED


async def _with_history(given: Namespace, verb: Callable[[Store, Namespace], Awaitable[int]]) -> int:
    from sidekicks_bridge.store.open import memory_store, open_history

    location = located(given.config)
    given.config_path = location.path
    store = await open_history(location.path)
    if store is None:
        if location.origin != "default":
            ensure(location)
        print(f"There is no history for {location.path} yet.", file=sys.stderr)
        store = memory_store()
    try:
        return await verb(store, given)
    finally:
        await store.close()


async def _find(store: Store, wanted: str, config_path: Path) -> StoredChannel:
    """The channel that a person means by `#name`, `@agent` or the bare name; of several direct ones that of here.

    One that the configuration promises, and in which nothing was said yet, is as good as one that is empty.
    """
    from sidekicks_bridge.cli.channel_ref import slug, unknown

    kept = await store.channels()
    found = [*kept, *_promised(config_path)]
    names = (fold(wanted), fold("#" + wanted), fold("@" + wanted), fold(wanted.replace("--", " ↔ ")))
    for name in names:
        fitting = [channel for channel in found if fold(slug(channel)) == name]
        if fitting:
            here = str(Path.cwd())  # no file is touched
            best = max(fitting, key=lambda channel: (same_folder(channel.root, here), channel.updated_at))
            if best not in kept:
                print(f"Nothing has been said in {slug(best)} yet.", file=sys.stderr)
            return best
    if not found:
        raise SidekicksError("channelNotFound", "Nothing has been said yet; `sidekicks chat` begins.")
    raise SidekicksError("channelNotFound", unknown(wanted, [slug(channel) for channel in found]))


def _promised(config_path: Path) -> list[StoredChannel]:
    """The channels and direct conversations that the configuration makes, empty."""
    from sidekicks_bridge.config.load import load
    from sidekicks_bridge.store.contract import StoredChannel

    config = load(config_path).config
    if config is None:
        return []
    named = [
        StoredChannel(id="", kind="named", name=spec.name, created_at="", updated_at="") for spec in config.channels
    ]
    direct = [
        StoredChannel(id="", kind="direct", agent=spec.name, created_at="", updated_at="") for spec in config.agents
    ]
    return named + direct


async def _channels(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.cli import history_view as view

    rows = []
    for channel in await store.channels():
        newest = (await store.page(channel.id, limit=1)).messages
        members = [member.name for member in await store.members(channel.id)]
        last = newest[-1].created_at if newest else None
        rows.append(view.Row(channel, members, await store.last_seq(channel.id), last))
    rows.sort(key=lambda row: row.last_message_at or row.channel.created_at, reverse=True)
    view.print_channels(rows, json=given.json)
    return OK


async def _log(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.cli import history_view as view

    channel = await _find(store, given.channel, given.config_path)
    messages, more = await _newest(store, channel.id, given.limit)
    view.print_log(channel, messages, given.config_path, json=given.json)
    if more and sys.stderr.isatty():
        print(f"(the last {len(messages)} messages; --limit shows more, `sidekicks export` all)", file=sys.stderr)
    return OK


async def _newest(store: Store, channel_id: str, count: int) -> tuple[list[Message], bool]:
    """The newest messages, oldest first, and whether there are older ones."""
    messages: list[Message] = []
    before: int | None = None
    while True:
        page = await store.page(channel_id, before=before, limit=min(count - len(messages), _PAGE))
        messages = page.messages + messages
        if not page.has_more or len(messages) >= count:
            return messages, page.has_more
        before = messages[0].seq


async def _search(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.cli import history_view as view

    channel = await _find(store, given.within, given.config_path) if given.within else None
    author = given.author.removeprefix("@") if given.author else None
    words = " ".join(given.words)
    hits = await store.search(words, channel_id=channel.id if channel else None, author=author, limit=given.limit)
    view.print_hits(hits, {one.id: one for one in await store.channels()}, words.split(), json=given.json)
    if not hits and author is not None:
        await _check_author(store, author, given.config_path)
    if not hits and sys.stderr.isatty():
        print(f"Nothing contains {one_line(words)!r}.", file=sys.stderr)
    return OK if hits else FAILED


async def _check_author(store: Store, author: str, config_path: Path) -> None:
    """Raises SidekicksError agentNotFound where nobody of that name can have written anything."""
    from sidekicks_bridge.cli.channel_ref import unknown

    found = [*await store.channels(), *_promised(config_path)]
    names = {one for channel in found for one in (channel.agent, *channel.peers) if one}
    for channel in found:
        names |= {member.name for member in await store.members(channel.id)}
    if fold(author) not in {fold(name) for name in (*names, "user")}:
        raise SidekicksError("agentNotFound", unknown(f"@{author}", [f"@{name}" for name in sorted(names)]))


async def _export(store: Store, given: Namespace) -> int:
    from sidekicks_bridge.bridge.export import export_channel, pages, rendered
    from sidekicks_bridge.cli import history_view as view
    from sidekicks_bridge.cli.channel_ref import slug

    channel = await _find(store, given.channel, given.config_path)
    kind: Format = "json" if given.json else "markdown"
    to_file = given.output not in (None, "-")
    with view.Progress(quiet=not to_file and sys.stdout.isatty()) as progress:
        if to_file:
            path = Path(os.path.abspath(given.output))  # noqa: ASYNC240, PTH100  # no file is touched
            count = await export_channel(store, channel.id, slug(channel), kind, path, progress.at)
            progress.end(f"Wrote {count} {'message' if count == 1 else 'messages'} to {path}.")
            return OK
        if kind == "markdown":
            view.write(f"# {slug(channel)}\n\n", agents=True)
        count = 0
        async for messages in pages(store, channel.id):
            view.write("".join(rendered(message, kind) for message in messages), agents=not given.json)
            count += len(messages)
            progress.at(count)
    return OK
