"""Identifiers: ULIDs that sort by time, monotonic within a process. A seam: tests count instead."""

from __future__ import annotations

import os
import time
from typing import Protocol

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


class Ids(Protocol):
    """Where new ids come from."""

    def new(self) -> str:
        """A fresh id, greater than every earlier one of this source."""
        ...


class Ulids:
    """ULIDs (26 characters). Two of the same millisecond differ by one, so order is always that of creation."""

    def __init__(self) -> None:
        self._last = 0

    def new(self) -> str:
        """A fresh ULID, greater than every earlier one, even if the clock went back."""
        value = (time.time_ns() // 1_000_000) << _RANDOM_BITS | int.from_bytes(os.urandom(10))
        self._last = value if value > self._last else self._last + 1
        return "".join(_ALPHABET[self._last >> shift & 31] for shift in range(125, -1, -5))
