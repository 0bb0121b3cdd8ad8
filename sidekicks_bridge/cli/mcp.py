"""`sidekicks mcp`: the mail verbs as MCP tools, on stdio. The bridge gives it to its agents with each session.

Standard library only, and few modules of it: an agent waits for it to start. Who calls is the token's matter, never an
argument's. Each call has a thread and a connection of its own, so a waiting one holds up nobody.
"""

from __future__ import annotations

import json
import os
import sys
from _thread import allocate_lock, start_new_thread
from typing import TYPE_CHECKING

from sidekicks_bridge import __version__, endpoint
from sidekicks_bridge.cli import mail_text as text
from sidekicks_bridge.cli.mail_socket import Gone, Refused, request

if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Any

    JSON = dict[str, Any]

SOCKET_VARIABLE = "SIDEKICKS_MAIL_SOCKET"
TOKEN_VARIABLE = "SIDEKICKS_MAIL_TOKEN"  # noqa: S105  # the name of a variable
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
WAIT_SECONDS = 45
"""How long tools wait unless told: most MCP clients give a call a minute."""
_INVALID_PARAMS, _UNKNOWN_METHOD = -32602, -32601

_PEER = ("peer", "string", "who: the name of an agent or peer (`agents` lists them)")
_ROOM = ("room", "string", "the room's name")
_BODY = ("message", "string", "what to say, as plain text or Markdown")
_TIMEOUT = ("timeout", "number", f"seconds to wait ({WAIT_SECONDS}); 0: do not wait")
_EITHER = " Give either `peer` or `room`."

Field = tuple[str, str, str]
Tool = tuple[str, str, tuple[Field, ...], tuple[Field, ...], "Callable[[JSON], list[str]]"]
TOOLS: dict[str, Tool] = {
    # name: method, description, required fields, optional fields, how the result reads
    "agents": ("agents", "Who can be written to: other agents, scripts and people.", (), (), text.agents),
    "tell": (
        "tell",
        "Write to an agent or peer and go on. An agent gets a turn for it; its answer comes by `read`.",
        (_PEER, _BODY),
        (),
        text.told,
    ),
    "ask": (
        "ask",
        "Ask an agent or peer and wait for the answer. If the time runs out, the answer is not lost: `read` it later.",
        (_PEER, _BODY),
        (_TIMEOUT,),
        text.answered,
    ),
    "read": (
        "read",
        "Read what waits for you: the next message of a peer, or everything new in a room." + _EITHER,
        (),
        (_PEER, _ROOM, _TIMEOUT),
        text.listed,
    ),
    "read-any": ("readAny", "Read the next message of anybody.", (), (_TIMEOUT,), text.any_letter),
    "peek": ("peek", "See what waits for you without consuming it." + _EITHER, (), (_PEER, _ROOM), text.listed),
    "post": (
        "post",
        "Write to a room. An agent of the room that you mention as @name gets a turn for it.",
        (_ROOM, _BODY),
        (),
        text.posted,
    ),
    "room_create": ("createRoom", "Make a room.", (_ROOM,), (("description", "string", "what it is for"),), text.room),
    "join": ("join", "Become a member of a room.", (_ROOM,), (), text.room),
    "leave": ("leave", "Leave a room.", (_ROOM,), (), text.nothing),
    "rooms": ("rooms", "All rooms and who is in them.", (), (), text.rooms),
    "participants": ("participants", "Who is in a room, and what waits for each.", (_ROOM,), (), text.participants),
    "history": (
        "history",
        "What was written before, with a peer or in a room." + _EITHER,
        (),
        (_PEER, _ROOM, ("since", "integer", "only after this number"), ("limit", "integer", "the last so many (50)")),
        text.listed,
    ),
    "channels": ("channels", "Your conversations and how much waits in each.", (), (), text.channels),
}


def main(argv: list[str]) -> int:
    """Serve until stdin ends. 64: not started by the bridge."""
    place, token = os.environ.get(SOCKET_VARIABLE), os.environ.get(TOKEN_VARIABLE)
    if argv or not place or not token:
        print("sidekicks mcp: the bridge starts this for its agents; it is no command for people.", file=sys.stderr)
        return 64
    server = Server(place, token)
    for line in sys.stdin.buffer:
        if line.strip():
            server.accept(line)
    server.close()
    return 0


class Server:
    """One MCP client's server."""

    def __init__(self, place: str, token: str) -> None:
        self._place = place
        self._token = token
        self._lock = allocate_lock()
        self._calls: dict[object, socket] = {}

    def accept(self, line: bytes) -> None:
        """Take one message."""
        try:
            message = json.loads(line)
        except ValueError:
            self._send({"id": None, "error": {"code": -32700, "message": "That is no JSON."}})
            return
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict):
                self._take(one)

    def _take(self, message: JSON) -> None:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "notifications/cancelled":
            self._cancel(params.get("requestId"))
        if "id" not in message or method is None:
            return
        if method == "tools/call":
            start_new_thread(self._call, (message["id"], params))
            return
        answers: dict[str, Callable[[JSON], JSON]] = {
            "initialize": _initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": [_described(name, tool) for name, tool in TOOLS.items()]},
        }
        if answer := answers.get(method):
            self._send({"id": message["id"], "result": answer(params)})
        else:
            error = {"code": _UNKNOWN_METHOD, "message": f"There is no method {method!r} here."}
            self._send({"id": message["id"], "error": error})

    def _call(self, request_id: object, params: JSON) -> None:
        name, given = params.get("name"), params.get("arguments") or {}
        tool = TOOLS.get(name) if isinstance(name, str) else None
        if tool is None or not isinstance(given, dict):
            error = {"code": _INVALID_PARAMS, "message": f"There is no tool {name!r}."}
            self._send({"id": request_id, "error": error})
            return
        try:
            lines, failed = tool[4](self._ask(request_id, tool, given)), False
        except Refused as refused:
            lines, failed = [f"{refused.reason}: {refused.message}"], True
        except (Gone, OSError) as gone:
            lines, failed = [f"closed: the bridge cannot be reached ({gone})."], True
        except ValueError as wrong:
            lines, failed = [f"invalidParams: {wrong}"], True
        content = [{"type": "text", "text": "\n".join(lines) or "(nothing)"}]
        self._send({"id": request_id, "result": {"content": content, "isError": failed}})

    def _ask(self, request_id: object, tool: Tool, given: JSON) -> JSON:
        params = _params(tool, given)
        connection = endpoint.connect(self._place)
        with self._lock:
            self._calls[request_id] = connection
        try:
            result = request(connection, f"sidekicks/mail/{tool[0]}", {**params, "token": self._token})
        finally:
            with self._lock:
                self._calls.pop(request_id, None)
            connection.close()
        return result

    def _cancel(self, request_id: object) -> None:
        """End a call: the bridge sees its connection end, and stops waiting."""
        with self._lock:
            connection = self._calls.get(request_id)
        if connection is not None:
            connection.shutdown(2)

    def close(self) -> None:
        """The client is gone: no call is wanted any more."""
        for request_id in list(self._calls):
            self._cancel(request_id)

    def _send(self, message: JSON) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self._lock:
            try:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
            except OSError:
                pass  # the client is gone; stdin's end ends us too


def _initialize(params: JSON) -> JSON:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "sidekicks", "version": __version__},
        "instructions": "Write to the other agents, scripts and people of this Sidekicks Bridge, and read their mail.",
    }


def _described(name: str, tool: Tool) -> JSON:
    _, description, required, optional, _ = tool
    properties = {field: {"type": kind, "description": what} for field, kind, what in (*required, *optional)}
    schema = {"type": "object", "properties": properties, "required": [field for field, _, _ in required]}
    return {"name": name, "description": description, "inputSchema": schema}


def _params(tool: Tool, given: JSON) -> JSON:
    """Arguments → the request's parameters. Raises ValueError."""
    _, _, required, optional, _ = tool
    params: JSON = {}
    for field, kind, _ in (*required, *optional):
        value = given.get(field)
        if value is None:
            if any(field == name for name, _, _ in required):
                raise ValueError(f"`{field}` is missing.")
        elif isinstance(value, bool) or not isinstance(value, str if kind == "string" else (int, float)):
            raise ValueError(f"`{field}` must be a {kind}.")
        else:
            params["body" if field == "message" else field] = int(value) if kind == "integer" else value
    if any(field == "timeout" for field, _, _ in optional):
        params["timeout"] = round(params.get("timeout", WAIT_SECONDS) * 1000)
    if "room" in params:
        params["room"] = params["room"].removeprefix("#")
    return params
