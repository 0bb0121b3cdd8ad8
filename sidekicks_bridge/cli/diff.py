"""A change of a file as coloured lines, bounded in height and in what it costs. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.style import DIM, Line
from sidekicks_bridge.cli.text import safe, short_path

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.parts import DiffContent

_ADDED = "fg:ansigreen"
_REMOVED = "fg:ansired"
_CONTEXT = 2
_COMPARED = 1500
"""Lines on either side up to which a change is compared; a bigger one is shown as replaced whole."""


def diff_lines(diff: DiffContent, root: str | None, rows: int | None) -> list[Line]:
    """The change, headed by its path and counts; at most ``rows`` lines of it (None: all)."""
    old = safe(diff.old_text or "").splitlines()
    new = safe(diff.new_text).splitlines()
    body = _changes(old, new)
    added = sum(1 for line in body if line and line[0][1] == "+ ")
    removed = sum(1 for line in body if line and line[0][1] == "- ")
    what = "new file " if diff.old_text is None else ""
    head: Line = [("bold", what + short_path(diff.path, root)), (_ADDED, f"  +{added}"), (_REMOVED, f" -{removed}")]
    if rows is not None and len(body) > rows:
        hidden = len(body) - rows + 1
        body = [*body[: rows - 1], [(DIM, f"… {hidden} more lines of this change")]]
    return [head, *body]


def _changes(old: list[str], new: list[str]) -> list[Line]:
    """The changed lines with a little around them."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    before = old[max(0, start - _CONTEXT) : start]
    after = old[len(old) - end : len(old) - end + _CONTEXT]
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    lines = [_kept(text) for text in before]
    if len(one) > _COMPARED or len(other) > _COMPARED:
        lines += [_removed(text) for text in one] + [_added(text) for text in other]
    else:
        lines += _compared(one, other)
    return lines + [_kept(text) for text in after]


def _compared(one: list[str], other: list[str]) -> list[Line]:
    lines: list[Line] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += [_removed(text) for text in one[i1:i2]] + [_added(text) for text in other[j1:j2]]
        elif i2 - i1 <= 2 * _CONTEXT:
            lines += [_kept(text) for text in one[i1:i2]]
        else:
            lines += [_kept(text) for text in one[i1 : i1 + _CONTEXT]]
            lines.append([(DIM, "  ⋯")])
            lines += [_kept(text) for text in one[i2 - _CONTEXT : i2]]
    return lines


def _kept(text: str) -> Line:
    return [(DIM, "  " + text)]


def _added(text: str) -> Line:
    return [(_ADDED, "+ "), (_ADDED, text)]


def _removed(text: str) -> Line:
    return [(_REMOVED, "- "), (_REMOVED, text)]
