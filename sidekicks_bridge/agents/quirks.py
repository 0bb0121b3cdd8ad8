"""What single agents do differently, in one table. An agent without an entry is taken at its word."""

from __future__ import annotations

import msgspec


class Quirks(msgspec.Struct, frozen=True):
    """How to treat one agent. ``match``: found in its command, its arguments or the name it gives itself."""

    match: str
    resume: bool = True
    """False: ``session/resume`` is announced but does not work."""


_NONE = Quirks("")
_TABLE = (
    # Announces session/resume and answers Method not found.
    Quirks("qwen", resume=False),
)


def quirks_of(*names: str) -> Quirks:
    """The entry for an agent known under ``names``."""
    known = " ".join(names).lower()
    return next((entry for entry in _TABLE if entry.match in known), _NONE)
