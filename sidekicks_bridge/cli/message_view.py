"""One message on its way to the scrollback: what is final is handed out once, what still moves is for the live area.

Fed by whole messages and deltas alike, of a streaming message or of history: the same code shows both. What is handed
out keeps the order of the parts: what follows a part that still moves waits for it in the live area, as long as that
can show it. Then such a part is printed as it is, and again, below, if it ends differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from sidekicks_bridge.cli import render
from sidekicks_bridge.cli.markdown import MarkdownStream
from sidekicks_bridge.cli.style import DIM, Line, indented, wrap
from sidekicks_bridge.cli.text import one_line, safe
from sidekicks_bridge.protocol.parts import (
    NoticePart,
    Part,
    PermissionPart,
    PlanPart,
    TextPart,
    ThoughtPart,
    ToolCallPart,
)

if TYPE_CHECKING:
    from sidekicks_bridge.cli.names import Names
    from sidekicks_bridge.protocol.events import MessageDelta
    from sidekicks_bridge.protocol.types import Message

_BODY: Line = [("", "  ")]
_THOUGHT_KEPT = 2000
_TOOL_ENDED = ("completed", "failed", "cancelled")
_MOST_WAITING = 12
"""How many rows may wait in the live area for a part that still moves."""


class _Text:
    """A text part: how much of it was fed to its stream, and which of its final rows wait for a part before it."""

    def __init__(self, columns: int) -> None:
        self.stream = MarkdownStream(columns)
        self.fed = 0
        self.waiting: list[Line] = []

    def set(self, text: str) -> None:
        if len(text) > self.fed:
            self.add(text[self.fed :])

    def add(self, text: str) -> None:
        self.stream.feed(text)
        self.fed += len(text)

    def wait(self) -> int:
        """Keep what is final; answers how many rows wait."""
        self.waiting += self.stream.settle()
        return len(self.waiting)

    def take(self, closed: bool) -> list[Line]:
        """What is final now."""
        rows, self.waiting = self.waiting, []
        return rows + (self.stream.finish() if closed else self.stream.settle())


class MessageView:
    """How far a message has been shown. ``root`` shortens paths; ``columns`` is the width at its beginning."""

    def __init__(self, message: Message, names: Names, root: str | None, columns: int) -> None:
        self.message = message
        self._names = names
        self._root = root
        self._columns = max(columns - 2, 20)
        self._parts: list[_Text | Part] = []
        self._next = 0
        """The first part that is not printed for good."""
        self._early: dict[int, list[tuple[str, list[Line]]]] = {}
        """Parts that were printed before they ended, and how."""
        self._last_kind = ""
        self._headed = False
        self._ended = False
        self.update(message)

    @property
    def finished(self) -> bool:
        """Whether the message will not change any more."""
        return self.message.state == "finished"

    def resize(self, columns: int) -> None:
        """The terminal's width has changed."""
        self._columns = max(columns - 2, 20)
        for part in self._parts:
            if isinstance(part, _Text):
                part.stream.columns = self._columns

    def update(self, message: Message) -> None:
        """The whole message as it stands now."""
        self.message = message
        for index, part in enumerate(message.parts):
            self._set(index, part)

    def abandon(self) -> None:
        """Nothing more will come, not even an end."""
        self.message = replace(self.message, state="finished")

    def delta(self, event: MessageDelta) -> None:
        """The message grew."""
        if event.value is not None:
            self._set(event.part, event.value)
        elif event.text is not None and event.part < len(self._parts):
            part = self._parts[event.part]
            if isinstance(part, _Text):
                part.add(event.text)
            elif isinstance(part, ThoughtPart) and len(part.text) < _THOUGHT_KEPT:
                part.text += event.text

    def settle(self) -> list[Line]:
        """The lines that became final since the last call, header first."""
        if self.message.author.kind != "agent":
            if not self.finished or self._headed:
                return []
            self._headed = True
            return self._whole()
        lines = self._in_order() + self._later()
        if self.finished and not self._ended:
            self._ended = True
            lines += self._apart("end", self._end())
        if (lines or self.finished) and not self._headed:
            self._headed = True
            return [*self._head(), *indented(lines, _BODY)]
        return indented(lines, _BODY)

    def live(self, mark: str) -> list[Line]:
        """What still moves, as it looks now; ``mark`` is the spinner's picture for tool calls that run."""
        if self.message.author.kind != "agent":
            return self._whole()
        lines = self._head() if self._parts and not self._headed else []
        rows: list[Line] = []
        for index in [*self._early, *range(self._next, len(self._parts))]:
            part = self._parts[index]
            if isinstance(part, _Text):
                rows += part.waiting + part.stream.tail()
            elif isinstance(part, ToolCallPart):
                rows.append(render.tool_head(part, self._root, self._columns, mark))
            elif isinstance(part, ThoughtPart):
                rows.append(render.thought_line(part.text, self._columns))
            elif isinstance(part, PlanPart):
                rows += render.plan_lines(part, self._columns)
        return lines + indented(rows, _BODY)

    def _set(self, index: int, part: Part) -> None:
        while len(self._parts) < index:  # a gap: what stands there was not for this client
            self._parts.append(NoticePart(code="", text=""))
        if isinstance(part, TextPart):
            if index == len(self._parts):
                self._parts.append(_Text(self._columns))
            text = self._parts[index]
            if isinstance(text, _Text):
                text.set(part.text)
        elif index == len(self._parts):
            self._parts.append(part)
        else:
            self._parts[index] = part

    def _in_order(self) -> list[Line]:
        """The rows from the first part that is not printed up to what still moves."""
        lines: list[Line] = []
        hurried = self._waiting() > _MOST_WAITING
        while self._next < len(self._parts):
            part = self._parts[self._next]
            last = self._next == len(self._parts) - 1
            if isinstance(part, _Text):
                closed = self.finished or not last
                lines += self._apart("text", part.take(closed))
                if not closed:
                    break
            elif self._is_final(part, last) or (hurried and not last):
                rows = self._rows(part)
                if not self._is_final(part, last):
                    self._early[self._next] = rows
                for kind, some in rows:
                    lines += self._apart(kind, some)
            else:
                break
            self._next += 1
        return lines

    def _waiting(self) -> int:
        """How many rows wait for the first part that is not printed."""
        if self._next >= len(self._parts) - 1 or self.finished or isinstance(self._parts[self._next], _Text):
            return 0
        return sum(part.wait() if isinstance(part, _Text) else 1 for part in self._parts[self._next + 1 :])

    def _later(self) -> list[Line]:
        """Parts that have ended after they were printed, if there is news in them."""
        last = self._parts[-1] if self._early else None
        if isinstance(last, _Text) and not self.finished and not last.stream.between_blocks:
            return []  # nothing may tear a line, a table or a fence apart
        lines: list[Line] = []
        for index in [index for index in self._early if self._is_final(self._parts[index], last=False)]:
            printed, part = self._early.pop(index), self._parts[index]
            rows = [] if isinstance(part, _Text) else self._rows(part)
            for kind, some in rows if rows != printed else []:
                lines += self._apart(kind, some)
        return lines

    def _is_final(self, part: _Text | Part, last: bool) -> bool:
        if self.finished:
            return True
        if isinstance(part, ToolCallPart):
            return part.status in _TOOL_ENDED
        if isinstance(part, PermissionPart):
            return part.outcome is not None
        return not isinstance(part, PlanPart) and not last

    def _end(self) -> list[Line]:
        """How the turn ended; that it was cancelled is not said twice."""
        turn = self.message.turn
        noted = any(isinstance(part, NoticePart) and part.code == "noText" for part in self._parts)
        if turn is not None and turn.stop_reason == "cancelled" and noted:
            return []
        return render.end_lines(turn, self._columns)

    def _rows(self, part: Part) -> list[tuple[str, list[Line]]]:
        if isinstance(part, ToolCallPart):
            return [("tool", render.tool_lines(part, self._root, self._columns))]
        if isinstance(part, ThoughtPart):
            return [("thought", [render.thought_line(part.text, self._columns)])] if part.text.strip() else []
        if isinstance(part, PlanPart):
            return [("plan", render.plan_lines(part, self._columns))]
        if isinstance(part, PermissionPart):
            answered = self.finished or part.outcome is not None
            return [("tool", [render.permission_line(part)])] if answered else []
        if isinstance(part, NoticePart) and part.text:
            return [("notice", render.notice_lines(part.text, self._columns, DIM))]
        return []

    def _apart(self, kind: str, rows: list[Line]) -> list[Line]:
        """``rows``, with an empty line before them when what was shown before is of another kind."""
        if not rows:
            return []
        before, self._last_kind = self._last_kind, kind
        return [[], *rows] if before and before != kind else rows

    def _head(self) -> list[Line]:
        return [[], self._names.header(self.message.author, self.message.created_at)]

    def _whole(self) -> list[Line]:
        """A message that no agent wrote: a notice of the bridge, or as typed (not as Markdown)."""
        texts = [part.text for part in self.message.parts if isinstance(part, NoticePart | TextPart)]
        if self.message.author.kind == "system":
            return [line for text in texts for line in render.notice_lines(text, self._columns)]
        lines = [row for text in texts for line in safe(text).split("\n") for row in wrap([("", line)], self._columns)]
        lines += [[(DIM, f"📎 {one_line(file.title or file.uri)}")] for file in self.message.attachments]
        return [*self._head(), *indented(lines, _BODY)]
