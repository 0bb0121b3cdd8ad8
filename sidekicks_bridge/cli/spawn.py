"""Starting a bridge for the command line and ending it again.

Owns the child process: where its configuration comes from, its last words when it dies, the order of the goodbye.
The bridge gets a session of its own, so that Ctrl-C in the terminal is the client's to handle.
"""

from __future__ import annotations

import subprocess
from collections import deque
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.stapled import StapledByteStream

from sidekicks_bridge.cli.client import BridgeClient, BridgeGone
from sidekicks_bridge.cli.here import trusted_here
from sidekicks_bridge.cli.program import own_program
from sidekicks_bridge.cli.text import safe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from anyio.abc import ByteReceiveStream, Process

_STDERR_LINES = 12
_GOODBYE = 8.0
_LAST_WORDS = 0.5


def config_options(config: str | None) -> dict[str, Any]:
    """The handshake's options: the file given by ``--config``, else what the bridge finds by its own rules."""
    options: dict[str, Any] = {"workspaceTrusted": True} if trusted_here() else {}
    if config is not None:
        options["configPath"] = str(Path(config).absolute())
    return options


def bridge_command(config: str | None) -> list[str]:
    """How a bridge of our own is started."""
    command = own_program("serve")
    return command if config is None else [*command, "--config", str(Path(config).absolute())]


@asynccontextmanager
async def bridge(
    command: Sequence[str],
    on_event: Callable[[str, bytes], None],
    *,
    options: dict[str, Any],
    folder: str | None,
    meanwhile: Callable[[], None] = lambda: None,
) -> AsyncIterator[BridgeClient]:
    """A connected client of a bridge started by ``command``; at the end the bridge is told to go, and awaited.

    ``meanwhile`` is run while the bridge comes up, for what the caller must load.
    Raises `BridgeGone` when it cannot be started, dies in the handshake or speaks another version.
    """
    try:
        process = await anyio.open_process(command, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as problem:
        raise BridgeGone(f"The bridge could not be started: {command[0]}: {problem.strerror or problem}") from problem
    assert process.stdin is not None
    assert process.stdout is not None
    last_words: deque[str] = deque(maxlen=_STDERR_LINES)
    client = BridgeClient(StapledByteStream(process.stdin, process.stdout), on_event)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_converse, client, process, last_words)
            meanwhile()
            try:
                await client.initialize(options, folder)
                yield client
                await client.shut_down()
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise only(group) from None


async def _converse(client: BridgeClient, process: Process, last_words: deque[str]) -> None:
    """Read what the bridge says; at its end wait a moment for its exit code and last words, then tell who waits."""
    async with anyio.create_task_group() as tasks:
        collected = anyio.Event()
        tasks.start_soon(_collect, process.stderr, last_words, collected)
        wrong = await client.run()
        with anyio.move_on_after(_LAST_WORDS):
            await process.wait()
            await collected.wait()
        client.hang_up(wrong or _end_reason(process, last_words))


async def _collect(stream: ByteReceiveStream | None, lines: deque[str], collected: anyio.Event) -> None:
    """Keep the last lines of the bridge's stderr; ``collected`` is set at its end."""
    assert stream is not None
    rest = ""
    try:
        async for chunk in stream:
            *whole, rest = (rest + chunk.decode("utf-8", "replace")).split("\n")
            lines.extend(line for line in whole if line.strip())
            rest = rest[-4096:]
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass  # closed by our own goodbye
    collected.set()


async def _end(process: Process) -> None:
    """Close its stdin, wait for it; a bridge that does not go is terminated, then killed."""
    assert process.stdin is not None
    try:
        await process.stdin.aclose()
    except (OSError, anyio.BrokenResourceError):
        pass  # its end of the pipe is closed already
    for patience, insist in ((_GOODBYE, process.terminate), (2.0, process.kill)):
        with anyio.move_on_after(patience):
            await process.wait()
            break
        try:
            insist()
        except ProcessLookupError:
            break
    await process.aclose()


def _end_reason(process: Process, last_words: deque[str]) -> str:
    code = process.returncode
    how = "closed the connection" if code is None else f"ended with exit code {code}"
    words = "".join(f"\n  {safe(line)}" for line in last_words)
    return f"The bridge {how}; nothing finished is lost.{words}"


def only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What to tell of a group of failures: that the bridge is gone (all else follows), or the only one there is."""
    leaves = list(_leaves(group))
    gone = next((leaf for leaf in leaves if isinstance(leaf, BridgeGone)), None)
    return gone or (leaves[0] if len(leaves) == 1 else group)


def _leaves(failure: BaseException) -> Iterator[BaseException]:
    if isinstance(failure, BaseExceptionGroup):
        for inner in failure.exceptions:
            yield from _leaves(inner)
    else:
        yield failure
