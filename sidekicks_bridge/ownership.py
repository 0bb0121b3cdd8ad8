"""Owning a configuration's data folder or finding who does: what every door of the bridge does first.

Standard library only: a relay starts from here, in milliseconds.
"""

from __future__ import annotations

import os
import time

from sidekicks_bridge import endpoint, lock, paths
from sidekicks_bridge.private_files import cause, private_folder
from sidekicks_bridge.protocol import PROTOCOL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from pathlib import Path

PATIENCE = 30.0
"""Seconds to wait for an owner that has the lock but does not listen yet (or has just ended)."""
_STEP = 0.02
NOWHERE = ""
"""The socket of an owner that cannot listen."""


class OtherVersion(Exception):
    """The owner speaks another protocol version; the message says what to do."""


class Claim:
    """What came of it: the lock (we own), a connection to the owner, or neither, with the reason."""

    def __init__(
        self, held: lock.Lock | None = None, connection: socket | None = None, reason: str | None = None
    ) -> None:
        self.held = held
        self.connection = connection
        self.reason = reason


def claim(config_path: Path, patience: float = PATIENCE) -> Claim:
    """Own the configuration's history, or connect to the process that does.

    Raises OtherVersion, and PermissionError when the owner runs as another user.
    """
    folder = paths.data_dir(config_path)
    try:
        private_folder(folder)
    except OSError as problem:
        return Claim(reason=unusable(folder, problem))
    end = time.monotonic() + patience
    before: lock.Holder | None = None
    while True:
        try:
            return Claim(held=lock.take(paths.lock_path(folder)))
        except lock.LockTakenError as taken:
            holder = taken.holder
        except OSError as problem:
            return Claim(reason=unusable(folder, problem))
        unreachable = holder is not None and holder.socket == NOWHERE
        if not endpoint.supported() or unreachable or time.monotonic() > end:
            return Claim(reason=_busy(config_path, holder))
        if holder is not None and (connection := _reach(holder, before)) is not None:
            return Claim(connection=connection)
        before = holder
        time.sleep(_STEP)


def running(config_path: str | os.PathLike[str]) -> lock.Holder | None:
    """The owner of the configuration's history, if one runs now."""
    try:
        return lock.holder(os.path.join(paths.data_folder(config_path), paths.LOCK_NAME))
    except OSError:
        return None  # it was never owned, or cannot be


def _reach(holder: lock.Holder, before: lock.Holder | None) -> socket | None:
    """A connection to the owner; None while it does not listen (yet, or any more), or for a second look.

    ``before``: what the file said a moment ago: in the first moment of an owner it still speaks of the one before.
    """
    if mismatch := other_version(holder):
        if holder == before:
            raise OtherVersion(mismatch)
        return None
    if holder.socket is None:
        return None
    try:
        return endpoint.connect(holder.socket)
    except PermissionError as problem:
        raise PermissionError(
            f"The bridge that has this history open (process {holder.pid}) belongs to another user, who alone may "
            "attach to it. Have it stopped, or use a configuration of your own."
        ) from problem
    except OSError:
        return None


def other_version(holder: lock.Holder) -> str | None:
    """Why the owner cannot be talked to, as a sentence that says what to do; None: it can."""
    if holder.protocol_version == PROTOCOL_VERSION:
        return None
    return (
        f"A bridge of version {holder.bridge_version} (process {holder.pid}) is running, which speaks protocol "
        f"version {holder.protocol_version}; this one speaks {PROTOCOL_VERSION}. Run `sidekicks stop` first."
    )


def unusable(folder: Path, problem: OSError) -> str:
    """Why a data folder cannot be owned, as a sentence that says what to do."""
    return f"The history folder {folder} cannot be used: {cause(folder, problem)}. Put that right, then start again."


def _busy(config_path: Path, holder: lock.Holder | None) -> str:
    who = f"process {holder.pid}" if holder is not None else "another process"
    alone = holder is not None and holder.socket == NOWHERE
    why = " and found no place for a socket to attach to: set XDG_RUNTIME_DIR to a short path" if alone else ""
    return f"Another bridge ({who}) has the history of {config_path} open{why}. Close it, then start this one again."
