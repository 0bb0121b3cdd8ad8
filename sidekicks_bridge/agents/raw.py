"""Reading raw JSON from agents: each function gives the value if it is of the wanted kind, else nothing."""

from __future__ import annotations

from typing import Any, TypeGuard


def text(value: Any) -> str | None:
    """``value`` if it is a string."""
    return value if isinstance(value, str) else None


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
