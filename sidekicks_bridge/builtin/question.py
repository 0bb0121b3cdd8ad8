"""A question: the words that matter in it, what each of them counts, and what kind of answer it asks for."""

from __future__ import annotations

import re
from math import log
from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.words import IRREGULAR, MIN_STEM, question_words

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOING = 0.3  # a participle
_PROSE_SAYS_WHERE = 0.7
_PROSE_SAYS_WHAT = 1.4
_ASKS_WHERE = re.compile(r"(?i)\b(?:where|wheres|who|which)\b")
_ASKS_WHAT = re.compile(r"(?i)\b(?:what|whats|why|explain|how (?:can|do|does|should|to))\b")


class Question:
    """``words``: stem → the word as it was written. ``prose``: what documents count against code in the answer."""

    def __init__(self, text: str) -> None:
        self.words = question_words(text)
        self.stems = list(self.words)
        self.prose = (
            _PROSE_SAYS_WHERE if _ASKS_WHERE.search(text) else _PROSE_SAYS_WHAT if _ASKS_WHAT.search(text) else 1.0
        )
        self.participles = frozenset(stem for stem, word in self.words.items() if _is_participle(word))

    def weights(self, files_with: Mapping[str, int], files: int, in_names: frozenset[str]) -> dict[str, float]:
        """Return what each word that was found counts: the more, the fewer of the files have it.

        "Where are routes decided?" is about routes, and all code decides; so a participle counts for little, unless a
        file is called that (``in_names``: the stems in the files' names): mail is signed in ``signing.py``.
        """
        weights = {}
        for stem in self.stems:
            found = files_with[stem]
            if found:
                rarity = log(1 + (files - found + 0.5) / (found + 0.5))
                weights[stem] = rarity * (_DOING if stem in self.participles - in_names else 1.0)
        return weights

    def asks_for(self, *stems: str) -> bool:
        """Whether any of these stems is in the question."""
        return not self.words.keys().isdisjoint(stems)


def _is_participle(word: str) -> bool:
    word = word.lower()
    return word in IRREGULAR or (len(word) > MIN_STEM + 1 and word.endswith("ed") and not word.endswith("eed"))
