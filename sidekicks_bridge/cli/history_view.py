"""How history looks: to a terminal as `chat` shows it, to a file or pipe as Markdown, tab-separated rows or JSON lines.

What agents wrote is made harmless wherever it goes to a terminal; a file gets it as it is.
"""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.channel_ref import slug
from sidekicks_bridge.cli.text import clock_time, one_line, safe

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from sidekicks_bridge.cli.names import Names
    from sidekicks_bridge.cli.style import Line
    from sidekicks_bridge.protocol.requests import SearchHit
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import StoredChannel

_GAP = 2
_PROGRESS_AFTER = 1.0
_PROGRESS_STEP = 0.2


@dataclass
class Row:
    """A channel in the list; ``messages``: how many there are."""

    channel: StoredChannel
    members: list[str]
    messages: int
    last_message_at: str | None


def write(text: str, *, agents: bool) -> None:
    """Write to standard output; ``agents``: it holds what agents wrote, which a terminal must not obey."""
    if agents and sys.stdout.isatty():
        text = "\n".join(safe(line) for line in text.split("\n"))
    sys.stdout.write(text)


def _write_json(value: object) -> None:
    from sidekicks_bridge.protocol.base import encode

    sys.stdout.write(encode(value).decode() + "\n")


def _paint(lines: list[Line]) -> None:
    """Write styled lines; without colours where the user or the terminal wants none."""
    from sidekicks_bridge.cli.style import to_ansi

    if os.environ.get("TERM", "dumb") == "dumb":
        sys.stdout.write("".join("".join(text for _, text in line) + "\n" for line in lines))
    else:
        sys.stdout.write(to_ansi(lines, colours=not os.environ.get("NO_COLOR")))


def _columns() -> int:
    return max(os.get_terminal_size(sys.stdout.fileno()).columns or 80, 20)


# ── channels ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_channels(rows: list[Row], *, json: bool) -> None:
    """A table on a terminal; else a tab-separated row each: name, members, messages, last one (UTC), folder."""
    if json:
        for row in rows:
            channel = row.channel
            fields = {"id": channel.id, "title": slug(channel), "kind": channel.kind, "root": channel.root}
            _write_json(
                {**fields, "members": row.members, "lastSeq": row.messages, "lastMessageAt": row.last_message_at}
            )
    elif not sys.stdout.isatty():
        for row in rows:
            cells = [slug(row.channel), ",".join(row.members), str(row.messages), row.last_message_at or ""]
            sys.stdout.write("\t".join(one_line(cell, 4096) for cell in [*cells, row.channel.root or ""]) + "\n")
    elif rows:
        _paint(_table(rows, _columns()))


def _table(rows: list[Row], columns: int) -> list[Line]:
    from sidekicks_bridge.cli.style import BOLD, DIM, clip, width

    head = ["CHANNEL", "MEMBERS", "MESSAGES", "LAST", "FOLDER"]
    cells = [
        [
            slug(row.channel),
            one_line(", ".join(row.members), 40) or "nobody",
            str(row.messages).rjust(len(head[2])),
            clock_time(row.last_message_at) if row.last_message_at else "",
            one_line(_tilde(row.channel.root)) if row.channel.root else "",
        ]
        for row in rows
    ]
    widths = [max(width(line[at]) for line in [head, *cells]) for at in range(len(head))]
    lines: list[Line] = []
    for number, line in enumerate([head, *cells]):
        spans: Line = []
        for at, cell in enumerate(line):
            style = DIM if number == 0 or at > 2 else BOLD if at == 0 else ""
            padding = " " * (widths[at] - width(cell) + _GAP) if at < len(line) - 1 else ""
            spans.append((style, cell + padding))
        lines.append(clip(spans, columns))
    return lines


def _tilde(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


# ── log ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_log(channel: StoredChannel, messages: list[Message], config_path: Path, *, json: bool) -> None:
    """Messages, oldest first."""
    from sidekicks_bridge.bridge.export import rendered

    if json or not sys.stdout.isatty():
        for message in messages:
            write(rendered(message, "json" if json else "markdown"), agents=False)
        return
    from sidekicks_bridge.cli.message_view import MessageView

    names, columns = _names(config_path), _columns()
    for number, message in enumerate(messages):
        lines = MessageView(message, names, channel.root, columns).settle()
        _paint(lines if number or not lines or lines[0] else lines[1:])


def _names(config_path: Path) -> Names:
    """How agents are called and coloured: by the configuration, if it can be read."""
    from sidekicks_bridge.cli.names import Names
    from sidekicks_bridge.config.load import load
    from sidekicks_bridge.protocol.types import Agent

    names = Names()
    config = load(config_path).config if config_path.exists() else None
    names.know(
        Agent(name=spec.name, title=spec.title, icon=spec.icon, state="stopped", origin="config", commands=[])
        for spec in (config.agents if config is not None else [])
    )
    return names


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_hits(hits: list[SearchHit], channels: dict[str, StoredChannel], words: list[str], *, json: bool) -> None:
    """Two lines a hit on a terminal; else a tab-separated row each: channel, seq, time (UTC), author, text."""
    shown = sys.stdout.isatty()
    for number, hit in enumerate(hits):
        message, channel = hit.message, channels.get(hit.channel_id)
        title = slug(channel) if channel is not None else "?"
        who = one_line(message.author.name or message.author.kind, 64)
        if json:
            _write_json(hit)
        elif shown:
            _paint([[]] if number else [])
            _paint(_hit(title, who, message.created_at, hit.snippet, words))
        else:
            cells = [title, str(message.seq), message.created_at, who, hit.snippet]
            sys.stdout.write("\t".join(" ".join(cell.split()) for cell in cells) + "\n")


def _hit(title: str, who: str, created_at: str, snippet: str, words: list[str]) -> list[Line]:
    from sidekicks_bridge.cli.style import BOLD, DIM, MATCH, wrap

    pattern = re.compile("(" + "|".join(re.escape(word) for word in words) + ")", re.IGNORECASE)
    pieces = pattern.split(one_line(snippet, 1000))
    text: Line = [(MATCH if at % 2 else "", piece) for at, piece in enumerate(pieces) if piece]
    head: Line = [(BOLD, title), (DIM, " · "), ("", who), (DIM, f" · {clock_time(created_at)}")]
    return [head, *wrap([("", "  "), *text], _columns(), [("", "  ")])]


# ── export ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Progress:
    """How far a long export is, on standard error, for a person who waits. A context: the line is gone at its end.

    ``quiet``: what is exported goes to the same terminal, which shows it well enough.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._clock = clock
        self._next = clock() + _PROGRESS_AFTER
        self._stands = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._clear()

    def at(self, count: int) -> None:
        """So many messages were written."""
        now = self._clock()
        if self._shown and now >= self._next:
            self._next, self._stands = now + _PROGRESS_STEP, True
            sys.stderr.write(f"\r{count:,} messages …")
            sys.stderr.flush()

    def end(self, text: str) -> None:
        """What was done."""
        self._clear()
        print(text, file=sys.stderr)

    def _clear(self) -> None:
        if self._stands:
            self._stands = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
