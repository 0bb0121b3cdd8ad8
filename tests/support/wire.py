"""A client that says exactly what a test wants, right or wrong: on a bridge's socket, or on the stdio of a process.

Unlike `client` it knows nothing of channels, checks nothing and never says goodbye.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import SocketAttribute
from anyio.streams.stapled import StapledByteStream

from sidekicks_bridge.server.framing import FrameReader, frame

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from anyio.abc import ByteReceiveStream, ByteSendStream, ByteStream, Process

    from tests.support.sandbox import BridgeSandbox

    JSON = dict[str, Any]

PATIENCE = 30.0
SIDEKICKS: JSON = {"protocolVersion": 1}


class Wire:
    """``received`` holds every message of the bridge, oldest first; ``ended``: it closed its side."""

    process: Process
    """The bridge or relay, for a client on stdio (`serving`)."""

    def __init__(self, incoming: ByteReceiveStream, outgoing: ByteSendStream) -> None:
        self.received: list[JSON] = []
        self.ended = False
        self._incoming = incoming
        self._outgoing = outgoing
        self._count = 0
        self._news = anyio.Event()
        self._reads = anyio.Event()
        self._reads.set()

    def stop_reading(self) -> None:
        """From here on what the bridge says stays in the pipe, until it is full."""
        self._reads = anyio.Event()

    def read_on(self) -> None:
        """Read again."""
        self._reads.set()

    async def read(self) -> None:
        """Take what the bridge says until it ends."""
        frames = FrameReader()
        try:
            async for data in self._incoming:
                self.received += [json.loads(body) for body in frames.feed(data)]
                self._wake()
                await self._reads.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the other end was killed
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait for a true value of ``found()``; fails when the bridge ends first, or after `PATIENCE`."""
        with anyio.move_on_after(PATIENCE):
            while not (value := found()):
                assert not self.ended, f"The bridge ended the connection. It had said: {self.shown()}"
                await self._news.wait()
            return value
        raise AssertionError(f"Not within {PATIENCE:g} s. The bridge had said: {self.shown()}")

    async def more_than(self, count: int) -> None:
        """Wait until the bridge has said more than ``count`` messages."""
        await self.until(lambda: len(self.received) > count)

    async def until_ended(self) -> None:
        """Wait until the bridge closes the connection."""
        with anyio.fail_after(PATIENCE):
            while not self.ended:
                await self._news.wait()

    async def end_code(self) -> int:
        """Wait until the process of a client on stdio has ended; its exit code."""
        with anyio.fail_after(PATIENCE):
            return await self.process.wait()

    def shown(self) -> str:
        """The last messages, for a failed test."""
        return "\n".join(json.dumps(message)[:300] for message in self.received[-20:])

    # ── saying things ────────────────────────────────────────────────────────────────────────────────────────────

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        await self._outgoing.send(data)

    async def body(self, body: bytes) -> None:
        """Send a body in a right frame."""
        await self.raw(frame(body))

    async def say(self, message: Any) -> None:
        """Send a JSON value."""
        await self.body(json.dumps(message).encode())

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        await self.say({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Any, request_id: Any = None) -> Any:
        """Send a request without waiting; its id."""
        if request_id is None:
            self._count += 1
            request_id = f"test-{self._count}"
        await self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    async def answer(self, request_id: Any) -> JSON:
        """The whole answer to a request: with ``result`` or ``error``."""
        found: JSON = await self.until(lambda: next(iter(self.answers(request_id)), None))
        return found

    def answers(self, request_id: Any) -> list[JSON]:
        """Every answer with that id so far."""
        return [m for m in self.received if "method" not in m and "id" in m and m["id"] == request_id]

    async def call(self, method: str, params: Any, request_id: Any = None) -> JSON:
        """Send a request and wait for its whole answer."""
        return await self.answer(await self.ask(method, params, request_id))

    async def error(self, method: str, params: Any, request_id: Any = None) -> JSON:
        """The error of a request that must fail."""
        answer = await self.call(method, params, request_id)
        assert "error" in answer, f"{method} was not refused: {answer}"
        error: JSON = answer["error"]
        return error

    async def result(self, method: str, params: Any) -> Any:
        """The result of a request that must succeed."""
        answer = await self.call(method, params)
        assert "result" in answer, f"{method} failed: {answer}"
        return answer["result"]

    async def shake_hands(self, folder: str | None = None, sidekicks: JSON | None = SIDEKICKS, **params: Any) -> JSON:
        """`initialize` (``sidekicks`` None: as a plain LSP client) and `initialized`; the capabilities."""
        folders = [{"uri": f"file://{folder}", "name": "folder"}] if folder else None
        options = {} if sidekicks is None else {"initializationOptions": {"sidekicks": sidekicks}}
        given = {"processId": None, "capabilities": {}, "workspaceFolders": folders, **options, **params}
        result = await self.result("initialize", given)
        await self.notify("initialized", {})
        capabilities: JSON = result["capabilities"]
        return capabilities

    async def alive(self) -> None:
        """Ask something simple: the connection and the bridge behind it still work."""
        await self.result("sidekicks/state/get", {})

    def events(self, method: str) -> list[JSON]:
        """The parameters of each notification or request ``method`` of the bridge so far."""
        return [message["params"] for message in self.received if message.get("method") == method]


@asynccontextmanager
async def wire(stream: ByteStream) -> AsyncIterator[Wire]:
    """A client on a stream; leaves it at the end."""
    client = Wire(stream, stream)
    failure: Exception | None = None
    async with stream, anyio.create_task_group() as tasks:
        tasks.start_soon(client.read)
        try:
            yield client
        except Exception as error:  # raised below, without a group around it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


@asynccontextmanager
async def attached(socket: str) -> AsyncIterator[Wire]:
    """A client on the socket of a running bridge.

    It reads to the end instead of being cancelled: anyio's stream on a socket raises InvalidStateError in the
    loop when something comes in at the moment in which a reader that waits is cancelled.
    """
    stream = await anyio.connect_unix(socket)
    async with wire(stream) as client:
        try:
            yield client
        finally:
            client.read_on()
            with suppress(OSError):  # the bridge is gone already
                stream.extra(SocketAttribute.raw_socket).shutdown(SHUT_RDWR)
            with anyio.CancelScope(shield=True):
                await client.until_ended()


@asynccontextmanager
async def serving(
    box: BridgeSandbox,
    *args: str,
    env: dict[str, str] | None = None,
    named: bool = True,
    through: Sequence[str] = (),
) -> AsyncIterator[Wire]:
    """A client on the stdio of a `sidekicks serve` of its own (owner or relay); killed at the end if it still runs.

    ``named``: by ``--config``; else it finds a configuration by its own rules. ``env``: further variables.
    ``through``: a command that runs it.
    """
    config = ("--config", str(box.config_path)) if named else ()
    errors = box.folder / "serve.err"
    with errors.open("ab") as stderr:
        process = await anyio.open_process(
            [*through, sys.executable, "-m", "sidekicks_bridge", "serve", *config, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=box.folder,
            env={**box.environment(), **(env or {})},
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with wire(StapledByteStream(process.stdin, process.stdout)) as client:
            client.process = process
            yield client
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            await process.aclose()
