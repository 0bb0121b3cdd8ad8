"""Slash commands: whether a text is one, and what it names (design rule 5). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sidekicks_bridge.channels.mentions import Mention

_BLANKS = re.compile(r"[\s\ufeff\u200b]*")
_AFTER_MENTION = re.compile(r"[,:]?[\s\ufeff\u200b]+")
_COMMAND = re.compile(r"/(?P<word>[A-Za-z0-9][\w.:-]*)(?=\s|$)")


@dataclass(frozen=True)
class SlashCommand:
    """A command in a text: its word without the slash, what is sent, and the agents that lead it, in order.

    ``rest`` is everything after the word, untouched. ``start`` and ``end`` are the place of ``/word`` in the text.
    """

    word: str
    rest: str
    leading: list[str]
    start: int
    end: int

    @property
    def text(self) -> str:
        """The command as it was written, without what led it."""
        return f"/{self.word}{self.rest}"

    def without_agent(self) -> str:
        """The command without ``agent:`` in front of its word."""
        return f"/{self.word.partition(':')[2]}{self.rest}"


def find_command(text: str, mentions: list[Mention]) -> SlashCommand | None:
    """The command that ``text`` is: at its very start (white space dropped) or after its leading mentions."""
    at = _skip(_BLANKS, text, 0)
    leading: list[str] = []
    for mention in mentions:
        if mention.start != at:
            break
        after = _AFTER_MENTION.match(text, mention.end)
        if after is None:
            return None
        at = after.end()
        if mention.name not in leading:
            leading.append(mention.name)
    found = _COMMAND.match(text, at)
    if found is None:
        return None
    return SlashCommand(found["word"], text[found.end() :], leading, found.start(), found.end())


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
