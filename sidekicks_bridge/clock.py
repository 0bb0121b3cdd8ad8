"""Time: the wall clock for people, a monotonic one for limits. A seam: tests set it by hand."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is."""

    def now(self) -> str:
        """The wall time, RFC 3339 in UTC with milliseconds, e.g. ``2026-11-30T12:00:00.000Z``."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> str:
        """The wall time, RFC 3339 in UTC with milliseconds."""
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
