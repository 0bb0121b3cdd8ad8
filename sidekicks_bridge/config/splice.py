"""Cutting one change into a YAML text at the place ruamel's nodes give: the work under `edit`, which checks its result.

Works on block and flow style alike; what it does not understand (anchors, explicit keys) comes out wrong and is then
refused there.
"""

from __future__ import annotations

from typing import Any

from sidekicks_bridge.config.render import block, fits_inline, flow, scalar
from sidekicks_bridge.protocol.errors import SidekicksError

Cut = tuple[int, int, str]
"""Start and end of what is replaced, and by what."""


def wrapped(path: list[str | int], value: Any) -> Any:
    """``value`` inside the new mappings and lists that ``path`` names. Raises invalidParams: a new list begins at 0."""
    for key in reversed(path):
        if isinstance(key, int) and key:
            raise SidekicksError("invalidParams", f"The path leads nowhere: a list that is new has no index {key}.")
        value = {key: value} if isinstance(key, str) else [value]
    return value


class Splice:
    """A text and its root node. One use: `change`."""

    def __init__(self, text: str, root: Any) -> None:
        self._text = text
        self._trail: list[tuple[Any, int]] = []
        self._root = root
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._step, self._offset = _indentation(root)

    def change(self, path: list[str | int], value: Any) -> str:
        """The text with ``value`` set at ``path``, which is known to lead somewhere; None removes."""
        for cut in sorted(self._cuts(path, value), reverse=True):
            start, end, new = cut
            self._text = self._text[:start] + new + self._text[end:]
        return self._text

    def _cuts(self, path: list[str | int], value: Any) -> list[Cut]:
        node = self._root
        for depth, key in enumerate(path, 1):
            at = _position(node, key)
            if at is None:
                return self._insert(node, key, wrapped(path[depth:], value))
            self._trail.append((node, at))
            node = node.value[at][1] if node.id == "mapping" else node.value[at]
            if node.id == "scalar" or depth == len(path):
                return self._remove() if value is None else self._replace(wrapped(path[depth:], value))
        raise AssertionError("a path is not empty")

    # --- the three changes ---

    def _insert(self, node: Any, key: str | int, value: Any) -> list[Cut]:
        new: Any = {key: value} if node.id == "mapping" else [value]
        if not node.value:
            return self._replace(new)
        end = self._end(node.value[-1])
        if node.flow_style:
            return [(end, end, ", " + flow(new)[1:-1])]
        column = _starts(node, self._text)[1]
        at = self._line_end(end)
        return [(at, at, self._lines(new, column))]

    def _replace(self, new: Any) -> list[Cut]:
        """Put ``new`` in the place of the node the trail ends at (of the root, if it is empty)."""
        if not self._trail:
            return [(self._root.start_mark.index, self._end(self._root), flow(new))]
        owner, at = self._trail[-1]
        old = owner.value[at][1] if owner.id == "mapping" else owner.value[at]
        start, end = old.start_mark.index, self._end(owner.value[at])
        start = min(start, end)
        blank = "" if self._text[start - 1 : start] in {" ", "[", "{", "\n"} else " "
        if owner.flow_style or (owner.id == "sequence" and fits_inline(new)):
            return [(start, end, blank + self._inline(old, new))]
        if owner.id == "sequence":
            column = old.start_mark.column + len(blank)
            return [(start, end, blank + self._lines(new, column).lstrip())]
        key = owner.value[at][0]
        colon = self._text.index(":", key.end_mark.index) + 1
        deeper = key.start_mark.column + (self._offset if isinstance(new, list) else self._step)
        if old.id == "scalar" or old.flow_style:
            if fits_inline(new):
                return [(start, end, blank + self._inline(old, new))]
            line_end = self._line_end(end)
            return [(colon, end, ""), (line_end, line_end, self._lines(new, deeper))]
        first, last = self._line_start(start), self._line_end(end)
        if fits_inline(new):
            return [(colon, colon, " " + flow(new)), (first, last + len(self._newline), "")]
        return [(first, last, self._lines(new, deeper).removeprefix(self._newline))]

    def _remove(self) -> list[Cut]:
        """Take out what the trail ends at. A mapping or list left without anything becomes ``{}`` or ``[]``."""
        node, at = self._trail.pop()
        if len(node.value) == 1:
            return self._replace({} if node.id == "mapping" else [])
        starts = _starts(node, self._text)[0]
        end = self._end(node.value[at])
        following = starts[at + 1] if at + 1 < len(starts) else None
        if node.flow_style:
            return [(starts[at], following, "")] if following else [(self._end(node.value[at - 1]), end, "")]
        first = self._line_start(starts[at])
        if following and self._text[first : starts[at]].strip():  # the line begins with the dash of a list
            return [(starts[at], following, "")]
        return [(first, min(self._line_end(end) + len(self._newline), len(self._text)), "")]

    # --- places and lines ---

    def _end(self, node: Any) -> int:
        """Where ``node`` (or a pair of a mapping) really ends: ruamel ends a block only where the next token begins."""
        if isinstance(node, tuple):
            key, value = node
            if value.start_mark.index == value.end_mark.index:  # no value: ruamel places it where the next token is
                return self._text.index(":", key.end_mark.index) + 1
            return self._end(value)
        if node.id == "scalar" and node.style in {"|", ">"}:
            start = int(node.start_mark.index)
            return start + len(self._text[start : node.end_mark.index].rstrip())
        if node.id == "scalar" or node.flow_style:
            return int(node.end_mark.index)
        return self._end(node.value[-1])

    def _line_start(self, index: int) -> int:
        return self._text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        end = self._text.find(self._newline, index)
        return end if end >= 0 else len(self._text)

    def _lines(self, value: Any, column: int) -> str:
        """``value`` as a block whose lines begin at ``column``, with a line break before each."""
        return "".join(self._newline + " " * column + line for line in block(value, self._step, self._offset))

    @staticmethod
    def _inline(old: Any, new: Any) -> str:
        return scalar(new, old.style if old.id == "scalar" else None) if not isinstance(new, dict | list) else flow(new)


def _position(node: Any, key: str | int) -> int | None:
    if node.id == "mapping":
        return next((at for at, (name, _) in enumerate(node.value) if name.value == key), None)
    assert isinstance(key, int)
    return key if key < len(node.value) else None


def _starts(node: Any, text: str) -> tuple[list[int], int]:
    """Where each key, item or dash of ``node`` begins, and the column of the first."""
    if node.id == "mapping":
        return [key.start_mark.index for key, _ in node.value], node.value[0][0].start_mark.column
    if node.flow_style:
        return [item.start_mark.index for item in node.value], node.start_mark.column
    column = node.start_mark.column
    starts = []
    for item in node.value:
        line = item.start_mark.index - item.start_mark.column
        while text[line + column] != "-":  # the item stands below its dash
            line = text.rfind("\n", 0, line - 1) + 1
        starts.append(line + column)
    return starts, column


def _indentation(root: Any) -> tuple[int, int]:
    """How the text indents: spaces per level, and of a dash under its key. As first met; 2 and 2 without an example."""
    step: int | None = None
    offset: int | None = None
    waiting: list[Any] = [root]
    while waiting and (step is None or offset is None):
        node = waiting.pop(0)
        if node.id == "sequence":
            waiting.extend(node.value)
        if node.id != "mapping":
            continue
        for key, value in node.value:
            waiting.append(value)
            if value.id == "scalar" or value.flow_style or not value.value:
                continue
            column = value.start_mark.column - key.start_mark.column
            if value.id == "sequence":
                offset = column if offset is None else offset
            else:
                step = column if step is None else step
    return (step if step and step > 0 else 2), (2 if offset is None else offset)
