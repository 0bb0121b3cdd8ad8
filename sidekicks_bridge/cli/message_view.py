"""One message on its way to the scrollback: what is final is handed out once, what still moves is for the live area.

Fed by whole messages and deltas alike, of a streaming message or of history: the same code shows both.
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


class _Text:
    """A text part: how much of it was fed to its stream."""

    def __init__(self, columns: int) -> None:
        self.stream = MarkdownStream(columns)
        self.fed = 0
        self.closed = False

    def set(self, text: str) -> None:
        if len(text) > self.fed:
            self.add(text[self.fed :])

    def add(self, text: str) -> None:
        self.stream.feed(text)
        self.fed += len(text)


class MessageView:
    """How far a message has been shown. ``root`` shortens paths; ``columns`` is the width at its beginning."""

    def __init__(self, message: Message, names: Names, root: str | None, columns: int) -> None:
        self.message = message
        self._names = names
        self._root = root
        self._columns = max(columns - 2, 20)
        self._parts: list[_Text | Part] = []
        self._shown: set[int] = set()
        self._begun: set[int] = set()
        self._last_kind = ""
        self._headed = False
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
        lines: list[Line] = []
        for index, part in enumerate(self._parts):
            closed = self.finished or index < len(self._parts) - 1
            for kind, rows in self._final(index, part, closed):
                lines += self._apart(kind, rows)
        if self.finished and -1 not in self._shown:
            self._shown.add(-1)
            lines += self._apart("end", render.end_lines(self.message.turn, self._columns))
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
        for index, part in enumerate(self._parts):
            if index in self._shown:
                continue
            if isinstance(part, _Text):
                rows += part.stream.tail()
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

    def _final(self, index: int, part: _Text | Part, closed: bool) -> list[tuple[str, list[Line]]]:
        """What of a part is final and was not handed out: its kind and rows."""
        if index in self._shown:
            return []
        if isinstance(part, _Text):
            rows = part.stream.finish() if closed else part.stream.settle()
            if closed:
                self._shown.add(index)
            if rows:
                self._begun.add(index)
            return [("text", rows)] if rows else []
        ready = closed
        if isinstance(part, ToolCallPart):
            ready = self.finished or (part.status in _TOOL_ENDED and self._between_blocks())
        elif isinstance(part, PlanPart):
            ready = self.finished
        elif isinstance(part, PermissionPart):
            ready = self.finished or (part.outcome is not None and self._between_blocks())
        if not ready:
            return []
        self._shown.add(index)
        return self._rows(part)

    def _between_blocks(self) -> bool:
        """Whether the last text part, if it is still open, has not begun or stands between two blocks."""
        last = self._parts[-1]
        begun = len(self._parts) - 1 in self._begun
        return not isinstance(last, _Text) or not begun or last.stream.between_blocks

    def _rows(self, part: Part) -> list[tuple[str, list[Line]]]:
        if isinstance(part, ToolCallPart):
            return [("tool", render.tool_lines(part, self._root, self._columns))]
        if isinstance(part, ThoughtPart):
            return [("thought", [render.thought_line(part.text, self._columns)])] if part.text.strip() else []
        if isinstance(part, PlanPart):
            return [("plan", render.plan_lines(part, self._columns))]
        if isinstance(part, PermissionPart):
            return [("tool", [render.permission_line(part)])]
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
