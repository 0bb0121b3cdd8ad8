"""The baselines for chunks: the same agent without a bridge. Each is run in a process of its own and prints JSON.

`sdk COUNT`: the CPU time (ms) that the ACP SDK alone takes to receive a burst. `pipe COUNT RATE`: the latencies (ns)
of paced chunks from the agent to a bare reader.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AGENT = str(HERE / "stream_agent.py")


async def sdk(count: int) -> None:
    """Receive a burst as the SDK's own example does; a first short prompt warms it up, as it does the bridge."""
    import acp

    class Client:  # no `acp.Client`: it would have to define all that this agent never asks for
        def __init__(self) -> None:
            self.texts: list[str] = []

        def on_connect(self, _agent: Any) -> None:
            pass

        async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
            if update.session_update == "agent_message_chunk":
                self.texts.append(update.content.text)

    client: Any = Client()
    async with acp.spawn_agent_process(client, sys.executable, AGENT) as (connection, _process):
        await connection.initialize(protocol_version=1)
        session = await connection.new_session(cwd=str(HERE))
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("burst 1")])
        before = time.process_time()
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(f"burst {count}")])
        used = (time.process_time() - before) * 1e3
    assert len(client.texts) == count + 1, len(client.texts)
    print(json.dumps(used))


def pipe(count: int, rate: int) -> None:
    """Read the agent's lines as they come and nothing more."""
    with subprocess.Popen([sys.executable, AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        params = {"sessionId": "s1", "prompt": [{"type": "text", "text": f"paced {count} {rate}"}]}
        agent.stdin.write(json.dumps({"id": 1, "method": "session/prompt", "params": params}).encode() + b"\n")
        latencies: list[int] = []
        while len(latencies) < count:
            lines = agent.stdout.read(1 << 16).splitlines()
            now = time.monotonic_ns()
            texts = [json.loads(line)["params"]["update"]["content"]["text"] for line in lines if b"update" in line]
            latencies += [now - int(text.split()[1]) for text in texts]
        agent.stdin.close()
    print(json.dumps(latencies))


if __name__ == "__main__":
    if sys.argv[1] == "sdk":
        asyncio.run(sdk(int(sys.argv[2])))
    else:
        pipe(int(sys.argv[2]), int(sys.argv[3]))
