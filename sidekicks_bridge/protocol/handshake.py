"""What the two sides say about themselves at the start, and what an error carries. Inside LSP's own frames."""

from __future__ import annotations

from typing import Any

from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.error_codes import ErrorCode


class ClientOptions(Wire, kw_only=True):
    """What a client gives as `initializationOptions.sidekicks`. Without it, it is a plain LSP client.

    ``workspaceTrusted``: only an explicit true reads the workspace's own configuration, only an explicit false forbids
    agents there. ``documentRead``: the client answers `sidekicks/document/read`.
    """

    protocol_version: int
    config_path: str | None = None
    workspace_trusted: bool | None = None
    document_read: bool = False


class BridgeInfo(Wire, kw_only=True):
    """What the bridge answers as `capabilities.experimental.sidekicks`."""

    protocol_version: int
    bridge_version: str


class ErrorData(Wire, kw_only=True):
    """The ``data`` of a JSON-RPC error that is no bug: the code is the contract, ``details`` name the input."""

    code: ErrorCode
    retryable: bool
    details: dict[str, Any]


class BugData(Wire, kw_only=True):
    """The ``data`` of the JSON-RPC error of a bug (-32603): the id under which the log has the traceback."""

    error_id: str
