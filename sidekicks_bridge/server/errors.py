"""The one place where a failure becomes a JSON-RPC error: never a traceback, a bug gets an id, the log the rest."""

from __future__ import annotations

import logging
from typing import Any

from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.errors import CANCELLED, INTERNAL_ERROR, METHOD_NOT_FOUND, SidekicksError

_log = logging.getLogger(__name__)
_ids = Ulids()


def error_of(failure: BaseException) -> dict[str, Any]:
    """The JSON-RPC error object for ``failure``."""
    if isinstance(failure, SidekicksError):
        return {
            "code": failure.jsonrpc_code,
            "message": failure.message,
            "data": {"code": failure.code, "retryable": failure.retryable, "details": failure.details},
        }
    return bug(failure)


def bug(failure: BaseException) -> dict[str, Any]:
    """A failure nobody foresaw: the client gets an id to name, the log the traceback."""
    error_id = _ids.new()
    _log.error("bug %s", error_id, exc_info=failure)
    return {
        "code": INTERNAL_ERROR,
        "message": f"A bug in the bridge ({type(failure).__name__}). Its log has the details under {error_id}.",
        "data": {"errorId": error_id},
    }


def cancelled() -> dict[str, Any]:
    """The request was cancelled by its client."""
    return {"code": CANCELLED, "message": "The request was cancelled."}


def unknown_method(method: str) -> dict[str, Any]:
    """Nobody serves ``method``."""
    return {"code": METHOD_NOT_FOUND, "message": f"The bridge has no method {method!r}."}
