"""Bad behaviours that can be understood all the same: bare values for lists and objects, numbers for ids, and the like.

Each says ``after`` in the end. The table of kinds is in `bad`.
"""

from __future__ import annotations

import json

from tests.fake_agent.bad import bad, update_frame
from tests.fake_agent.turn import SilentError
from tests.fake_agent.wire import encode

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from tests.fake_agent.turn import Turn


@bad("batch")
def batch(turn: Turn, _rest: str) -> None:
    frames = [update_frame(turn, turn.chunk(text)) for text in ("one ", "two ")]
    turn.wire.raw(json.dumps(frames).encode() + b"\n")
    turn.say("after")


@bad("no-newline")
def no_newline(turn: Turn, _rest: str) -> None:
    turn.say("after")
    turn.session.turn = None
    response = {"jsonrpc": "2.0", "id": turn.request_id, "result": {"stopReason": "end_turn"}}
    turn.wire.raw(encode(response)[:-1])
    raise SilentError


@bad("log-with-ids")
def log_with_ids(turn: Turn, _rest: str) -> None:
    line = {"id": turn.request_id, "level": "info", "msg": "a log that is JSON"}
    turn.wire.raw(encode(line))
    turn.say("after")


@bad("update-asks")
def update_asks(turn: Turn, _rest: str) -> None:
    for update in (turn.chunk("one "), {"sessionUpdate": "plan", "entries": []}):
        turn.wire.ask("session/update", {"sessionId": turn.session.id, "update": update}).wait()
    turn.say("after")


@bad("text-shapes")
def text_shapes(turn: Turn, _rest: str) -> None:
    kind = {"sessionUpdate": "agent_message_chunk"}
    for content in ({"text": "one "}, [{"type": "text", "text": "two "}], "three "):
        turn.update({**kind, "content": content})
    turn.update({**kind, "text": "four "})
    resource = {"uri": "file:///a.md", "text": "five "}
    turn.update({**kind, "content": {"type": "resource", "resource": resource}})
    turn.update({**kind, "content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}})
    turn.say("after")


@bad("tool-number")
def tool_number(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "tool_call", "toolCallId": 7, "title": "numbered", "status": "pending"})
    turn.update({"sessionUpdate": "tool_call_update", "toolCallId": 7, "status": "completed", "content": "bare"})
    turn.say("after")


@bad("bare-lists")
def bare_lists(turn: Turn, _rest: str) -> None:
    commands = ["init", {"name": "review", "input": "what"}]
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
    turn.update({"sessionUpdate": "plan", "entries": ["first", "second"]})
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": None})
    turn.update({"sessionUpdate": "plan", "entries": None})
    turn.say("after")


@bad("perm-number")
def perm_number(turn: Turn, _rest: str) -> None:
    reply = turn.request(
        "session/request_permission",
        toolCall={"toolCallId": 9, "title": "numbered"},
        options=[{"optionId": 1, "name": "Yes", "kind": "allow_once"}],
    )
    turn.say(f"{json.dumps(reply.get('result'))} after")
