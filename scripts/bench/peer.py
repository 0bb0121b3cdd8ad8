"""A client of the bridge that costs next to nothing: one thread, blocking reads, the moment of each one known.

Owns framing and the pairing of replies; what events mean is the benchmarks' business.
"""

from __future__ import annotations

import os
import select
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from scripts.bench.harness import CHANNEL, PATIENCE, Home, started
from sidekicks_bridge.server.framing import FrameReader, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JSON = dict[str, Any]
_BLOCK = 1 << 18
_decode = msgspec.json.Decoder().decode


class Peer:
    """One client on a pair of descriptors. Events go to ``on_event(method, params)``, read at ``read_at`` (ns)."""

    def __init__(self, reader: int, writer: int, pid: int = 0) -> None:
        self.pid = pid
        self.reader = reader
        self.read_at = 0
        self.on_event: Callable[[str, JSON], None] = lambda _method, _params: None
        self._writer = writer
        self._frames = FrameReader()
        self._replies: dict[int, JSON] = {}
        self._count = 0

    def read(self, seconds: float = PATIENCE) -> None:
        """Take what comes next."""
        if not select.select([self.reader], [], [], seconds)[0]:
            raise TimeoutError(f"the bridge said nothing for {seconds:g} s")
        data = os.read(self.reader, _BLOCK)
        self.read_at = time.monotonic_ns()
        if not data:
            raise EOFError("the bridge has ended")
        for body in self._frames.feed(data):
            message = _decode(body)
            if "method" not in message:
                self._replies[message["id"]] = message
            elif "id" not in message:
                self.on_event(message["method"], message["params"])

    def drain(self) -> None:
        """Take what is there already."""
        while select.select([self.reader], [], [], 0)[0]:
            self.read()

    def send(self, message: JSON) -> None:
        """Write one message."""
        data = memoryview(frame(msgspec.json.encode({"jsonrpc": "2.0", **message})))
        while data:
            data = data[os.write(self._writer, data) :]

    def request(self, method: str, /, **params: Any) -> Any:
        """Ask and wait for the result."""
        self._count += 1
        self.send({"id": self._count, "method": method, "params": params})
        while self._count not in self._replies:
            self.read()
        reply = self._replies.pop(self._count)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def shake_hands(self, workspace: Path) -> None:
        """`initialize`, answered; `initialized`."""
        self.initialize(workspace)
        self.send({"method": "initialized", "params": {}})

    def initialize(self, workspace: Path, **options: Any) -> JSON:
        """`initialize`, answered."""
        result: JSON = self.request(
            "initialize",
            processId=None,
            rootUri=workspace.as_uri(),
            workspaceFolders=[{"uri": workspace.as_uri(), "name": "workspace"}],
            capabilities={},
            initializationOptions={"sidekicks": {"protocolVersion": 1, **options}},
        )
        return result

    def open(self) -> str:
        """Open the channel of the configuration; its id."""
        channels = self.request("sidekicks/state/get")["channels"]
        found: str = next(channel["id"] for channel in channels if channel.get("name") == CHANNEL)
        self.request("sidekicks/channel/open", channelId=found)
        return found

    def leave(self) -> None:
        """`shutdown`, `exit`."""
        self.request("shutdown")
        self.send({"method": "exit"})


class Turn:
    """Listens to one answer on one client: its text, growing, and whether it is finished."""

    def __init__(self, peer: Peer, on_text: Callable[[str], None]) -> None:
        self.done = False
        self.peer = peer
        self._on_text = on_text
        peer.on_event = self._take

    def ask(self, channel_id: str, text: str) -> None:
        """Send, and take what comes until the answer is finished."""
        self.peer.request("sidekicks/message/send", channelId=channel_id, text=text)
        while not self.done:
            self.peer.read()

    def _take(self, method: str, params: JSON) -> None:
        if method == "sidekicks/message/delta":
            text = params.get("text") or (params.get("value") or {}).get("text")
            if text:
                self._on_text(text)
        elif method == "sidekicks/message/updated":
            message = params["message"]
            self.done = self.done or (message["author"]["kind"] == "agent" and message["state"] == "finished")


@contextmanager
def serving(place: Home) -> Iterator[Peer]:
    """`sidekicks serve` and its client on the pipes, shaken hands; the first one owns, further ones relay."""
    with started(place.command("serve"), place.environment, place.workspace, place.folder / "serve.log") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        peer = Peer(process.stdout.fileno(), process.stdin.fileno(), process.pid)
        peer.shake_hands(place.workspace)
        yield peer
        peer.leave()


def warm_up(peer: Peer, channel_id: str) -> None:
    """One short turn, so that the agent runs and has a session."""
    Turn(peer, lambda _text: None).ask(channel_id, "burst 1")
