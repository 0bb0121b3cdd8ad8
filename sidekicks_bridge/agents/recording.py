"""Recording what an agent and a client say to each other, for a bug report: every frame, with the secrets left out.

Owns the form of a recording: JSON lines, the first `{"recording": 1, "agent": NAME}`, then
`{"at": SECONDS, "from": "client"|"agent", "frame": {…}}`, or `"line"` instead of `"frame"` for what is no JSON.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anyio.abc import ByteReceiveStream, ByteSendStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VERSION = 1
HIDDEN = "…"
_LEAST_SECRET = 6
"""A shorter value of a variable is no secret, and leaving it out would leave out half of the text."""
_SECRET_KEY = re.compile(r"token|secret|passw|api_?-?key|authorization|cookie|credential", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"\b(?:sk|pk|ghp|gho|ghs|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{12,}|\bBearer\s+\S+")

Side = Literal["client", "agent"]


class Recorder:
    """Takes the bytes of both sides and hands finished lines to ``write``. ``secrets``: texts that must not be kept."""

    def __init__(
        self, agent: str, write: Callable[[str], object], clock: Callable[[], float], secrets: Iterable[str] = ()
    ) -> None:
        self._write = write
        self._clock = clock
        self._began = clock()
        self._secrets = sorted({one for one in secrets if len(one) >= _LEAST_SECRET}, key=len, reverse=True)
        self._rest: dict[Side, bytearray] = {"client": bytearray(), "agent": bytearray()}
        self._line({"recording": VERSION, "agent": agent})

    def feed(self, side: Side, data: bytes) -> None:
        """Bytes went from ``side`` to the other."""
        *whole, rest = (bytes(self._rest[side]) + data).split(b"\n")
        self._rest[side] = bytearray(rest)
        for line in whole:
            if line.strip():
                self._frame(side, line)

    def _frame(self, side: Side, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        entry: dict[str, Any] = {"at": round(self._clock() - self._began, 3), "from": side}
        try:
            entry["frame"] = self._clean(json.loads(text))
        except (ValueError, RecursionError):
            entry["line"] = self._text(text)
        self._line(entry)

    def _line(self, entry: dict[str, Any]) -> None:
        self._write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")

    def _clean(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return HIDDEN if _SECRET_KEY.search(key) else self._text(value)
        if isinstance(value, list):
            named = key in ("env", "headers")
            return [self._variable(item) if named and isinstance(item, dict) else self._clean(item) for item in value]
        if isinstance(value, dict):
            if key in ("env", "headers"):
                return dict.fromkeys(value, HIDDEN)
            return {name: self._clean(item, name) for name, item in value.items()}
        return value

    @staticmethod
    def _variable(item: dict[str, Any]) -> dict[str, Any]:
        return {**item, "value": HIDDEN} if "value" in item else item

    def _text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = _SECRET_VALUE.sub(HIDDEN, text)
        return _without_home(text)


def _without_home(text: str) -> str:
    home = str(Path.home())
    return text if home in ("", os.sep) else text.replace(home, f"{os.sep}home{os.sep}user")


def secrets_of(env: Iterable[str], servers: Iterable[Any]) -> list[str]:
    """What a configured agent is given in secret: the values of its ``env`` and of its MCP servers'."""
    found = list(env)
    for server in servers:
        for field in ("env", "headers"):
            given = server.get(field) or []
            values = given.values() if isinstance(given, dict) else [item.get("value") for item in given]
            found += [value for value in values if isinstance(value, str)]
    return found


class SendingTap(ByteSendStream):
    """To the agent, kept."""

    def __init__(self, inner: ByteSendStream, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    async def send(self, item: bytes) -> None:
        """Keep and pass on."""
        self._recorder.feed("client", item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close."""
        await self._inner.aclose()


class ReceivingTap(ByteReceiveStream):
    """From the agent, kept."""

    def __init__(self, inner: ByteReceiveStream, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Pass on and keep."""
        data = await self._inner.receive(max_bytes)
        self._recorder.feed("agent", data)
        return data

    async def aclose(self) -> None:
        """Close."""
        await self._inner.aclose()
