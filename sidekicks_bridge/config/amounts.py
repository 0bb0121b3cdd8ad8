"""Durations and sizes as people write them: ``10m``, ``1MiB``, or a plain number of seconds or bytes. Pure."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES: Final = {"B": 1, "KB": 1000, "MB": 1000**2, "KiB": 1024, "MiB": 1024**2}
MAX_SECONDS: Final = 36500 * SECONDS["d"]
MAX_SIZE: Final = 256 * BYTES["MiB"]

DURATION_PATTERN: Final = r"^[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d)?$"
SIZE_PATTERN: Final = r"^[0-9]+(?:\.[0-9]+)?(?:B|KB|MB|KiB|MiB)?$"

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", re.ASCII)


def seconds(value: object) -> float:
    """A written duration in seconds, 0 to 100 years. Raises ValueError with a sentence that ends a "must be …"."""
    return _amount(value, SECONDS, MAX_SECONDS, "a duration such as 500ms, 30s, 10m, 2h or 30d (at most 36500d)")


def size(value: object) -> int:
    """A written size in bytes, 1 B to 256 MiB. Raises ValueError as `seconds` does."""
    wanted = "a size such as 64KiB or 1MiB (at most 256MiB)"
    number = int(_amount(value, BYTES, MAX_SIZE, wanted))
    if number < 1:
        raise ValueError(wanted)
    return number


def _amount(value: object, units: Mapping[str, float], most: float, wanted: str) -> float:
    number = math.nan
    if isinstance(value, str) and (match := _AMOUNT.fullmatch(value)):
        number = float(match[1]) * (units.get(match[2], math.nan) if match[2] else 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(min(value, most + 1))  # an integer may be too large for a float
    if not 0 <= number <= most:  # false for nan, too
        raise ValueError(wanted)
    return number
