"""Markdown that streams: finished lines are settled once, only the unfinished tail is drawn again.

A source line is the unit: chats break lines where their authors did. Owns the state between lines (a fence, a table,
a long line cut while it grows); it never goes from one message into the next. Costs grow with what is new.
"""

from __future__ import annotations

import re

from sidekicks_bridge.cli.highlight import Highlighter
from sidekicks_bridge.cli.inline import inline
from sidekicks_bridge.cli.style import DIM, HEADING, Line, wrap
from sidekicks_bridge.cli.table import is_table_row, table_lines
from sidekicks_bridge.cli.text import safe

_FENCE = re.compile(r"^([ ]*)(`{3,}|~{3,})[ ]*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ ]+(.*?)[ ]*#*$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ ]*\1){2,}[ ]*$")
_ITEM = re.compile(r"^([ ]{0,24})([-*+]|\d{1,9}[.)])[ ]+(?:\[([ xX])\][ ]+)?(?=\S)")
_QUOTE = re.compile(r"^[ ]{0,3}((?:>[ ]?)+)")
_INDENT = re.compile(r"^[ ]{1,24}")

_LONGEST = 2000
"""Characters of one unfinished line that are kept unsettled; what is longer is settled row by row."""
_TABLE_ROWS = 200
_TAIL_ROWS = 40


class MarkdownStream:
    """One text part. `feed` as it comes, `settle` for what can be printed for good, `tail` for what still moves."""

    def __init__(self, columns: int) -> None:
        self.columns = max(columns, 20)
        self._new: list[str] = []
        self._rest = ""
        self._fence: re.Match[str] | None = None
        self._highlighter: Highlighter | None = None
        self._table: list[str] = []
        self._carry: Line | None = None  # the open row of a long line whose rows before it are settled
        self._carry_look: tuple[str, Line] = ("", [])
        self._blank = True

    @property
    def between_blocks(self) -> bool:
        """Whether something else may be printed here without tearing a line, a table or a fence apart."""
        return not (self._fence or self._table or self._rest or self._new or self._carry)

    def feed(self, text: str) -> None:
        """More of the text, as it came."""
        self._new.append(text)

    def settle(self) -> list[Line]:
        """The lines that are final now."""
        if self._new:
            self._rest += "".join(self._new)
            self._new.clear()
        *complete, self._rest = self._rest.split("\n")
        settled: list[Line] = []
        code: list[str] = []
        for text in complete:
            self._complete(safe(text.removesuffix("\r")), settled, code)
        self._flush_code(code, settled)
        if len(self._rest) > _LONGEST and self._fence is None:
            settled += self._cut()
        return settled

    def finish(self) -> list[Line]:
        """The lines that were still open; the text has ended."""
        settled = self.settle()
        rest, self._rest = self._rest, ""
        code: list[str] = []
        if rest or self._carry:
            self._complete(safe(rest), settled, code)
        self._flush_code(code, settled)
        self._flush_table(settled)
        self._fence = self._highlighter = None
        return settled

    def tail(self) -> list[Line]:
        """The last rows of what is not settled, as it would look if the text ended here."""
        rows: list[Line] = [[("", text[: self.columns])] for text in self._table[-_TAIL_ROWS:]]
        rest = safe(self._rest[-_LONGEST:] if self._fence else self._rest)
        if self._fence is not None:
            if rest and not self._closes(rest):
                assert self._highlighter is not None
                for line in self._highlighter.peek([self._dedent(rest)]):
                    rows += self._code(line)
        elif (rest or self._carry) and not _FENCE.match(rest):
            rows += self._rows(rest)
        return rows[-_TAIL_ROWS:]

    def _complete(self, text: str, settled: list[Line], code: list[str]) -> None:
        """Take one whole line; code lines are collected in ``code`` and highlighted together."""
        if self._fence is not None:
            if self._closes(text):
                self._flush_code(code, settled)
                self._fence = self._highlighter = None
            else:
                code.append(self._dedent(text))
            return
        if self._table and (not is_table_row(text) or len(self._table) >= _TABLE_ROWS):
            self._flush_table(settled)
        if self._carry is None and (opening := _FENCE.match(text)):
            self._fence, self._highlighter = opening, Highlighter(opening[3])
        elif self._carry is None and is_table_row(text):
            self._table.append(text)
        elif text.strip() or self._carry:
            settled += self._rows(text)
            self._blank = False
        elif not self._blank:
            settled.append([])
            self._blank = True
        self._carry = None

    def _closes(self, text: str) -> bool:
        assert self._fence is not None
        marks = self._fence[2]
        stripped = text.strip()
        return len(stripped) >= len(marks) and set(stripped) == {marks[0]}

    def _dedent(self, text: str) -> str:
        assert self._fence is not None
        indent = len(self._fence[1])
        return text[min(indent, len(text) - len(text.lstrip(" "))) :]

    def _code(self, line: Line) -> list[Line]:
        """A line of code; what is too long for a row goes on below its own beginning."""
        text = "".join(text for _, text in line)
        own = min(len(text) - len(text.lstrip(" ")), self.columns // 2)
        return wrap([("", "  "), *line], self.columns, [("", " " * (own + 2))]) if line else [[]]

    def _flush_code(self, code: list[str], settled: list[Line]) -> None:
        if code:
            assert self._highlighter is not None
            for line in self._highlighter.lines(code):
                settled += self._code(line)
            self._blank = False
            code.clear()

    def _flush_table(self, settled: list[Line]) -> None:
        if self._table:
            settled += table_lines(self._table, self.columns)
            self._table = []
            self._blank = False

    def _rows(self, text: str) -> list[Line]:
        """The rows of one line of ordinary Markdown, or of the rest of a long one."""
        if self._carry is not None:
            base, hanging = self._carry_look
            return wrap([*self._carry, *inline(text, base)], self.columns, hanging)
        if _RULE.match(text):
            return [[(DIM, "─" * min(self.columns, 40))]]
        base, first, hanging, body = _look(text)
        return wrap([*first, *inline(body, base)], self.columns, hanging)

    def _cut(self) -> list[Line]:
        """Settle the whole rows of a line that has become long; its last row is carried on."""
        settled: list[Line] = []
        while len(self._rest) > _LONGEST:
            at = self._rest.rfind(" ", _LONGEST // 2, _LONGEST)
            at = _LONGEST if at < 0 else at + 1
            text, self._rest = safe(self._rest[:at]), self._rest[at:]
            if self._carry is None:
                base, _, hanging, _ = _look(text)
                self._carry_look = base, hanging
            *rows, self._carry = self._rows(text)
            settled += rows
        self._blank = False
        return settled


def _look(text: str) -> tuple[str, Line, Line, str]:
    """How a line is shown: style of its text, what stands before it, before its further rows, and the text itself."""
    if heading := _HEADING.match(text):
        return HEADING + (" underline" if len(heading[1]) == 1 else ""), [], [], heading[2]
    if quote := _QUOTE.match(text):
        bars: Line = [(DIM, "▏ " * quote[1].count(">"))]
        return "italic", bars, bars, text[quote.end() :]
    if item := _ITEM.match(text):
        bullet = "•" if item[2] in "-*+" else item[2]
        box = {None: "", " ": "☐ "}.get(item[3], "☑ ")
        before = f"{item[1]}{bullet} {box}"
        return "", [("", before)], [("", " " * len(before))], text[item.end() :]
    indent = _INDENT.match(text)
    before = indent[0] if indent else ""
    return "", [("", before)] if before else [], [("", before)] if before else [], text[len(before) :]
