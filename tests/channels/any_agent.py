"""An agent that says what a file tells it to: ``python any_agent.py SCRIPT`` reads it anew for each prompt.

A step is an update with text, ``{"update": …}``, ``{"method": …, "params": …}`` (a request), or a line as it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send(message: dict[str, Any]) -> None:
    say(json.dumps({"jsonrpc": "2.0", **message}))


def main() -> None:
    session, asked = "s1", 1000
    for line in sys.stdin:
        frame = json.loads(line)
        method, request_id = frame.get("method"), frame.get("id")
        if method == "initialize":
            send({"id": request_id, "result": {"protocolVersion": 1}})
        elif method == "session/new":
            send({"id": request_id, "result": {"sessionId": session}})
        elif method == "session/prompt":
            for step in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
                if isinstance(step, str):
                    say(step)
                elif "method" in step:
                    asked += 1
                    send({"id": asked, "method": step["method"], "params": {"sessionId": session, **step["params"]}})
                else:
                    update = step.get("update", step)
                    send({"method": "session/update", "params": {"sessionId": session, "update": update}})
            send({"id": request_id, "result": {"stopReason": "end_turn"}})
        elif method is not None and request_id is not None:
            send({"id": request_id, "result": {}})


if __name__ == "__main__":
    main()
