"""Which stretches of a Markdown text are code: fenced blocks and code spans (CommonMark, as far as mentions need it).

Pure. Fences are recognised at any indentation and inside block quotes, since a list item may hold one.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t>]*(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)$")
_BACKTICKS = re.compile(r"\\.|(?P<ticks>`+)|(?P<blank>\n[ \t]*\n)", re.DOTALL)


def open_fence(text: str) -> str | None:
    """The marks of the fence that is still open at the end of ``text`` (e.g. ```` ``` ````), or None."""
    marks: str | None = None
    for line in text.split("\n"):
        marks = _after_line(line, marks)
    return marks


def _after_line(line: str, marks: str | None) -> str | None:
    found = _FENCE.match(line)
    if found is None:
        return marks
    ticks, info = found["marks"], found["info"]
    if marks is None:
        # An info string with backticks makes it an inline span: ```@bob```.
        return None if ticks[0] == "`" and "`" in info else ticks
    closes = ticks[0] == marks[0] and len(ticks) >= len(marks) and not info.strip()
    return None if closes else marks


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Start and end of every fenced block and code span of ``text``, in order, end exclusive."""
    ranges: list[tuple[int, int]] = []
    prose_start = at = fence_start = 0
    marks: str | None = None
    for line in text.split("\n"):
        after = _after_line(line, marks)
        if marks is None and after is not None:
            ranges += _spans(text, prose_start, at)
            fence_start = at
        elif marks is not None and after is None:
            prose_start = at + len(line)
            ranges.append((fence_start, prose_start))
        marks = after
        at += len(line) + 1
    if marks is not None:
        ranges.append((fence_start, len(text)))
    else:
        ranges += _spans(text, prose_start, len(text))
    return ranges


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code spans between ``start`` and ``end``: equal runs of backticks, not across a blank line."""
    spans: list[tuple[int, int]] = []
    opened: dict[int, int] = {}  # length of a run → where it opens; a run closes the earliest of its length
    for found in _BACKTICKS.finditer(text, start, end):
        if found["blank"]:
            opened.clear()
        elif found["ticks"]:
            length = len(found["ticks"])
            if length in opened:
                begin = opened[length]
                spans.append((begin, found.end()))
                opened = {size: place for size, place in opened.items() if place < begin}
            else:
                opened[length] = found.start()
    return spans
