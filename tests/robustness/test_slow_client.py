"""A client that stops reading delays nobody, costs little memory, and recovers by opening its channels again."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.robustness.process import memory
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import Wire, attached, serving

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio

MEBIBYTE = 1024 * 1024
STREAM = "@alice !chunks 30000 500"  # 15 MB, twice what may wait for a client
LONGEST_WAIT = 1.0
"""Seconds in which a request must be answered meanwhile: generous, since the machine is busy with the stream."""


async def join(client: Wire) -> str:
    """Shake hands and open the channel; its id."""
    await client.shake_hands()
    channel: str = (await client.result("sidekicks/state/get", {}))["channels"][0]["id"]
    await client.result("sidekicks/channel/open", {"channelId": channel})
    return channel


async def stream(witness: Wire, channel: str) -> float:
    """Have the long answer given, asking something all the while; the longest wait for an answer in seconds."""
    witness.received.clear()
    longest = 0.0
    await witness.result("sidekicks/message/send", {"channelId": channel, "text": STREAM})
    while not finished(witness):
        start = time.monotonic()
        await witness.alive()
        longest = max(longest, time.monotonic() - start)
    return longest


def finished(witness: Wire) -> bool:
    changes = witness.events("sidekicks/turn/changed")
    return bool(changes) and changes[-1]["turns"] == []


def streamed(witness: Wire) -> str:
    """The answer as its deltas tell it."""
    deltas = witness.events("sidekicks/message/delta")
    return "".join(delta["text"] if "text" in delta else delta["value"]["text"] for delta in deltas)


@pytest.mark.parametrize("door", ["stdio", "socket", "relay"])
async def test_a_client_that_stops_reading(tmp_path: Path, door: str) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(serving(box))
        channel = await join(owner)
        witness = await stack.enter_async_context(serving(box))
        await join(witness)
        slow = owner
        if door != "stdio":
            other = attached(socket_of(box)) if door == "socket" else serving(box)
            slow = await stack.enter_async_context(other)
            await join(slow)

        await stream(witness, channel)
        before = memory(owner.process.pid)
        slow.stop_reading()
        longest = await stream(witness, channel)
        grown = memory(owner.process.pid) - before

        assert longest < LONGEST_WAIT
        assert grown <= 16 * MEBIBYTE, f"{grown / MEBIBYTE:.1f} MiB"
        text = streamed(witness)
        assert len(text) == 30_000 * 500
        slow.read_on()
        await slow.until(lambda: slow.events("sidekicks/channel/desynced"))
        assert slow.events("sidekicks/channel/desynced") == [{"channelId": channel}]
        here, there = [
            await client.result("sidekicks/channel/open", {"channelId": channel}) for client in (slow, witness)
        ]
        assert here == there
        assert here["messages"][-1]["parts"] == [{"type": "text", "text": text}]
        assert "Traceback" not in (tmp_path / "serve.err").read_text(encoding="utf-8")
