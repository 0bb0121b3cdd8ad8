"""The Unix socket of an owner: where it lies, listening, connecting, and who is at the other end.

For the same user only: the file is 0600 in a folder of the user's, and the peer's user is asked of the kernel. Fails
closed: what cannot be checked is refused. Standard library only, of it `socket`'s half in C: a relay starts from here,
and a mail verb, for which `socket` takes as long to import as Python to start.
"""

from __future__ import annotations

import _socket
import os
import stat
import sys

from sidekicks_bridge.paths import sha256
from sidekicks_bridge.private_files import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from socket import socket

MAX_PATH = 100
"""Bytes; the kernel's limit for a socket's path is 104 on macOS and 108 on Linux."""
_BACKLOG = 64
_INT = 4
"""Bytes of a C int, of which the kernel's answers about the other end are made: the user's id is the second one."""
_DARWIN_LOCAL_PEERCRED = 1


def supported() -> bool:
    """Whether this system has Unix sockets."""
    return hasattr(_socket, "AF_UNIX")


def socket_path(folder: Path) -> Path | None:
    """Where the owner of the data folder listens: in a private folder, its path short enough; None: nowhere.

    Named after the folder's whole path: under another XDG_CONFIG_HOME the same configuration has another owner.
    """
    from pathlib import Path

    name = f"{sha256(os.fsencode(folder.resolve()))[:16]}.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    places = [Path(runtime) / "sidekicks" / name] if runtime and Path(runtime).is_absolute() else []
    places += [folder / "bridge.sock", Path(_temporary()) / f"sidekicks-{os.getuid()}" / name]
    for place in places:
        if len(os.fsencode(place)) < MAX_PATH and _private(place.parent) and not place.is_dir():
            return place
    return None


def identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at ``path``; None: there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _temporary() -> str:
    return os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # the folder in it is checked to be ours alone


def _private(folder: Path) -> bool:
    """Make the folder if it is missing; whether it is ours and nobody else may enter it."""
    try:
        make_folder(folder)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def listen(path: Path) -> socket:
    """Listen at ``path``; the caller holds the lock, so what lies there is stale."""
    import socket

    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            server.bind(os.fsencode(path))
        finally:
            os.umask(before)
        server.listen(_BACKLOG)
        server.setblocking(False)
    except OSError:
        server.close()
        raise
    return server


def connect(path: str) -> _socket.socket:
    """Connect to an owner. Raises OSError; PermissionError when the socket belongs to another user."""
    client = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        client.connect(os.fsencode(path))
        check_peer(client)
    except OSError:
        client.close()
        raise
    return client


def check_peer(connected: _socket.socket) -> None:
    """Raises PermissionError unless the other end runs as this user."""
    user = peer_user(connected)
    if user != os.getuid():
        raise PermissionError(f"The other end of the socket runs as user {user}, not as {os.getuid()}.")


def peer_user(connected: _socket.socket) -> int | None:
    """The user id of the other end; None where the system does not tell."""
    if sys.platform == "darwin":
        raw = connected.getsockopt(0, _DARWIN_LOCAL_PEERCRED, 2 * _INT)
    elif hasattr(_socket, "SO_PEERCRED"):
        raw = connected.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * _INT)
    else:
        return None
    return int.from_bytes(raw[_INT : 2 * _INT], sys.byteorder)
