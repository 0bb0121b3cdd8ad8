"""The baseline for chunks: the ACP SDK alone, receiving from the same agent as its own examples do.

A process of its own that prints JSON: `burst COUNT` the CPU time it took (ms), `paced COUNT RATE` how late each chunk
came to the SDK's callback (ms).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import acp

HERE = Path(__file__).resolve().parent
AGENT = str(HERE / "stream_agent.py")


class Client:
    """Keeps what it is told. No `acp.Client`: it would have to define all that this agent never asks for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.times: list[int] = []

    def on_connect(self, agent: Any) -> None:
        """Nothing to prepare."""

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        """A chunk came."""
        self.times.append(time.monotonic_ns())
        if update.session_update == "agent_message_chunk":
            self.texts.append(update.content.text)


async def receive(asked: str) -> tuple[Client, float]:
    """Run one prompt, after a short one that warms up the agent and us: what came, and the CPU time it took (ms)."""
    client = Client()
    as_client: Any = client
    async with acp.spawn_agent_process(as_client, sys.executable, AGENT) as (connection, _process):
        await connection.initialize(protocol_version=1)
        session = await connection.new_session(cwd=str(HERE))
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("burst 1")])
        client.texts.clear()
        client.times.clear()
        before = time.process_time()
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(asked)])
        return client, (time.process_time() - before) * 1e3


def main(words: list[str]) -> None:
    """Print what was asked for."""
    client, used = asyncio.run(receive(" ".join(words)))
    assert len(client.texts) == int(words[1]), f"{len(client.texts)} of {words[1]} chunks came"
    if words[0] == "burst":
        print(json.dumps(used))
    else:
        pairs = zip(client.times, client.texts, strict=True)
        print(json.dumps([(came - int(text.split()[1])) / 1e6 for came, text in pairs]))


if __name__ == "__main__":
    main(sys.argv[1:])
