"""One mail request over one blocking socket: signed, sent, answered. Standard library only; no handshake is needed."""

from __future__ import annotations

import os
import time

from sidekicks_bridge.cli.reach import PATIENCE, connect
from sidekicks_bridge.quick_json import dumps, loads
from sidekicks_bridge.server.framing import FrameReader, frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from os import PathLike
    from typing import Any

    JSON = dict[str, Any]

_CHUNK = 65536
_STEP = 0.05


class Refused(Exception):
    """The bridge answered with an error. ``reason``: its string code, or ``bug``."""

    def __init__(self, error: JSON) -> None:
        data = error.get("data") or {}
        self.reason: str = data.get("code", "bug")
        self.message: str = error.get("message", "")
        self.context: JSON = data.get("details", {})
        super().__init__(self.message)


class Gone(Exception):
    """The bridge closed the connection before it answered."""


class NotSent(Gone):
    """It did so before it had the whole request, and has done nothing."""


def signed(method: str, params: JSON, name: str, sign: Callable[[bytes], str]) -> JSON:
    """The parameters with who makes the request."""
    from sidekicks_bridge.mail.signing import payload

    now = time.time()
    at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    nonce = os.urandom(16).hex()
    signature = sign(payload(method, params, name, at, nonce))
    return {**params, "auth": {"name": name, "time": at, "nonce": nonce, "signature": signature}}


def ask_owner(config_path: str | PathLike[str], method: str, params: Callable[[], JSON]) -> JSON:
    """Ask the bridge of a configuration, started if need be. Raises Refused, Gone, BridgeGone.

    An owner that is just ending has done nothing when it says so, or cannot be written to: then the next one is asked.
    ``params`` signs once a bridge is there (a signature is good for a minute), for each attempt anew.
    """
    end = time.monotonic() + PATIENCE
    while True:
        _, connection = connect(config_path, start=True)
        try:
            return request(connection, method, params())
        except (Refused, NotSent) as problem:
            ending = isinstance(problem, NotSent) or problem.reason == "shuttingDown"
            if not ending or time.monotonic() > end:
                raise
        finally:
            connection.close()
        time.sleep(_STEP)


def request(connection: socket, method: str, params: JSON) -> JSON:
    """Ask and wait for the answer, however long it takes. Raises Refused, Gone."""
    body = dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    frames = FrameReader()
    try:
        connection.sendall(frame(body))
    except OSError as problem:
        raise NotSent(str(problem)) from problem
    try:
        while data := connection.recv(_CHUNK):
            for answer in frames.feed(data):
                message = loads(answer)
                if message.get("id") == 1 and "method" not in message:
                    return _result(message)
    except OSError as problem:
        raise Gone(str(problem)) from problem
    raise Gone("The bridge ended before it answered; `sidekicks history` shows what was written.")


def _result(message: JSON) -> JSON:
    if "error" in message:
        raise Refused(message["error"])
    result: JSON = message["result"]
    return result
