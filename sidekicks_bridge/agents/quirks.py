"""What single agents do differently, in one table. An agent without an entry is taken at its word."""

from __future__ import annotations

import msgspec


class Quirks(msgspec.Struct, frozen=True):
    """How to treat one agent. ``match``: found in its command, its arguments or the name it gives itself."""

    match: str
    resume: bool = True
    """False: ``session/resume`` is announced but does not work."""
    reload: bool = False
    """A prompt after a turn that was cancelled or failed gets that turn's end: the session is to be loaded anew."""
    missing_is_empty: bool = False
    """It takes no error for a file that is not there, and so could never write a new one: it is given an empty text."""

    renamed_tools: bool = False
    """It takes a name of an MCP server once: the bridge's own, whose token differs, is named anew in each session."""


_NONE = Quirks("")
_TABLE = (
    # Announces session/resume and answers Method not found.
    Quirks("qwen", resume=False),
    # Its library rejects with plain objects, of which it reads no message (seen with 0.61.0).
    Quirks("gemini-cli", missing_is_empty=True),
    # Keeps the servers of all its sessions in one list (seen with 0.10.48).
    Quirks("fast-agent", renamed_tools=True),
    # The adapter under its former name; seen with 0.23.1, no longer with 0.101 of @agentclientprotocol.
    Quirks("@zed-industries/claude", reload=True),
)


def quirks_of(*names: str) -> Quirks:
    """The entry for an agent known under ``names``."""
    known = " ".join(names).lower()
    return next((entry for entry in _TABLE if entry.match in known), _NONE)
