"""A JSON-RPC error as an agent's answer, for those inside this room who know what it means for their request."""

from __future__ import annotations

import re
from typing import Any

from sidekicks_bridge.agents.raw import record, text

METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
_SESSION_GONE = re.compile(
    r"\b(unknown|no such|invalid|expired|missing) session\b"
    r"|\bsession\b[^\n]{0,100}\b(not found|not exist|unknown|expired|gone|closed|no longer)\b",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 2000


class Refused(Exception):
    """The agent answered a request with an error. Its text is for a person: message, details, code."""

    def __init__(self, code: int, message: str, data: Any) -> None:
        details = text(data) or text(record(data).get("details")) or text(record(data).get("message"))
        words = f"{message}: {details}" if details and details not in message else message
        super().__init__(f"{words[:_MAX_CHARACTERS]} (code {code})")
        self.code = code

    @property
    def session_gone(self) -> bool:
        """Whether it says that the agent does not know the session (any more), for which ACP has no code."""
        return self.code == RESOURCE_NOT_FOUND or _SESSION_GONE.search(str(self)) is not None
