"""A byte pump between standard input and output and the owner's socket: what a further editor's `serve` becomes.

Standard library only, no parsing: it must start in milliseconds and add next to nothing to each message.
"""

from __future__ import annotations

import _socket
import os
import select
import threading

_CHUNK = 1 << 16


def relay(owner: _socket.socket, first: bytes, stdin: int = 0, stdout: int = 1) -> int | None:
    """Pump until either side ends. 0 when the client ended it (or said `exit`), 1 when the owner was gone first.

    None: the owner was gone before it answered ``first`` (it was just ending, say), and nothing of the client's was
    read since: another owner can be asked.
    """
    if not _greeted(owner, first, stdin):
        owner.close()
        return None
    goodbye = _Goodbye()
    threading.Thread(target=_to_owner, args=(stdin, owner, goodbye), daemon=True).start()
    try:
        while data := owner.recv(_CHUNK):
            _write_all(stdout, data)
    except OSError:
        pass  # the owner was killed, or the client closed its end: either way this is over
    owner.close()
    return 0 if goodbye.said else 1


def _greeted(owner: _socket.socket, first: bytes, stdin: int) -> bool:
    """Send what the client began with; False when the owner ends before it or the client has said anything more."""
    try:
        owner.sendall(first)
        ready, _, _ = select.select([owner.fileno(), stdin], [], [])
        return owner.fileno() not in ready or bool(owner.recv(1, _socket.MSG_PEEK))
    except OSError:
        return False


class _Goodbye:
    """Whether the client took its leave."""

    def __init__(self) -> None:
        self.said = False


def _to_owner(stdin: int, owner: _socket.socket, goodbye: _Goodbye) -> None:
    try:
        while data := os.read(stdin, _CHUNK):
            goodbye.said = b'"exit"' in data[-200:]
            owner.sendall(data)
        goodbye.said = True
        owner.shutdown(_socket.SHUT_WR)
    except OSError:
        pass  # the owner is gone; the other direction sees it too and ends the relay


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
