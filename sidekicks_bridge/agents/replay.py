"""Playing a recording as an agent: what the agent said then is said again, in answer to what the client says now.

Standard library only, on stdin and stdout. The recording decides the order: it waits for the client where the client
spoke, by method; what the client asks otherwise is answered as it was anywhere in the recording, else refused.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    JSON = dict[str, Any]

_METHOD_NOT_FOUND = -32601


class NoRecordingError(Exception):
    """The file is no recording; the message says why."""


def read_recording(path: Path) -> list[JSON]:
    """The entries of a recording. Raises NoRecordingError, OSError."""
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        head, *entries = [json.loads(line) for line in lines if line.strip()]
        version = head["recording"]
    except (ValueError, KeyError, TypeError):
        raise NoRecordingError(f"{path} is no recording made by `sidekicks doctor --record`.") from None
    if version != 1:
        raise NoRecordingError(f"{path} is a recording of version {version}; this program plays version 1.")
    return [entry for entry in entries if isinstance(entry, dict)]


class Replay:
    """One run of a recording. ``incoming`` gives the client's frames, ``outgoing`` takes lines."""

    def __init__(self, entries: list[JSON], incoming: Iterator[JSON], outgoing: IO[bytes]) -> None:
        self._entries = entries
        self._incoming = incoming
        self._outgoing = outgoing
        self._ids: dict[str, Any] = {}

    def run(self) -> None:
        """Play until the recording and the client's input have ended."""
        for entry in self._entries:
            frame = entry.get("frame")
            if entry.get("from") == "agent":
                self._say(entry)
            elif isinstance(frame, dict) and not self._wait_for(frame):
                return
        for frame in self._incoming:
            self._answer(frame)

    def _wait_for(self, recorded: JSON) -> bool:
        """Read until the client says the same kind of thing; False: it has gone."""
        for frame in self._incoming:
            if _kind(frame) == _kind(recorded):
                if "method" in recorded and "id" in recorded:
                    self._ids[json.dumps(recorded["id"])] = frame.get("id")
                return True
            self._answer(frame)
        return False

    def _say(self, entry: JSON) -> None:
        frame = entry.get("frame")
        if not isinstance(frame, dict):
            self._write(str(entry.get("line", "")) if frame is None else json.dumps(frame))
            return
        if "method" not in frame and "id" in frame:
            asked = json.dumps(frame["id"])
            if asked not in self._ids:
                return  # the client has not asked this time
            frame = {**frame, "id": self._ids.pop(asked)}
        self._write(json.dumps(frame, ensure_ascii=False))

    def _answer(self, frame: JSON) -> None:
        """A request that the recording does not expect now."""
        if "method" not in frame or "id" not in frame:
            return
        known = self._known(frame["method"])
        error = {"code": _METHOD_NOT_FOUND, "message": f"The recording has no {frame['method']}"}
        self._write(json.dumps({"jsonrpc": "2.0", "id": frame["id"], **(known or {"error": error})}))

    def _known(self, method: str) -> JSON | None:
        frames = [(entry.get("from"), entry.get("frame")) for entry in self._entries]
        asked = [
            frame["id"]
            for side, frame in frames
            if side == "client" and isinstance(frame, dict) and _kind(frame) == ("request", method)
        ]
        for side, frame in frames:
            if side == "agent" and isinstance(frame, dict) and "method" not in frame and frame.get("id") in asked:
                return {key: frame[key] for key in ("result", "error") if key in frame}
        return None

    def _write(self, line: str) -> None:
        self._outgoing.write(line.encode("utf-8", "replace") + b"\n")
        self._outgoing.flush()


def _kind(frame: Any) -> tuple[str, Any]:
    """What must be alike: a request or notification its method, a response its id (that of the agent's request)."""
    if not isinstance(frame, dict):
        return "none", None
    if "method" in frame:
        return ("request" if "id" in frame else "notification"), frame["method"]
    return "response", json.dumps(frame.get("id"))


def frames_of(stream: IO[bytes]) -> Iterator[JSON]:
    """The objects on a stream of JSON lines."""
    for line in stream:
        try:
            frame = json.loads(line)
        except ValueError:
            continue
        if isinstance(frame, dict):
            yield frame
