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
