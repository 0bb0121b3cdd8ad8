"""Words of questions and of source text, brought to one form so that they meet.

Pure functions: splitting identifiers, light stems, and leaving out the words of a question that say nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

MIN_STEM = 3
_RUN = re.compile(r"[^\W_]+")
# camelCase humps, ALLCAPS runs, digits; other scripts stay whole.
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\x00-\x7f]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
# An ending, and how many letters must be left before it.
_ENDINGS = (
    ("isation", 4), ("ization", 4), ("ations", 4), ("ation", 4), ("ions", 5), ("ion", 5), ("ings", 4), ("ing", 4),
    ("ied", 4), ("ies", 4), ("ers", 4), ("ors", 4), ("er", 4), ("or", 4), ("ed", 4), ("es", 4),
)  # fmt: skip  # an ending and the letters that must be left

IRREGULAR = {
    "begun": "begin", "bound": "bind", "built": "build", "chosen": "choose", "drawn": "draw", "held": "hold",
    "hidden": "hide", "kept": "keep", "lost": "lose", "sent": "send", "shown": "show", "thrown": "throw",
    "written": "write", "wrote": "write",
}  # fmt: skip

# Question words, and words that every question about a workspace may contain.
_STOP_WORDS = """
a about all also am an and any anyone anything are as at be been being but by can code could declared
defined did do does done else every exactly explain file files find for from get give goes had happen
happens has have help here how i if implemented in inside into is it its just know let like live lives
located look made many me most much my need no not of on one or our out over please project repo repository
say see shall should show so some somewhere tell than that the their them then there these they thing things
this those to under up us use used uses using want was way we were what whats when where wheres which who
whose why will with within work works would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def tokens(text: str) -> list[str]:
    """Return the stems in a text, in order; identifiers are split, CJK runs give their pairs."""
    found: list[str] = []
    for run in _RUN.findall(text):
        found.extend(_parts(run))
    return found


@lru_cache(maxsize=50_000)
def _parts(run: str) -> tuple[str, ...]:
    parts: list[str] = []
    for hump in _HUMP.findall(run):
        if _CJK.search(hump):
            parts.extend(hump[start : start + 2] for start in range(len(hump) - 1))
        else:
            parts.append(stem(hump.lower()))
    return tuple(parts)


def stem(word: str) -> str:
    """Cut common English endings: routes, router, routing, routed → rout; entries, entry → entr."""
    word = IRREGULAR.get(word, word)
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return _single(word[: -len(ending)])
    if len(word) > MIN_STEM and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-1]
    if len(word) > MIN_STEM + 1 and (word[-1] == "e" or (word[-1] == "y" and word[-2] not in "aeou")):
        word = word[:-1]
    return _single(word)


def _single(word: str) -> str:
    """Undouble a last consonant, so that stopped and stop meet."""
    doubled = len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiou"
    return word[:-1] if doubled else word


def question_words(question: str) -> dict[str, str]:
    """Return the words of a question that matter: stem → the word as it was written, in order.

    A single word is always meant, even if it is a question word elsewhere.
    """
    words = re.findall(r"[^\W_][\w.-]*", question)
    meant = [word for word in words if len(words) == 1 or word.lower().rstrip(".-") not in STOP_WORDS]
    chosen: dict[str, str] = {}
    for word in meant:
        for part in tokens(word):
            if len(part) > 1 and part not in chosen:
                chosen[part] = word.rstrip(".-")
    return chosen
