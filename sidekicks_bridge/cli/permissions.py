"""Permission questions in the terminal: which one is asked now, and which key answers it. Pure but for the given time.

Questions come in the order they were asked. A card is inert for half a second after it appears, so that a key typed
into the composer at that moment answers nothing; only an empty composer lets a digit answer (the caller sees to it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli import render
from sidekicks_bridge.cli.style import BOLD, DIM, ERROR, OK, WARN, Line, clip, indented, wrap
from sidekicks_bridge.cli.text import one_line

if TYPE_CHECKING:
    from sidekicks_bridge.cli.names import Names
    from sidekicks_bridge.protocol.parts import PermissionOption
    from sidekicks_bridge.protocol.types import Permission

INERT_SECONDS = 0.5
_MOST_OPTIONS = 9


class PermissionDesk:
    """The open questions of all channels. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.open: dict[str, Permission] = {}
        self._since: dict[str, float] = {}
        self._later: set[str] = set()

    def add(self, question: Permission) -> None:
        """A question was asked."""
        self.open.setdefault(question.request_id, question)

    def close(self, request_id: str) -> None:
        """A question was answered, here or by another client, or its turn was cancelled."""
        self.open.pop(request_id, None)
        self._since.pop(request_id, None)
        self._later.discard(request_id)

    def keep(self, request_ids: set[str]) -> None:
        """Close every question but these: there is a new bridge, and it knows no others."""
        for request_id in set(self.open) - request_ids:
            self.close(request_id)

    def current(self, channel_id: str | None) -> Permission | None:
        """The question on display in a channel: its oldest one."""
        return next((asked for asked in self.open.values() if asked.channel_id == channel_id), None)

    def elsewhere(self, channel_id: str | None) -> list[Permission]:
        """The questions that wait in other channels."""
        return [asked for asked in self.open.values() if asked.channel_id != channel_id]

    def postponed(self, question: Permission) -> bool:
        """Whether the question was put aside: shown as one line, no key answers it."""
        return question.request_id in self._later

    def toggle(self, question: Permission, now: float) -> None:
        """Put the question aside, or take it up again (inert anew)."""
        if question.request_id in self._later:
            self._later.discard(question.request_id)
            self._since[question.request_id] = now
        else:
            self._later.add(question.request_id)

    def drawn(self, question: Permission, now: float) -> None:
        """The card is on the screen; the first time starts its inert half second."""
        self._since.setdefault(question.request_id, now)

    def chosen(self, question: Permission, digit: int, now: float) -> PermissionOption | None:
        """The option that ``digit`` picks, None while the card is inert or put aside or for a digit without one."""
        if self.postponed(question) or now - self._since.get(question.request_id, now) < INERT_SECONDS:
            return None
        options = question.options[:_MOST_OPTIONS]
        return options[digit - 1] if 1 <= digit <= len(options) else None


def card(question: Permission, names: Names, root: str | None, columns: int, rows: int) -> list[Line]:
    """The question as it stands in the live area, about ``rows`` lines high."""
    tool = question.tool_call
    asks = " asks for permission: " if question.about == "tool" else ": "
    head: Line = [(WARN, "◆ "), names.span(question.agent), (BOLD, asks)]
    lines = wrap([*head, ("", one_line(tool.title))], columns, [("", "  ")])
    lines += indented(render.subject_lines(tool, root, columns - 4, rows), [("", "    ")])
    keys: Line = []
    for number, option in enumerate(question.options[:_MOST_OPTIONS], start=1):
        style = ERROR if option.kind.startswith("reject") else OK
        keys += [(f"bold {style}", f"{number} "), ("", one_line(option.name, 40)), ("", "   ")]
    keys.append((DIM, "Esc later"))
    return [*lines, *wrap([("", "  "), *keys], columns, [("", "  ")])]


def reminder(question: Permission, names: Names, columns: int) -> Line:
    """The line of a question that was put aside."""
    who = names.title(question.agent)
    return clip(
        [(WARN, "◆ "), ("", f"{who} waits: {one_line(question.tool_call.title)}"), (DIM, "  Esc answers")], columns
    )
