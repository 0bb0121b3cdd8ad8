"""Directives that wait, cling, make noise or die."""

from __future__ import annotations

import os
import sys

from tests.fake_agent.script import unescape
from tests.fake_agent.turn import Turn, directive

GARBAGE = (
    b'Welcome to fake agent v1!\n\n\x1b[31mred\x1b[0m\n\x1b]0;title\x07\n{not json}\n\xff\xfe\n42\nnull\n[]\n"text"\n'
)


@directive("hold")
def hold(turn: Turn, gate: str) -> None:
    turn.wait_gate(gate)


@directive("hang")
def hang(turn: Turn, _nothing: str) -> None:
    while True:
        turn.cancelled.wait()
        turn.check()
        turn.cancelled.clear()


@directive("ignore-cancel")
def ignore_cancel(turn: Turn, _nothing: str) -> None:
    turn.ignores_cancel = True


@directive("on-cancel")
def on_cancel(turn: Turn, text: str) -> None:
    turn.last_words = unescape(text)


@directive("cancelled-as")
def cancelled_as(turn: Turn, reason: str) -> None:
    turn.stop_when_cancelled = reason


@directive("crash")
def crash(_turn: Turn, code: str) -> None:
    sys.stderr.write('Traceback (most recent call last):\n  File "fake.py", line 1\nRuntimeError: told to crash\n')
    sys.stderr.flush()
    number = int(code or 3)
    if number < 0:
        os.kill(os.getpid(), -number)
    os._exit(number)


@directive("lose-session")
def lose_session(turn: Turn, _nothing: str) -> None:
    def lose() -> None:
        turn.agent.sessions.pop(turn.session.id, None)

    turn.after.append(lose)


@directive("leave")
def leave(turn: Turn, code: str) -> None:
    turn.after.append(lambda: os._exit(int(code or 0)))


@directive("garbage")
def garbage(turn: Turn, _nothing: str) -> None:
    turn.wire.raw(GARBAGE)


@directive("stderr")
def stderr(_turn: Turn, count: str) -> None:
    sys.stderr.write("noise " * (int(count) // 6))
    sys.stderr.flush()


@directive("stderr-say")
def stderr_say(_turn: Turn, text: str) -> None:
    sys.stderr.write(unescape(text) + "\n")
    sys.stderr.flush()


@directive("spawn-child")
def spawn_child(turn: Turn, file: str) -> None:
    from tests.fake_agent.children import spawn  # only here: it imports subprocess

    spawn(file, turn.agent.recorder)
