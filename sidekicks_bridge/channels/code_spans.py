"""Which stretches of a Markdown text are code: fenced blocks and code spans (CommonMark, as far as mentions need it).

Pure, and linear in the length of the text. A fence may stand at any indentation, behind list markers and in block
quotes, which end it when they end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# A backtick in the rest of the line makes it a code span, not a fence: ```@bob```.
_OPENING = re.compile(
    r"^(?P<before>(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+)(?P<marks>`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*", re.MULTILINE
)
_MARKS = r"(?P<marks>`{3,}+|~{3,}+)[ \t\r]*$"
_CLOSING = re.compile(rf"^[ \t]*+{_MARKS}", re.MULTILINE)
_CLOSING_IN_QUOTE = re.compile(rf"^(?:[ \t]*+>[ \t>]*+{_MARKS}|(?![ \t]*+>))", re.MULTILINE)

_BACKTICKS = re.compile("`+")
# What ends a paragraph, and with it the hope of closing a code span: a blank line, a list item, a heading, a table row.
_PARAGRAPH_END = re.compile(r"\n[ \t>\r]*+(?:\n|\||(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t])")


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Start and end of every fenced block and code span of ``text``, in order, end exclusive."""
    ranges: list[tuple[int, int]] = []
    prose = 0
    for start, end, _ in _fences(text):
        ranges += _spans(text, prose, start)
        ranges.append((start, end))
        prose = end
    ranges += _spans(text, prose, len(text))
    return ranges


def closing_line(text: str) -> str | None:
    """The line that closes the fence still open at the end of ``text`` (e.g. ```` ``` ````), or None."""
    fences = list(_fences(text))
    return fences[-1][2] if fences else None


def _fences(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Start and end of every fenced block, and the line that would close it where the text ends before it does."""
    if "```" not in text and "~~~" not in text:
        return
    at = 0
    while opening := _OPENING.search(text, at):
        end = _fence_end(text, opening)
        at = len(text) if end is None else end
        line = "> " * opening["before"].count(">") + opening["marks"]
        yield opening.start(), at, line if end is None else None


def _fence_end(text: str, opening: re.Match[str]) -> int | None:
    """Where the fence ends: after its closing marks, or with the block quote it stands in; None if it stays open."""
    marks = opening["marks"]
    closing = _CLOSING_IN_QUOTE if ">" in opening["before"] else _CLOSING
    for found in closing.finditer(text, opening.end()):
        if found["marks"] is None:
            return found.start()
        if found["marks"].startswith(marks):
            return found.end()
    return None


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code spans between ``start`` and ``end``: a run of backticks up to the next equal run in the same paragraph."""
    runs = [found.span() for found in _BACKTICKS.finditer(text, start, end)]
    if len(runs) < 2:
        return []
    closers = _closers(text, runs)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        closer = closers[index]
        if closer is not None:
            spans.append((runs[index][0], runs[closer][1]))
            index = closer
        index += 1
    return spans


def _closers(text: str, runs: list[tuple[int, int]]) -> list[int | None]:
    """For each run the index of the run that would close it. A backslash takes one backtick from a run that opens."""
    closers: list[int | None] = [None] * len(runs)
    nearest: dict[int, int] = {}  # length → the nearest run of that length further on in the paragraph
    after = len(text)
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        if nearest and _PARAGRAPH_END.search(text, end, after):
            nearest.clear()
        closers[index] = nearest.get(end - start - _is_escaped(text, start))
        nearest[end - start] = index
        after = start
    return closers


def _is_escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before ``at``."""
    first = at
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1
