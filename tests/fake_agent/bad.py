"""Bad behaviours on the wire, each ``!bad KIND``: what agents in the field have sent, and worse.

Each kind is a function of the turn; it writes what it must by `Wire.raw` or well-formed frames with wrong
contents. One that answers for itself, or never, raises `SilentError`. It must not be softened to please a
client.
"""

from __future__ import annotations

import json
import os
import sys

from tests.fake_agent.turn import SilentError, Turn, directive
from tests.fake_agent.wire import encode

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    JSON = dict[str, Any]
    Bad = Callable[[Turn, str], None]

KINDS: dict[str, Bad] = {}


def bad(name: str) -> Callable[[Bad], Bad]:
    """Register a kind."""

    def register(action: Bad) -> Bad:
        KINDS[name] = action
        return action

    return register


@directive("bad")
def _bad(turn: Turn, argument: str) -> None:
    kind, _, rest = argument.partition(" ")
    if kind not in KINDS:
        raise ValueError(f"unknown kind of bad: {kind}")
    KINDS[kind](turn, rest)


def update_frame(turn: Turn, update: Any, session: str = "") -> JSON:
    """A ``session/update`` with anything as its update."""
    params = {"sessionId": session or turn.session.id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _chunk(turn: Turn, text: str) -> JSON:
    return update_frame(turn, turn.chunk(text))


def _answer(turn: Turn, **fields: Any) -> None:
    """Answer the prompt with a response of these fields and nothing else."""
    turn.answer(**fields)
    raise SilentError


def _raw_then_after(*lines: bytes) -> Bad:
    def action(turn: Turn, _rest: str) -> None:
        for line in lines:
            turn.wire.raw(line + b"\n")
        turn.say("after")

    return action


NOISE: dict[str, tuple[bytes, ...]] = {
    "nonjson": (b"Welcome to agent v1!", b"", b"\x1b[31mcolor\x1b[0m"),
    "blank": (b"", b"   ", b"\r"),
    "scalar": (b"42", b"true", b"1e400"),
    "string": (b'"hello"',),
    "array": (b'[{"jsonrpc":"2.0","method":"session/update"}]',),
    "null": (b"null",),
    "empty-object": (b"{}",),
    "unfinished": (b'{"jsonrpc":"2.0","method":"session/upd',),
    "deep": (b'{"jsonrpc":"2.0","method":"session/update","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}",),
    "nan": (b'{"jsonrpc":"2.0","method":"_x/nan","params":{"a":NaN,"b":-Infinity}}',),
    "no-params": (b'{"jsonrpc":"2.0","method":"session/update"}',),
    "list-params": (b'{"jsonrpc":"2.0","method":"session/update","params":[1,2]}',),
    "method-not-text": (b'{"jsonrpc":"2.0","method":7,"params":{}}',),
    "unasked-answer": (
        b'{"jsonrpc":"2.0","id":987654,"result":{}}',
        b'{"jsonrpc":"2.0","id":"zz","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
        b'{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
    ),
}
for _name, _lines in NOISE.items():
    KINDS[_name] = _raw_then_after(*_lines)


# --- framing


@bad("ansi-prefix")
def ansi_prefix(turn: Turn, _rest: str) -> None:
    turn.wire.raw(b"\x1b]0;title\x07" + encode(_chunk(turn, "lost?")))
    turn.wire.raw(b"\x1b[2K\x1b[1G" + encode(_chunk(turn, "after")))


@bad("badutf8")
def badutf8(turn: Turn, _rest: str) -> None:
    turn.wire.raw(encode(_chunk(turn, "@")).replace(b"@", b"\xff\xfe"))
    turn.say("after")


@bad("surrogate")
def surrogate(turn: Turn, _rest: str) -> None:
    turn.wire.raw(json.dumps(_chunk(turn, "half \ud83d pair")).encode() + b"\n")
    turn.say("after")


@bad("crlf")
def crlf(turn: Turn, _rest: str) -> None:
    turn.wire.raw(encode(_chunk(turn, "crlf ok"))[:-1] + b"\r\n")


@bad("split")
def split(turn: Turn, _rest: str) -> None:
    for byte in encode(_chunk(turn, "split ü ok")):
        turn.wire.raw(bytes([byte]))


@bad("glued")
def glued(turn: Turn, _rest: str) -> None:
    turn.wire.raw(encode(_chunk(turn, "one "))[:-1] + encode(_chunk(turn, "two ")))
    turn.say("after")


@bad("banner-glued")
def banner_glued(turn: Turn, _rest: str) -> None:
    turn.wire.raw(b"loading model... " + encode(_chunk(turn, "lost?")))
    turn.say("after")


@bad("big")
def big(turn: Turn, size: str) -> None:
    turn.say("x" * int(size or 10_000_000))


@bad("stderr")
def stderr(turn: Turn, _rest: str) -> None:
    sys.stderr.write("noise " * 400_000)
    sys.stderr.flush()
    turn.say("after")


@bad("close-stdout")
def close_stdout(turn: Turn, _rest: str) -> None:
    turn.say("partial")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # closes our end of the pipe and keeps the number taken
    raise SilentError


@bad("exit")
def exit_now(turn: Turn, _rest: str) -> None:
    turn.say("partial")
    os._exit(3)


<<<<<<< HEAD
=======
# --- updates


@bad("unknown-update")
def unknown_update(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "notice", "text": "hi"})
    turn.update({"sessionUpdate": "some_future_kind", "x": 1})
    turn.say("after")


@bad("odd-updates")
def odd_updates(turn: Turn, _rest: str) -> None:
    odd: list[Any] = [None, "text", [], 7, {}, {"sessionUpdate": None}, {"sessionUpdate": ["plan"]}]
    for update in odd:
        turn.wire.send(_update(turn, update))
    turn.say("after")


@bad("bad-kind")
def bad_kind(turn: Turn, _rest: str) -> None:
    kept = {"type": "content", "content": {"type": "text", "text": "kept"}}
    turn.tool(
        turn.session.next_id("t"),
        title="T",
        kind="frobnicate",
        status="cancelled",
        content=[{"type": "hologram"}, kept],
        locations=[{"path": 1}],
    )


@bad("no-title")
def no_title(turn: Turn, _rest: str) -> None:
    turn.tool(turn.session.next_id("t"))
    turn.say("after")


@bad("no-id")
def no_id(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "tool_call", "title": "no id", "status": "pending"})
    turn.update({"sessionUpdate": "tool_call_update", "status": "completed"})
    turn.say("after")


@bad("same-tool")
def same_tool(turn: Turn, _rest: str) -> None:
    call_id = turn.session.next_id("t")
    for title in ("first", "second", "third"):
        turn.tool(call_id, title=title, kind="read", status="in_progress")
    turn.tool_update(call_id, status="completed")
    turn.say("after")


@bad("newline-title")
def newline_title(turn: Turn, _rest: str) -> None:
    turn.tool(turn.session.next_id("t"), title="rm\n-rf \x1b[31m/\r\u202eevil", kind="execute", status="completed")
    turn.say("after")


@bad("bad-content")
def bad_content(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "agent_message_chunk", "content": "plain string"})
    turn.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}})
    turn.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}})
    turn.say("after")


@bad("bad-usage")
def bad_usage(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "usage_update", "used": 300, "size": 200})
    turn.update({"sessionUpdate": "usage_update", "used": 10})
    turn.update({"sessionUpdate": "usage_update", "used": -1, "size": 0, "cost": {"amount": "much"}})
    turn.say("after")


@bad("bad-lists")
def bad_lists(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": [1, {"name": "ok"}, {}, None]})
    turn.update({"sessionUpdate": "plan", "entries": [{"content": "kept", "status": "paused"}, 4, None]})
    turn.update({"sessionUpdate": "config_option_update", "configOptions": {"id": "x"}})
    turn.update({"sessionUpdate": "current_mode_update"})
    turn.say("after")


@bad("order")
def order(turn: Turn, _rest: str) -> None:
    for n in range(50):
        turn.say(f"{n} ")


@bad("unknown-session")
def unknown_session(turn: Turn, _rest: str) -> None:
    turn.wire.send(_update(turn, turn.chunk("for nobody"), session="no-such-session"))
    turn.say("after")


# --- requests of the agent


@bad("ext")
def ext(turn: Turn, _rest: str) -> None:
    turn.wire.notify("_foo/bar", {"a": 1})
    turn.wire.notify("foo/bar", {})
    schema = {"type": "object", "properties": {}}
    form = {"sessionId": turn.session.id, "mode": "form", "message": "M", "requestedSchema": schema}
    for method, params in (("_foo/req", {"b": 2}), ("cursor/ask", {}), ("elicitation/create", form)):
        turn.wire.ask(method, params).wait()
    turn.wire.notify("$/cancel_request", {"requestId": "zz"})
    turn.say("after")


@bad("meta-perm")
def meta_perm(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t"), "title": "rm -rf", "kind": "execute"},
        options=[{"optionId": "no", "name": "No", "kind": "reject_once"}],
        _meta={"session_id": "HIJACK", "options": "HIJACK"},
    )


@bad("perm-badkind")
def perm_badkind(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t")},
        options=[{"optionId": "x", "name": "X", "kind": "allow_session"}],
    )


@bad("perm-twins")
def perm_twins(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t"), "title": "twins"},
        options=[{"optionId": i, "name": f"Always {i}", "kind": "allow_always"} for i in ("here", "everywhere")],
    )


@bad("perm-empty")
def perm_empty(turn: Turn, _rest: str) -> None:
    turn.request("session/request_permission", toolCall={"toolCallId": turn.session.next_id("t")}, options=[])
    turn.say("after")


@bad("perm-malformed")
def perm_malformed(turn: Turn, _rest: str) -> None:
    for params in ({}, {"toolCall": None, "options": "all"}, {"options": [1, None]}):
        turn.request("session/request_permission", **params)
    turn.say("after")


@bad("perm-unknown-session")
def perm_unknown_session(turn: Turn, _rest: str) -> None:
    options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
    call = {"toolCallId": "sub-1", "title": "sub-agent's call"}
    params = {"sessionId": "no-such-session", "toolCall": call, "options": options}
    turn.wire.ask("session/request_permission", params).wait()
    turn.say("after")


>>>>>>> tooling
# --- the answer


@bad("stringid")
def stringid(turn: Turn, _rest: str) -> None:
    _answer(turn, id=str(turn.request_id), result={"stopReason": "end_turn"})


@bad("nullresult")
def nullresult(turn: Turn, _rest: str) -> None:
    _answer(turn, result=None)


@bad("noresult")
def noresult(turn: Turn, _rest: str) -> None:
    _answer(turn)


@bad("emptyresult")
def emptyresult(turn: Turn, _rest: str) -> None:
    _answer(turn, result={})


@bad("badstop")
def badstop(turn: Turn, _rest: str) -> None:
    turn.stop = "paused"


@bad("error-noobj")
def error_noobj(turn: Turn, _rest: str) -> None:
    _answer(turn, error="just a string")


@bad("error-empty")
def error_empty(turn: Turn, _rest: str) -> None:
    _answer(turn, error={})


@bad("error")
def error(turn: Turn, _rest: str) -> None:
    _answer(turn, error={"code": -32000, "message": "Auth required", "data": {"x": 1}})


@bad("both")
def both(turn: Turn, _rest: str) -> None:
    _answer(turn, result={"stopReason": "end_turn"}, error=None)


@bad("twice")
def twice(turn: Turn, _rest: str) -> None:
    turn.say("after")
    turn.answer(result={"stopReason": "end_turn"})


@bad("no-jsonrpc")
def no_jsonrpc(turn: Turn, _rest: str) -> None:
    turn.session.turn = None
    turn.wire.send({"id": turn.request_id, "result": {"stopReason": "end_turn"}})
    raise SilentError


@bad("late")
def late(turn: Turn, _rest: str) -> None:
    turn.after.append(lambda: turn.say("LATE"))


@bad("hang")
def hang(_turn: Turn, _rest: str) -> None:
    raise SilentError
