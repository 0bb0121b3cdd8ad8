"""An ACP agent that streams on demand and does nothing else, in the standard library alone: never the bottleneck.

`burst COUNT` in a prompt writes COUNT chunks as fast as they go; `paced COUNT RATE` writes RATE a second, each with
the moment it was written (CLOCK_MONOTONIC, ns).
"""

from __future__ import annotations

import json
import re
import sys
import time

BATCH = 200
WORDS_A_LINE = 15
ASKED = re.compile(r"(burst|paced) (\d+)(?: (\d+))?$")
OUT = sys.stdout.buffer


def send(message: dict[str, object]) -> None:
    """Write one frame."""
    OUT.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    OUT.flush()


def chunk(session: str, text: str) -> bytes:
    """A piece of the answer, as a line."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": "m1"}
    params = {"sessionId": session, "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"


def word(number: int) -> str:
    """The text of a chunk of a burst: its number, now and then a new line, as prose has it."""
    return f"w{number:05d}" + ("\n" if number % WORDS_A_LINE == WORDS_A_LINE - 1 else " ")


def burst(session: str, count: int) -> None:
    """As fast as they go, in writes of a few hundred, as a buffering agent does."""
    for start in range(0, count, BATCH):
        OUT.write(b"".join(chunk(session, word(number)) for number in range(start, min(start + BATCH, count))))
        OUT.flush()


def paced(session: str, count: int, rate: int) -> None:
    """``rate`` a second."""
    begin = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        OUT.write(chunk(session, f"{number} {time.monotonic_ns()}\n"))
        OUT.flush()


def main() -> None:
    """Answer until the input ends."""
    sessions = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params")
        result: dict[str, object] = {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        elif method == "session/new":
            sessions += 1
            result = {"sessionId": f"s{sessions}"}
        elif method == "session/prompt":
            asked = ASKED.search(params["prompt"][-1]["text"].strip())
            if asked is not None and asked[1] == "burst":
                burst(params["sessionId"], int(asked[2]))
            elif asked is not None:
                paced(params["sessionId"], int(asked[2]), int(asked[3]))
            result = {"stopReason": "end_turn"}
        if "id" in message and method is not None:
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
