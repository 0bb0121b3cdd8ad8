"""A client that stops reading delays nobody, costs little memory, and recovers by opening its channels again."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.robustness.process import memory
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import Wire, serving

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

MEBIBYTE = 1024 * 1024
ANSWER = "@alice !chunks 500 2000"  # 1 MB
BEFORE, MEANWHILE = 5, 11
"""Answers given while all read, and while one does not: more than may wait for a client."""
LONGEST_WAIT = 1.0
"""Seconds in which a request must be answered meanwhile: generous, since the machine is busy."""


async def join(client: Wire) -> str:
    """Shake hands and open the channel; its id."""
    await client.shake_hands()
    channel: str = (await client.result("sidekicks/state/get", {}))["channels"][0]["id"]
    await client.result("sidekicks/channel/open", {"channelId": channel})
    return channel


async def answers(witness: Wire, channel: str, count: int, owner: int) -> tuple[float, int]:
    """Have long answers given, asking something all the while; the longest wait (s), the most memory (bytes)."""
    longest, most = 0.0, 0
    for _ in range(count):
        witness.received.clear()
        await witness.result("sidekicks/message/send", {"channelId": channel, "text": ANSWER})
        while not finished(witness):
            start = time.monotonic()
            await witness.alive()
            longest = max(longest, time.monotonic() - start)
        most = max(most, memory(owner))
    return longest, most


def finished(witness: Wire) -> bool:
    changes = witness.events("sidekicks/turn/changed")
    return bool(changes) and changes[-1]["turns"] == []


def streamed(witness: Wire) -> str:
    """The answer as its deltas tell it."""
    deltas = witness.events("sidekicks/message/delta")
    return "".join(delta["text"] if "text" in delta else delta["value"]["text"] for delta in deltas)


@pytest.mark.parametrize("door", ["stdio", "relay"])
async def test_a_client_that_stops_reading(tmp_path: Path, door: str) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(serving(box))
        channel = await join(owner)
        witness = await stack.enter_async_context(serving(box))
        await join(witness)
        slow = owner
        if door != "stdio":
            slow = await stack.enter_async_context(serving(box))
            await join(slow)

        _, before = await answers(witness, channel, BEFORE, owner.process.pid)
        slow.stop_reading()
        longest, most = await answers(witness, channel, MEANWHILE, owner.process.pid)
        assert longest < LONGEST_WAIT
        assert most - before <= 16 * MEBIBYTE, f"{(most - before) / MEBIBYTE:.1f} MiB"
        text = streamed(witness)
        assert len(text) == 500 * 2000
        slow.read_on()
        await slow.until(lambda: slow.events("sidekicks/channel/desynced"))
        assert slow.events("sidekicks/channel/desynced") == [{"channelId": channel}]
        here, there = [
            await client.result("sidekicks/channel/open", {"channelId": channel}) for client in (slow, witness)
        ]
        assert here == there
        assert here["messages"][-1]["parts"] == [{"type": "text", "text": text}]
        assert "Traceback" not in (tmp_path / "serve.err").read_text(encoding="utf-8")
