"""Markdown tables as aligned columns. Pure."""

from __future__ import annotations

import re

from sidekicks_bridge.cli.inline import inline
from sidekicks_bridge.cli.style import DIM, Line, clip, line_width, wrap

_DELIMITER = re.compile(r"^ {0,3}\|?(?:[ ]*:?-+:?[ ]*\|)+(?:[ ]*:?-+:?[ ]*)?$")
_NARROWEST = 4


def is_table_row(text: str) -> bool:
    """Whether a line may be part of a table: it begins with a bar."""
    return text.lstrip(" ").startswith("|") and text.count("|") > 1


def table_lines(rows: list[str], columns: int) -> list[Line]:
    """The rows of a table, aligned and at most ``columns`` wide; rows without a delimiter row stay as written."""
    if len(rows) < 2 or not _DELIMITER.match(rows[1].rstrip()):
        return [row for text in rows for row in wrap(inline(text), columns)]
    cells = [[inline(cell, "bold" if index == 0 else "") for cell in _cells(text)] for index, text in enumerate(rows)]
    del cells[1]
    count = max(len(row) for row in cells)
    widths = [max(line_width(row[at]) if at < len(row) else 0 for row in cells) for at in range(count)]
    spare = columns - 3 * (count - 1)
    while sum(widths) > spare and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    lines = [_row(row, widths) for row in cells]
    lines.insert(1, [(DIM, "─┼─".join("─" * size for size in widths))])
    return lines


def _row(cells: list[Line], widths: list[int]) -> Line:
    line: Line = []
    for at, size in enumerate(widths):
        cell = clip(cells[at], size) if at < len(cells) else []
        if at:
            line.append((DIM, " │ "))
        line += [*cell, ("", " " * (size - line_width(cell)))]
    return line


def _cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]
