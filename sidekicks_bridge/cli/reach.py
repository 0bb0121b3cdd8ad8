"""Finding the running bridge of a configuration, or a hub started for it; waits until it listens.

Standard library only: the mail verbs go this way, in milliseconds.
"""

from __future__ import annotations

import time

from sidekicks_bridge import endpoint, ownership

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from os import PathLike

PATIENCE = 30.0
_STEP = 0.02


class BridgeGone(Exception):
    """The bridge ended or was never reached; the message says why and what to do."""


def reach(config_path: str | PathLike[str], start: bool) -> str:
    """The socket of the owner, started if need be; waits until it listens. Raises BridgeGone."""
    place, connection = connect(config_path, start)
    connection.close()
    return place


def connect(config_path: str | PathLike[str], start: bool) -> tuple[str, socket]:
    """A connection to the owner and where it listens, as `reach`. Raises BridgeGone."""
    if not endpoint.supported():
        raise BridgeGone("This system has no Unix sockets, so the command line cannot attach to a bridge.")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        holder = ownership.running(config_path)
        if holder is None:
            if not start:
                raise BridgeGone("No bridge is running for this configuration.")
            from pathlib import Path

            from sidekicks_bridge.cli.hub import HubFailed, start_hub

            try:
                start_hub(Path(config_path))
            except HubFailed as failed:
                raise BridgeGone(str(failed)) from failed
        elif problem := ownership.other_version(holder):
            raise BridgeGone(problem)
        elif holder.socket is not None and (connection := _connection(holder.socket)) is not None:
            return holder.socket, connection
        time.sleep(_STEP)
    raise BridgeGone(
        f"No bridge came up within {PATIENCE:.0f} seconds. `sidekicks hub --config {config_path}` shows why."
    )


def _connection(place: str) -> socket | None:
    try:
        return endpoint.connect(place)
    except PermissionError as refusal:  # another user's socket: the next look would find it, too
        raise BridgeGone(str(refusal)) from refusal
    except OSError:
        return None
