"""A JSON-RPC error as an agent's answer, for those inside this room who know what it means for their request."""

from __future__ import annotations

from typing import Any

from sidekicks_bridge.agents.raw import record, text

METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000
_MAX_CHARACTERS = 2000


class Refused(Exception):
    """The agent answered a request with an error. Its text is for a person: message, details, code."""

    def __init__(self, code: int, message: str, data: Any) -> None:
        details = text(data) or text(record(data).get("details")) or text(record(data).get("message"))
        words = f"{message}: {details}" if details and details not in message else message
        super().__init__(f"{words[:_MAX_CHARACTERS]} (code {code})")
        self.code = code
