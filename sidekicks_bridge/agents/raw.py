"""Reading raw JSON from agents: each function gives the value if it is of the wanted kind, else nothing."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
"""Terminal escape sequences: titles, colours, cursor movements."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_REORDERING = re.compile(r"[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
LINE_CHARACTERS = 2000


def text(value: Any) -> str | None:
    """``value`` if it is a string."""
    return value if isinstance(value, str) else None


def line(value: Any) -> str | None:
    """``value`` if it is a string with something to see, as one line that shows what it is.

    No escape sequences, no control characters (a line end becomes a blank), none that reorder what is read; at most
    `LINE_CHARACTERS`. For titles and names, which clients put into one-line widgets and which users trust.
    """
    if not isinstance(value, str):
        return None
    shown = _UNSEEN.sub(" ", _REORDERING.sub("", ESCAPES.sub("", value))).strip()
    return f"{shown[:LINE_CHARACTERS]}…" if len(shown) > LINE_CHARACTERS else shown or None


def identifier(value: Any) -> str | None:
    """``value`` as an id: a string, or a number that some agents use for one."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether ``value`` is a JSON number (NaN and infinities do not occur in JSON)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def integer(value: Any) -> int | None:
    """``value`` as an integer if it is a number that a receiver can hold."""
    return int(value) if is_number(value) and abs(value) < 2**53 else None


def listed(value: Any) -> list[Any]:
    """``value`` as a list: a lone item counts as a list of one."""
    return value if isinstance(value, list) else [value]


def record(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; anything else has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
