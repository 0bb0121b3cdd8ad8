"""Where a text mentions somebody: the rules of `@name` (design: Mentions). Pure: text and names in, places out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.code_spans import code_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL = "all"
_WORD = re.compile(r"@([A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_EMPHASIS = "*_~"
_EITHER_QUOTE = "\"'"
_ZERO_WIDTH_SPACES = "\ufeff\u200b"

# Scripts written without spaces between words, with their punctuation: there a mention may stand at a letter.
_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1100, 0x11FF),  # Hangul Jamo: particles follow a name without a space
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0xA4CF),  # CJK radicals, punctuation, kana, Bopomofo, ideographs, Yi
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF01, 0xFF0F),  # full-width punctuation
    (0xFF1A, 0xFF20),
    (0xFF5B, 0xFFDC),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_SPACELESS_STARTS = [first for first, _ in _SPACELESS]


@dataclass(frozen=True)
class Mention:
    """``name`` as configured, and where ``@name`` stands in the text (code points, end exclusive)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class UnknownMention:
    """An ``@word`` at a place where a mention could stand, but nobody has that name."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Mentions:
    """What a text mentions, in order of place."""

    known: list[Mention]
    unknown: list[UnknownMention]


def find_mentions(text: str, names: Iterable[str]) -> Mentions:
    """Every mention in ``text`` of one of ``names`` (any case; the longest name wins), and every unknown ``@word``."""
    known: list[Mention] = []
    unknown: list[UnknownMention] = []
    if "@" not in text:
        return Mentions(known, unknown)
    by_fold = {name.lower(): name for name in names}
    code = code_ranges(text)
    code_starts = [start for start, _ in code]
    for found in _WORD.finditer(text):
        at = found.start()
        inside = bisect_right(code_starts, at) - 1
        if (inside >= 0 and at < code[inside][1]) or not _may_stand(text, at):
            continue
        if mention := _longest(text, at, found[1], by_fold):
            known.append(mention)
        elif word := _unknown_word(text, found):
            unknown.append(UnknownMention(word, at, at + 1 + len(word)))
    return Mentions(known, unknown)


def _longest(text: str, at: int, word: str, by_fold: Mapping[str, str]) -> Mention | None:
    for length in range(len(word), 0, -1):
        name = by_fold.get(word[:length].lower())
        end = at + 1 + length
        if name is not None and not _continued(text, end):
            return Mention(name, at, end)
    return None


def _unknown_word(text: str, found: re.Match[str]) -> str | None:
    word = found[1].rstrip("._-")
    return None if _continued(text, found.start() + 1 + len(word)) else word


def _may_stand(text: str, at: int) -> bool:
    """Whether an ``@`` at ``at`` stands where a mention may: the rule's list of what may come before it."""
    while at > 0:
        before = text[at - 1]
        if before in _EMPHASIS or before in _EITHER_QUOTE or unicodedata.category(before) == "Pf":
            at -= 1  # emphasis and quotes that may also close count only where they themselves may stand
            continue
        return (
            before.isspace()
            or before in _ZERO_WIDTH_SPACES
            or before == "<"
            or unicodedata.category(before) in ("Ps", "Pi")
            or _is_spaceless(before)
        )
    return True


def _continued(text: str, end: int) -> bool:
    """Whether the name that ends at ``end`` goes on, so that it is part of a longer word, path or file name."""
    if end >= len(text):
        return False
    after = text[end]
    if after in "/\\":
        return True
    if after in "._-":
        return end + 1 < len(text) and text[end + 1].isalnum()
    if _is_spaceless(after):
        return False
    return after.isalnum() or unicodedata.category(after)[0] == "M"


def _is_spaceless(character: str) -> bool:
    point = ord(character)
    index = bisect_right(_SPACELESS_STARTS, point) - 1
    return index >= 0 and point <= _SPACELESS[index][1]


def closest_name(word: str, names: Iterable[str]) -> str | None:
    """The name ``word`` was probably meant to be: one slip away from three letters on, two from six; else None."""
    allowed = 2 if len(word) >= 6 else 1 if len(word) >= 3 else 0
    best: tuple[int, str] | None = None
    for name in names:
        if abs(len(name) - len(word)) <= allowed:
            distance = edit_distance(word.lower(), name.lower())
            if 0 < distance <= allowed and (best is None or distance < best[0]):
                best = (distance, name)
    return best[1] if best else None


def edit_distance(left: str, right: str) -> int:
    """Damerau–Levenshtein distance (adjacent transpositions count one)."""
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            cost = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and b == left[row - 2]:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        before_last, last = last, current
    return last[-1]


def may_begin_mention(text: str, at: int) -> bool:
    """Whether the ``@`` at ``at`` stands where a mention may, and not in code: where completion offers names."""
    return _may_stand(text, at) and not any(start <= at < end for start, end in code_ranges(text))
