"""The directive that uses a tool: the session's MCP server is started, asked once, and ended."""

from __future__ import annotations

import json
import os

from tests.fake_agent.script import unescape
from tests.fake_agent.turn import Turn, directive

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    JSON = dict[str, Any]


@directive("mcp")
def mcp(turn: Turn, argument: str) -> None:
    name, _, body = argument.partition(" ")
    call = {"name": name, "arguments": json.loads(unescape(body) or "{}", strict=False)}
    server = next(one for one in turn.session.mcp_servers if one["name"] == "sidekicks")
    result = _call(turn, server, call)
    said = "".join(block["text"] for block in result["content"])
    turn.say(f"{name} refused: {said}\n" if result["isError"] else f"{name}: {said}\n")


def _call(turn: Turn, server: JSON, call: JSON) -> JSON:
    import subprocess  # only here: it costs a start 3 ms

    env = {**os.environ, **{one["name"]: one["value"] for one in server["env"]}}
    process = subprocess.Popen(
        [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}}
    for number, (method, params) in enumerate((("initialize", hello), ("tools/call", call))):
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    turn.agent.recorder.write("calling", tool=call["name"], session=turn.session.id)
    answer: JSON = json.loads(process.stdout.readline())
    process.stdin.close()
    process.wait()
    if "error" in answer:
        raise ValueError(answer["error"]["message"])
    result: JSON = answer["result"]
    return result
