"""Slash commands: whether a text is one, and what it names (design rule 5). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sidekicks_bridge.channels.mentions import Mention

# What a paste from a web page or a chat brings along and nobody sees is white space, too: joiners, marks of direction.
_UNSEEN = r"[\s\ufeff\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069]"
BLANKS = re.compile(f"{_UNSEEN}*")
AFTER_MENTION = re.compile(f"[,:]?{_UNSEEN}+")
_COMMAND = re.compile(rf"/(?P<word>[A-Za-z0-9][\w.:-]*+)(?={_UNSEEN}|\Z)")


@dataclass(frozen=True)
class SlashCommand:
    """A command in a text: its word without the slash, what is sent, and the agents that lead it, in order, each once.

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

    @property
    def agent(self) -> str | None:
        """What stands before the first colon of the word; None if there is no colon."""
        agent, colon, _ = self.word.partition(":")
        return agent if colon else None

    @property
    def own_word(self) -> str:
        """The word without ``agent:`` in front."""
        return self.word if self.agent is None else self.word.partition(":")[2]

    def without_agent(self) -> str:
        """The command without ``agent:`` in front of its word."""
        return f"/{self.own_word}{self.rest}"


def find_command(text: str, mentions: Iterable[Mention]) -> SlashCommand | None:
    """The command that ``text`` is: at its very start (white space dropped) or after its leading mentions."""
    at = _end(BLANKS, text, 0)
    leading: dict[str, None] = {}
    for mention in mentions:
        if mention.start != at:
            break
        at = _end(AFTER_MENTION, text, mention.end)
        leading[mention.name] = None
    found = _COMMAND.match(text, at)
    if found is None:
        return None
    return SlashCommand(found["word"], text[found.end() :], list(leading), found.start(), found.end())


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
