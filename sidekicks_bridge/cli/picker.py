"""A list to pick from, shown instead of the composer: channels, members, answers to a question. Filtered by typing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer

from sidekicks_bridge.cli.style import BOLD, DIM, ERROR, WARN, Line, clip, wrap
from sidekicks_bridge.cli.text import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_ROWS = 10


@dataclass
class Item:
    """One thing to pick: what is shown, what typing is matched with, what happens then (None: it cannot be picked).

    ``heading``: what it stands under. ``stays``: the list stays open until that was done, with the bridge's problem if
    it is refused.
    """

    line: Line
    words: str
    pick: Callable[[], Awaitable[None]] | None
    heading: str | None = None
    stays: bool = False


@dataclass
class Question:
    """What a picker shows. ``typed`` makes an item of the text that was typed, e.g. a new channel's name."""

    title: str
    items: list[Item]
    typed: Callable[[str], Item] | None = None
    hint: str = "↑ ↓ Enter · Esc closes"


def sure(title: str, yes: str, act: Callable[[], Awaitable[None]]) -> Question:
    """A question before something is done that cannot be taken back; Enter alone does nothing."""

    async def leave_it() -> None:
        pass

    return Question(title, [Item([("", "no, leave it")], "no, leave it", leave_it), Item([(WARN, yes)], yes, act)])


@dataclass
class Picker:
    """The open question, if there is one, and the place in it."""

    question: Question | None = None
    at: int = 0
    problem: str = ""
    busy: bool = False
    """What was picked is being done."""
    buffer: Buffer = field(default_factory=lambda: Buffer(name="picker", multiline=False))

    def __post_init__(self) -> None:
        self.buffer.on_text_changed += lambda _: self._first()

    def show(self, question: Question) -> None:
        """Open a question."""
        self.question = question
        self.buffer.reset()
        self.at, self.problem = 0, ""

    def close(self) -> None:
        """Close it without picking."""
        self.question = None
        self.buffer.reset()

    def move(self, by: int) -> None:
        """Go up or down, around the ends."""
        count = len(self.items())
        self.at = (self.at + by) % count if count else 0

    def items(self) -> list[Item]:
        """What matches the typed text: letters in order."""
        if self.question is None:
            return []
        typed = self.buffer.text.strip()
        found = [item for item in self.question.items if _matches(typed.casefold(), item.words.casefold())]
        if self.question.typed is not None and typed:
            found.append(self.question.typed(typed))
        return found

    def chosen(self) -> Item | None:
        """The item at the cursor."""
        items = self.items()
        return items[self.at] if self.at < len(items) else None

    def lines(self, columns: int) -> list[Line]:
        """The title and the rows around the cursor."""
        if self.question is None:
            return []
        items = self.items()
        first = max(0, min(self.at - _ROWS // 2, len(items) - _ROWS))
        lines: list[Line] = [[(BOLD, self.question.title), (DIM, "  " + self.question.hint)]]
        heading: str | None = None
        for number, item in enumerate(items[first : first + _ROWS], start=first):
            if item.heading not in (None, heading):
                lines.append([(DIM, f"  {item.heading}")])
            heading = item.heading
            marked = number == self.at
            row: Line = [(BOLD if marked else DIM, "❯ " if marked else "  "), *item.line]
            lines.append([(f"reverse {style}" if marked else style, text) for style, text in clip(row, columns)])
        if not items:
            lines.append([(DIM, "  nothing is called so" if self.question.typed is None else "  type a name")])
        if self.problem:
            lines += wrap([(ERROR, "  " + one_line(self.problem, 400))], columns, [("", "  ")])
        return [clip(line, columns) for line in lines]

    @property
    def prompt(self) -> str:
        """What stands before the typed text."""
        return "name › " if self.question is not None and not self.question.items else "filter › "

    def _first(self) -> None:
        self.at, self.problem = 0, ""


def _matches(typed: str, words: str) -> bool:
    rest = iter(words)
    return all(letter in rest for letter in typed if not letter.isspace())
