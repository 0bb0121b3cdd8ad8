"""What completes at a place in a composer or a buffer (design rule 8). Pure: text and choices in, items out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge.channels.commands import AFTER_MENTION, BLANKS
from sidekicks_bridge.channels.mentions import find_mentions, may_begin_mention

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sidekicks_bridge.protocol.types import Command

_NAME_BEFORE = re.compile(r"@([A-Za-z0-9._-]{0,64})$")
_COMMAND_BEFORE = re.compile(r"/([\w.:-]*)$")


class Choice(msgspec.Struct, frozen=True):
    """An agent that `@` may name."""

    name: str
    title: str
    description: str | None
    member: bool


class Suggestion(msgspec.Struct, frozen=True):
    """One item: ``label`` is what is inserted in place of the text from ``start`` to ``end`` (code points)."""

    label: str
    filter_text: str
    detail: str
    documentation: str | None
    start: int
    end: int
    sort_text: str


def complete_mention(text: str, offset: int, choices: Iterable[Choice]) -> list[Suggestion]:
    """Agents for the ``@…`` before ``offset``: members first, filtered on name and title, letters in order."""
    found = _NAME_BEFORE.search(text, 0, offset)
    if found is None or not may_begin_mention(text, found.start()):
        return []
    typed = found[1].lower()
    items: list[Suggestion] = []
    for index, choice in enumerate(sorted(choices, key=lambda choice: not choice.member)):
        name, title = choice.name.lower(), choice.title.lower()
        in_name = in_order(typed, name)
        if not in_name and not in_order(typed, title):
            continue
        if name == title or (typed and in_name):
            shown = f"@{choice.name}"
        else:
            shown = f"@{choice.title}" if typed else f"@{choice.name} {choice.title}"
        items.append(
            Suggestion(
                label=f"@{choice.name}",
                filter_text=shown,
                detail=choice.title if choice.member else f"{choice.title} (will be invited)",
                documentation=choice.description,
                start=found.start(),
                end=offset,
                sort_text=f"{index:04}",
            )
        )
    return items


def complete_command(
    text: str, offset: int, members: list[str], commands: Mapping[str, list[Command]], *, mentions_count: bool
) -> list[Suggestion]:
    """Commands for the ``/…`` before ``offset``: at the start the members', after leading mentions the mentioned's.

    ``mentions_count``: false in a direct conversation, where mentions are plain text.
    """
    found = _COMMAND_BEFORE.search(text, 0, offset)
    if found is None:
        return []
    lead = _leading(text[: found.start()], list(commands)) if mentions_count else _only_blank(text[: found.start()])
    if lead is None:
        return []
    agents = lead or members
    prefixed = len(members) > 1 and not lead
    items: list[Suggestion] = []
    for agent in agents:
        for command in commands.get(agent, ()):
            label = f"/{agent}:{command.name}" if prefixed else f"/{command.name}"
            if in_order(found[1].lower(), label[1:].lower()):
                items.append(_command_item(label, agent, command, found.start(), offset, len(items)))
    return items


def _command_item(label: str, agent: str, command: Command, start: int, end: int, index: int) -> Suggestion:
    hint = f" {command.hint}" if command.hint else ""
    return Suggestion(
        label=label,
        filter_text=label,
        detail=f"@{agent}{hint}",
        documentation=command.description,
        start=start,
        end=end,
        sort_text=f"{index:04}",
    )


def _only_blank(before: str) -> list[str] | None:
    return [] if BLANKS.fullmatch(before) else None


def _leading(before: str, names: list[str]) -> list[str] | None:
    """The agents mentioned before the slash, if nothing else stands there; None if something does."""
    at = _end(BLANKS, before, 0)
    agents: list[str] = []
    for mention in find_mentions(before, names).known:
        if mention.start != at:
            return None
        agents.append(mention.name)
        at = _end(AFTER_MENTION, before, mention.end)
    return agents if at == len(before) else None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def in_order(letters: str, text: str) -> bool:
    """Whether the letters occur in ``text`` in their order, not necessarily side by side."""
    if letters in text:
        return True
    at = 0
    for letter in letters:
        at = text.find(letter, at) + 1
        if not at:
            return False
    return True
