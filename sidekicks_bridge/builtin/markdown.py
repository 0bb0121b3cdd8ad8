"""Foreign text inside our Markdown: fences, code spans and quotes that no text can break out of."""

from __future__ import annotations

import re

_TICKS = re.compile(r"`+")


def code(text: str) -> str:
    """Return a text as a code span on one line."""
    text = " ".join(text.split())
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def fence(lines: list[str] | tuple[str, ...], language: str) -> str:
    """Return lines as a fenced block, its marks longer than any run of backticks inside."""
    marks = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return "\n".join([f"{marks}{language}", *lines, marks])


def quote(text: str) -> str:
    """Return a text as a block quote: what it opens (fence, list, HTML) ends with the quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the plural where it belongs."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
