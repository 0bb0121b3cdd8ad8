"""Fill a configuration's history: `python -m scripts.bench.fill CONFIG ROOT NAME=COUNT …`, a channel each, by `alice`.

For benchmarks and tests that drive a client from outside Python. The configuration must not be in use.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio

from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.types import Author, Message
from sidekicks_bridge.store.contract import PutChannel, PutMember, PutMessage, StoredChannel, StoredMember
from sidekicks_bridge.store.open import open_store

AGENT = "alice"
AT = "2026-11-30T12:00:00.000Z"
TEXT = "a **short** answer with `code`, number"


async def fill(config: Path, root: str, channels: dict[str, int]) -> None:
    """Make the channels with so many finished messages each."""
    store = await open_store(config)
    ids = Ulids()
    for name, count in channels.items():
        channel = StoredChannel(id=ids.new(), kind="named", name=name, created_at=AT, updated_at=AT, root=root)
        member = StoredMember(channel_id=channel.id, name=AGENT, joined_at=AT, cursor=count)
        changes: list[Any] = [PutChannel(channel), PutMember(member)]
        for seq in range(1, count + 1):
            parts: list[Any] = [TextPart(text=f"{TEXT} {seq}")]
            message = Message(
                id=ids.new(),
                seq=seq,
                channel_id=channel.id,
                author=Author(kind="agent", name=AGENT),
                parts=parts,
                created_at=AT,
                state="finished",
            )
            changes.append(PutMessage(message))
        await store.write(*changes)
    await store.close()


if __name__ == "__main__":
    wanted = {name: int(count) for name, _, count in (word.partition("=") for word in sys.argv[3:])}
    anyio.run(fill, Path(sys.argv[1]), sys.argv[2], wanted)
