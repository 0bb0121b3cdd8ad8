"""Where a text mentions somebody: the rules of `@name` (design: Mentions). Pure: text and names in, places out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from sidekicks_bridge.channels.code_spans import code_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL = "all"
# The ASCII characters after which an `@` is never a mention are refused here already, because most are (e-mail).
_WORD = re.compile(r"@(?<![A-Za-z0-9!#$%&)+,\-./:;=>?@\\\]^`|}]@)([A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_BLANK = " \t\r\n\u00a0\u200b\ufeff"
_OPENING = "([{<"
_AROUND = "*_~\"'"  # emphasis and straight quotes: what opens looks like what closes
_OPENING_CATEGORIES = ("Ps", "Pi")
_AROUND_CATEGORIES = ("Pf", "Cf")  # closing quotes, which open in some languages; invisible marks of direction

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


class Mention(NamedTuple):
    """``name`` as configured, and where ``@name`` stands in the text (code points, end exclusive)."""

    name: str
    start: int
    end: int


class UnknownMention(NamedTuple):
    """An ``@word`` at a place where a mention could stand, but nobody has that name."""

    word: str
    start: int
    end: int


class Mentions(NamedTuple):
    """What a text mentions: the known names in order of place, and the first unknown ``@word``."""

    known: list[Mention]
    unknown: UnknownMention | None


def find_mentions(text: str, names: Iterable[str]) -> Mentions:
    """Every mention in ``text`` of one of ``names`` (any case; the longest name wins), and the first unknown word."""
    known: list[Mention] = []
    unknown: UnknownMention | None = None
    by_fold = {name.lower(): name for name in names}
    code = _Code(text)
    for found in _WORD.finditer(text):
        at = found.start()
        if not _may_stand(text, at):
            continue
        if mention := _longest(text, at, found[1].lower(), by_fold):
            if not code.holds(at):
                known.append(mention)
        elif unknown is None and (word := _unknown_word(text, found)) and not code.holds(at):
            unknown = UnknownMention(word, at, at + 1 + len(word))
    return Mentions(known, unknown)


class _Code:
    """The code in a text, looked for when first asked: most texts with an `@` mention nobody."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ranges: list[tuple[int, int]] | None = None
        self._starts: list[int] = []

    def holds(self, at: int) -> bool:
        """Whether ``at`` lies in code."""
        if self._ranges is None:
            self._ranges = code_ranges(self._text)
            self._starts = [start for start, _ in self._ranges]
        before = bisect_right(self._starts, at)
        return before > 0 and at < self._ranges[before - 1][1]


def _longest(text: str, at: int, word: str, by_fold: Mapping[str, str]) -> Mention | None:
    """The longest name that ``word``, in lower case, begins with and that is not continued."""
    shortest = len(word) if word.isalnum() else 1  # within letters and digits any name would be continued
    for length in range(len(word), shortest - 1, -1):
        end = at + 1 + length
        if (name := by_fold.get(word[:length])) and not _is_continued(text, end):
            return Mention(name, at, end)
    return None


def _unknown_word(text: str, found: re.Match[str]) -> str | None:
    word = found[1].rstrip("._-")
    return None if _is_continued(text, found.start() + 1 + len(word)) else word


def _may_stand(text: str, at: int) -> bool:
    """Whether an ``@`` at ``at`` stands where a mention may: the rule's list of what may come before it."""
    while at > 0:
        before = text[at - 1]
        if before in _BLANK or before in _OPENING:
            return True
        if before not in _AROUND and unicodedata.category(before) not in _AROUND_CATEGORIES:
            opens = unicodedata.category(before) in _OPENING_CATEGORIES
            return opens or before.isspace() or _is_spaceless(before)
        at -= 1  # what may also close counts only where it may itself stand
    return True


def may_begin_mention(text: str, at: int) -> bool:
    """Whether the ``@`` at ``at`` stands where a mention may, and not in code: where completion offers names."""
    return _may_stand(text, at) and not _Code(text).holds(at)


def stands_first(text: str, at: int) -> bool:
    """Whether nothing but white space, opening brackets, quotes and emphasis stands before ``at``."""
    return all(
        character.isspace()
        or character in _BLANK + _OPENING + _AROUND
        or unicodedata.category(character) in _OPENING_CATEGORIES + _AROUND_CATEGORIES
        for character in set(text[:at])
    )


def _is_continued(text: str, end: int) -> bool:
    """Whether the name that ends at ``end`` goes on, so that it is part of a longer word, path or file name."""
    if end >= len(text):
        return False
    after = text[end]
    if after in "._-":
        return text[end + 1 : end + 2].isalnum()
    if after in "/\\":
        return True
    if _is_spaceless(after):
        return False
    return after.isalnum() or unicodedata.category(after)[0] == "M"


def _is_spaceless(character: str) -> bool:
    """Whether it is a letter, mark or punctuation of a script written without spaces (its digits are digits)."""
    point = ord(character)
    index = bisect_right(_SPACELESS_STARTS, point) - 1
    return index >= 0 and point <= _SPACELESS[index][1] and not character.isdecimal()


def closest_name(word: str, names: Iterable[str]) -> str | None:
    """The name ``word`` was probably meant to be: one slip away from three letters on, two from six; else None."""
    allowed = 2 if len(word) >= 6 else 1 if len(word) >= 3 else 0
    folded = [(name, name.lower()) for name in names]
    for slips in range(1, allowed + 1):
        for name, fold in folded:
            if within(word.lower(), fold, slips):
                return name
    return None


def within(left: str, right: str, slips: int) -> bool:
    """Whether at most ``slips`` letters inserted, dropped, replaced or swapped with their neighbour part the two."""
    if abs(len(left) - len(right)) > slips:
        return False
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    left, right = left[same:], right[same:]
    if not left or not right or not slips:
        return len(left) + len(right) <= slips
    return (
        within(left[1:], right[1:], slips - 1)
        or within(left[1:], right, slips - 1)
        or within(left, right[1:], slips - 1)
        or (left[:2] == right[1::-1] and within(left[2:], right[2:], slips - 1))
    )
