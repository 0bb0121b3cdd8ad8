"""The Unix socket of an owner: where it lies, listening, connecting, and who is at the other end.

For the same user only: the file is 0600 in a folder of the user's, and the peer's user is asked of the kernel. Fails
closed: what cannot be checked is refused. Standard library only: a relay starts from here.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from pathlib import Path

from sidekicks_bridge.private_files import make_folder

MAX_PATH = 100
"""Bytes; the kernel's limit for a socket's path is 104 on macOS and 108 on Linux."""
_BACKLOG = 64
_LINUX_CREDENTIALS = "3i"
_DARWIN_LOCAL_PEERCRED = 1
_DARWIN_CREDENTIALS = "2I"


def supported() -> bool:
    """Whether this system has Unix sockets."""
    return hasattr(socket, "AF_UNIX")


def socket_path(folder: Path) -> Path | None:
    """Where the owner of the data folder listens: in a private folder, its path short enough; None: nowhere."""
    name = f"{folder.name}.sock"
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


def listen(path: Path) -> socket.socket:
    """Listen at ``path``; the caller holds the lock, so what lies there is stale."""
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


def connect(path: str) -> socket.socket:
    """Connect to an owner. Raises OSError; PermissionError when the socket belongs to another user."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        client.connect(os.fsencode(path))
        check_peer(client)
    except OSError:
        client.close()
        raise
    return client


def check_peer(connected: socket.socket) -> None:
    """Raises PermissionError unless the other end runs as this user."""
    user = peer_user(connected)
    if user != os.getuid():
        raise PermissionError(f"The other end of the socket runs as user {user}, not as {os.getuid()}.")


def peer_user(connected: socket.socket) -> int | None:
    """The user id of the other end; None where the system does not tell."""
    if sys.platform == "darwin":
        raw = connected.getsockopt(0, _DARWIN_LOCAL_PEERCRED, struct.calcsize(_DARWIN_CREDENTIALS))
        return int(struct.unpack(_DARWIN_CREDENTIALS, raw)[1])
    if hasattr(socket, "SO_PEERCRED"):
        raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_LINUX_CREDENTIALS))
        return int(struct.unpack(_LINUX_CREDENTIALS, raw)[1])
    return None
