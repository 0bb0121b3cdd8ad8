"""A process that writes until it is killed, and prints what was acknowledged: ``python -m … FOLDER FIRST``."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from sidekicks_bridge.protocol.parts import TextContent, ToolCallPart
from sidekicks_bridge.store.contract import EndTurn, PutMember, PutMessage, PutTurn, Store
from sidekicks_bridge.store.open import open_store
from tests.store.conftest import CONFIG
from tests.store.make import member, message, turn

WRITERS = 4


async def write_channel(store: Store, channel: str, first: int) -> None:
    """Turn after turn in one channel: a turn begins, then its message, its end and the cursor in one write."""
    for seq in range(first, 10**9):
        turn_id = f"{channel}-{seq}"
        await store.write(PutTurn(turn(turn_id, channel)))
        output = ToolCallPart(
            id="t",
            kind="read",
            title=f"Read {seq}",
            status="completed",
            content=[TextContent(text=str(seq) * 9_000)],
            locations=[],
        )
        answer = message(turn_id, [output], channel=channel, seq=seq, author="alice")
        await store.write(PutMessage(answer), EndTurn(turn_id), PutMember(member("alice", channel, cursor=seq)))
        sys.stdout.write(f"{channel} {seq}\n")
        sys.stdout.flush()


async def main(folder: Path) -> None:
    """Several channels at once, each from where it stands."""
    store = await open_store(CONFIG, folder=folder)
    assert store.persistent, store.reason
    async with anyio.create_task_group() as group:
        for number in range(WRITERS):
            channel = f"c{number}"
            group.start_soon(write_channel, store, channel, await store.last_seq(channel) + 1)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
