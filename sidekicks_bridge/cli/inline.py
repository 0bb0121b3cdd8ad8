"""Inline Markdown of one line → spans: emphasis, code, links. Pure; whatever does not close is text as written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sidekicks_bridge.cli.style import CODE, DIM, LINK, Line

_TOKEN = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<link>!?\[(?P<label>[^\[\]]{1,300})\]\((?P<target>[^()\s]{1,500}(?:\([^()\s]*\)[^()\s]{0,200})?)\))"
    r"|(?P<mark>\*{1,3}|_{1,3}|~~)"
)
_STYLES = {"*": "italic", "**": "bold", "***": "bold italic", "~~": "strike"}


@dataclass
class _Piece:
    """A stretch of the line: a text with a style of its own, or a mark that may open or close an emphasis."""

    text: str
    style: str = ""
    mark: str = ""
    opens: bool = False
    closes: bool = False


def inline(text: str, base: str = "") -> Line:
    """Spans of the safe, single-line Markdown ``text``; ``base`` is the style below all."""
    pieces = _split(text)
    _pair(pieces)
    line: Line = []
    active: list[str] = []
    for piece in pieces:
        if piece.mark and piece.opens:
            active.append(_STYLES[piece.mark])
        elif piece.mark and piece.closes:
            active.remove(_STYLES[piece.mark])
        elif piece.text:
            style = " ".join(word for word in (base, *active, piece.style) if word)
            if line and line[-1][0] == style:
                line[-1] = (style, line[-1][1] + piece.text)
            else:
                line.append((style, piece.text))
    return line


def _split(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    position = 0
    unclosed: set[int] = set()
    while (found := _TOKEN.search(text, position)) is not None:
        if found.start() > position:
            pieces.append(_Piece(text[position : found.start()]))
        position = found.end()
        if found["escaped"]:
            pieces.append(_Piece(found["escaped"][1]))
        elif found["ticks"]:
            position = _code(text, found, pieces, unclosed)
        elif found["link"]:
            pieces.append(_Piece(found["label"], LINK))
            if found["target"] != found["label"]:
                pieces.append(_Piece(f" ({found['target']})", DIM))
        else:
            pieces.append(_mark(text, found))
    pieces.append(_Piece(text[position:]))
    return pieces


def _code(text: str, found: re.Match[str], pieces: list[_Piece], unclosed: set[int]) -> int:
    """Take a code span, or the ticks as text when nothing closes them; answers where to go on."""
    ticks = found["ticks"]
    if len(ticks) not in unclosed:
        closing = re.compile(rf"(?<!`){ticks}(?!`)").search(text, found.end())
        if closing is not None:
            content = text[found.end() : closing.start()]
            if content.startswith(" ") and content.endswith(" ") and content.strip():
                content = content[1:-1]
            pieces.append(_Piece(content, CODE))
            return closing.end()
        unclosed.add(len(ticks))
    pieces.append(_Piece(ticks))
    return found.end()


def _mark(text: str, found: re.Match[str]) -> _Piece:
    before = text[found.start() - 1 : found.start()] or " "
    after = text[found.end() : found.end() + 1] or " "
    mark = found["mark"].replace("_", "*")
    opens, closes = not after.isspace(), not before.isspace()
    if found["mark"][0] == "_":  # inside a word it is part of a name
        opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
    return _Piece(found["mark"], mark=mark, opens=opens, closes=closes)


def _pair(pieces: list[_Piece]) -> None:
    """Leave ``opens`` or ``closes`` only on marks that belong together; all others become text."""
    waiting: list[int] = []
    paired: set[int] = set()
    for index, piece in enumerate(pieces):
        if not piece.mark:
            continue
        partner = next((at for at in reversed(waiting) if pieces[at].text == piece.text), None)
        if piece.closes and partner is not None:
            waiting = [at for at in waiting if at < partner]
            pieces[partner].closes = piece.opens = False
            paired |= {partner, index}
        elif piece.opens:
            waiting.append(index)
    for index, piece in enumerate(pieces):
        if piece.mark and index not in paired:
            piece.mark = ""
