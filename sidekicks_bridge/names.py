"""The one name rule: what an agent, a channel, a mailbox or a peer may be called (design: Mentions).

Every door a name enters by (configuration, channels, mail, paths) asks here, so that a name is also safe as a file
name on every platform and can always be mentioned. Pure: no I/O, no other room, nothing imported.
"""

from __future__ import annotations

MAX_NAME = 64
RESERVED_WORDS = ("user", "system", "all")
WINDOWS_NAMES = (
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)),
)

_DIGITS_AND_LETTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ALLOWED = _DIGITS_AND_LETTERS | frozenset("._-")


def _any_case(word: str) -> str:
    return "".join(f"[{letter.upper()}{letter}]" if letter.isalpha() else letter for letter in word)


_WINDOWS = "|".join([*map(_any_case, WINDOWS_NAMES[:4]), f"(?:{_any_case('com')}|{_any_case('lpt')})[0-9]"])
_WORDS = "|".join(map(_any_case, RESERVED_WORDS))

NAME_PATTERN = (
    rf"^(?!(?:{_WORDS})$)(?!(?:{_WINDOWS})(?:\.|$))(?!.*--)[A-Za-z0-9](?:[A-Za-z0-9._-]{{0,62}}[A-Za-z0-9_])?$"
)
"""The rule as a regular expression that ECMAScript and Python both read, for JSON Schema (whole string, no flags)."""


def name_problem(name: str) -> str | None:
    """Why ``name`` breaks the rule, as a sentence that says what to do; None for a good name."""
    shown = repr(name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…")
    if not name:
        return "The name is empty; give one of letters and digits."
    if len(name) > MAX_NAME:
        return f"The name {shown} has {len(name)} characters; shorten it to {MAX_NAME} at most."
    if name[0] not in _DIGITS_AND_LETTERS or not _ALLOWED.issuperset(name):
        return (
            f"The name {shown} is not allowed; begin with a letter (A–Z) or digit and use only "
            "letters, digits, '.', '_' and '-'."
        )
    if "--" in name:
        return f"The name {shown} contains '--', which joins the names of a pair; use a single '-'."
    if name[-1] in ".-":
        return f"The name {shown} ends with {name[-1]!r}, which would be read as punctuation; remove it."
    if fold(name) in RESERVED_WORDS:
        return f"The name {shown} has a meaning of its own ({', '.join(RESERVED_WORDS)}); choose another."
    if fold(name.partition(".")[0]) in WINDOWS_NAMES:
        return f"The name {shown} is reserved by Windows, so it cannot be a file there; choose another."
    return None


def fold(name: str) -> str:
    """What names are compared and looked up by: without regard to case."""
    return name.casefold()


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same name, without regard to case."""
    return fold(one) == fold(other)
