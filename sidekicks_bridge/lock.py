"""Who owns a data folder: a lock on a file of its own that ends with its process, kill -9 included.

Never lock the database file itself: closing any descriptor of it would drop SQLite's own locks. The file's content
says where the owner listens; it counts only while the lock is held, so a stale one is harmless. Standard library only:
a relay starts from here.
"""

from __future__ import annotations

import os
import sys
import time

from sidekicks_bridge import __version__, quick_json
from sidekicks_bridge.private_files import private_file
from sidekicks_bridge.protocol import PROTOCOL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_WAIT_STEP = 0.01


class Holder:
    """The owner: its process, the socket it listens on (once it does), and what it speaks."""

    def __init__(
        self,
        pid: int | None = None,
        socket: str | None = None,
        protocol_version: int = PROTOCOL_VERSION,
        bridge_version: str = __version__,
    ) -> None:
        self.pid = os.getpid() if pid is None else pid
        self.socket = socket
        self.protocol_version = protocol_version
        self.bridge_version = bridge_version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Holder) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it is compared, never a key

    def encode(self) -> bytes:
        """The content of the lock file."""
        fields = {
            "pid": self.pid,
            "socket": self.socket,
            "protocolVersion": self.protocol_version,
            "bridgeVersion": self.bridge_version,
        }
        return quick_json.dumps(fields) + b"\n"


class LockTakenError(Exception):
    """Another process holds the lock; ``holder`` is None in the instant before it has written who it is."""

    def __init__(self, path: Path, holder: Holder | None) -> None:
        super().__init__(f"{path} is locked by {f'process {holder.pid}' if holder else 'another process'}")
        self.holder = holder


class Lock:
    """A lock that is held until `release`, or until the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def announce(self, holder: Holder) -> None:
        """Write who holds it, for those who find it taken."""
        assert self._descriptor is not None
        data = holder.encode()
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, data)
        os.ftruncate(self._descriptor, len(data))

    def release(self) -> None:
        """Let others have it. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def take(path: Path, holder: Holder | None = None) -> Lock:
    """Take the lock at once. Raises LockTakenError, or OSError if the file cannot be made or locked."""
    descriptor = private_file(path)
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError) as problem:  # msvcrt says PermissionError
        os.close(descriptor)
        raise LockTakenError(path, read_holder(path)) from problem
    except OSError:
        os.close(descriptor)
        raise
    lock = Lock(descriptor)
    try:
        lock.announce(holder or Holder())
    except OSError:
        lock.release()
        raise
    return lock


def holder(path: str | Path) -> Holder | None:
    """Who holds the lock now (pid 0 when that is not written yet); None when nobody does. Writes nothing.

    Raises OSError if the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):
        return read_holder(path) or Holder(pid=0)
    finally:
        os.close(descriptor)
    return None


class Held:
    """Hold the lock for a moment, waiting for it (never on the loop). Raises LockTakenError after ``seconds``."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._seconds = seconds

    def __enter__(self) -> None:
        end = time.monotonic() + self._seconds
        while True:
            try:
                self._lock = take(self._path)
                return
            except LockTakenError:
                if time.monotonic() >= end:
                    raise
                time.sleep(_WAIT_STEP)

    def __exit__(self, *_raised: object) -> None:
        self._lock.release()


def read_holder(path: str | Path) -> Holder | None:
    """What the file says, whether or not the lock is held; None if it says nothing readable."""
    try:
        with open(path, "rb") as file:
            fields = quick_json.loads(file.readline())
        socket = fields.get("socket")
        return Holder(
            int(fields["pid"]),
            socket if isinstance(socket, str) else None,
            int(fields["protocolVersion"]),
            str(fields.get("bridgeVersion")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        # A range far behind the content: others could not read a locked one.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
