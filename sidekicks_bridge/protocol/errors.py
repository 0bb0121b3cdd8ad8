"""The one domain error and its codes: the string code is the contract, the message is for a person.

SidekicksError
├── invalidParams                          the request itself is wrong                    → JSON-RPC -32602
└── every other code                       the request was understood but cannot be done  → JSON-RPC -32803
A cancelled request is -32800 and a bug -32603 with an error id; neither is a SidekicksError. Nothing is imported here:
the mail verbs catch it, in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sidekicks_bridge.protocol.error_codes import ErrorCode

INVALID_PARAMS = -32602
DOMAIN_ERROR = -32803
CANCELLED = -32800
INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601


class SidekicksError(Exception):
    """A failure that a client is told about.

    ``code`` is one of `error_codes.ERROR_CODES`, ``message`` a sentence for a person (what happened, what to do),
    ``details`` JSON values that name the input. ``retryable``: the same request may work later.
    """

    def __init__(self, code: ErrorCode, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later without a change."""
        from sidekicks_bridge.protocol.error_codes import RETRYABLE

        return self.code in RETRYABLE

    @property
    def jsonrpc_code(self) -> int:
        """The JSON-RPC error code this is sent under."""
        return INVALID_PARAMS if self.code == "invalidParams" else DOMAIN_ERROR
