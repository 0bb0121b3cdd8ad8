"""One mail request over one blocking socket: signed, sent, answered. Standard library only; no handshake is needed."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.server.framing import FrameReader, frame

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    JSON = dict[str, Any]

_CHUNK = 65536


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


def signed(method: str, params: JSON, name: str, sign: Callable[[bytes], str]) -> JSON:
    """The parameters with who makes the request."""
    from sidekicks_bridge.mail.signing import payload

    now = time.time()
    at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    nonce = os.urandom(16).hex()
    signature = sign(payload(method, params, name, at, nonce))
    return {**params, "auth": {"name": name, "time": at, "nonce": nonce, "signature": signature}}


def request(connection: socket.socket, method: str, params: JSON) -> JSON:
    """Ask and wait for the answer, however long it takes. Raises Refused, Gone."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    frames = FrameReader()
    try:
        connection.sendall(frame(body))
        while data := connection.recv(_CHUNK):
            for answer in frames.feed(data):
                message = json.loads(answer)
                if message.get("id") == 1 and "method" not in message:
                    return _result(message)
    except OSError as problem:
        raise Gone(str(problem)) from problem
    raise Gone("The bridge has ended.")


def _result(message: JSON) -> JSON:
    if "error" in message:
        raise Refused(message["error"])
    result: JSON = message["result"]
    return result
