"""Styled lines: the one form in which the terminal client holds what it shows.

A span is a style (prompt_toolkit's words, terminal colours only, so the user's theme decides) and a text without
line ends; a line is a list of spans. The same lines are drawn in the live area and written to the scrollback.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from prompt_toolkit.utils import get_cwidth

if TYPE_CHECKING:
    from collections.abc import Iterable

Span = tuple[str, str]
Line = list[Span]

PLAIN = ""
DIM = "dim"
BOLD = "bold"
ERROR = "fg:ansired"
WARN = "fg:ansiyellow"
OK = "fg:ansigreen"
CODE = "fg:ansicyan"
HEADING = "bold fg:ansiblue"
LINK = "underline"
MATCH = "bold fg:ansired"
USER = "bold fg:ansibrightblue"
AGENTS = ("fg:ansimagenta", "fg:ansigreen", "fg:ansiyellow", "fg:ansicyan", "fg:ansiblue", "fg:ansired")

_WORDS = re.compile(r"[^ ]+| +")
_SGR = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "reverse": "7",
    "strike": "9",
}
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "gray")
_SGR |= {f"fg:ansi{name}": str(30 + index) for index, name in enumerate(_COLOURS)}
_SGR |= {f"fg:ansibright{name}": str(90 + index) for index, name in enumerate(_COLOURS)}


def width(text: str) -> int:
    """How many columns ``text`` takes."""
    return len(text) if text.isascii() else get_cwidth(text)


def line_width(line: Iterable[Span]) -> int:
    """How many columns ``line`` takes."""
    columns = 0
    for _, text in line:
        columns += len(text) if text.isascii() else get_cwidth(text)
    return columns


@lru_cache(512)
def _sgr(style: str, colours: bool) -> str:
    codes = [_SGR[word] for word in style.split() if word in _SGR and (colours or not word.startswith("fg:"))]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def to_ansi(lines: Iterable[Line], *, colours: bool = True) -> str:
    """The lines with terminal sequences, each ended by ``\\n``. The texts must be safe already."""
    out: list[str] = []
    for line in lines:
        for style, text in line:
            sequence = _sgr(style, colours)
            out.append(f"{sequence}{text}\x1b[0m" if sequence else text)
        out.append("\n")
    return "".join(out)


def wrap(line: Line, columns: int, hanging: Line | None = None) -> list[Line]:
    """``line`` broken at blanks into lines of at most ``columns``; every further line begins with ``hanging``."""
    if line_width(line) <= columns:
        return [line]
    indent = hanging or []
    indent_width = line_width(indent)
    rows: list[Line] = [[]]
    used = 0
    for blank, word in _words(line):
        gap, needed = line_width(blank), line_width(word)
        if used + gap + needed > columns and used > (indent_width if len(rows) > 1 else 0):
            rows.append(list(indent))
            used = indent_width
        else:
            rows[-1] += blank
            used += gap
        if used + needed <= columns:
            rows[-1] += word
            used += needed
            continue
        for style, text in word:  # wider than a row
            for piece in _pieces(text, columns - used, columns - indent_width):
                if used + width(piece) > columns:
                    rows.append(list(indent))
                    used = indent_width
                rows[-1].append((style, piece))
                used += width(piece)
    return rows


def _words(line: Line) -> Iterable[tuple[Line, Line]]:
    """The words of ``line``, each with the blanks before it; a word may run over several spans."""
    blank: Line = []
    word: Line = []
    for style, text in line:
        for piece in _WORDS.findall(text):
            if not piece.isspace():
                word.append((style, piece))
                continue
            if word:
                yield blank, word
                blank, word = [], []
            blank.append((style, piece))
    yield blank, word


def _pieces(text: str, first: int, rest: int) -> list[str]:
    """``text`` cut at columns if it is wider than ``first``: one piece to fill the row, others of ``rest``."""
    if width(text) <= first:
        return [text]
    pieces: list[str] = []
    piece, used, room = "", 0, first
    for char in text:
        size = width(char)
        if used + size > room and (piece or room == first):
            if piece:
                pieces.append(piece)
            piece, used, room = "", 0, max(rest, 2)
        piece += char
        used += size
    return [*pieces, piece]


def clip(line: Line, columns: int) -> Line:
    """``line`` on one row of ``columns``; a cut ends with ``…``."""
    if line_width(line) <= columns:
        return line
    clipped: Line = []
    room = columns - 1
    for style, text in line:
        size = width(text)
        if size <= room:
            clipped.append((style, text))
            room -= size
            continue
        kept = ""
        for char in text:
            if width(kept) + width(char) > room:
                break
            kept += char
        return [*clipped, (style, kept), (DIM, "…")]
    return clipped


def indented(lines: Iterable[Line], indent: Line) -> list[Line]:
    """The lines, each with ``indent`` before it; empty ones stay empty."""
    return [[*indent, *line] if line else line for line in lines]
