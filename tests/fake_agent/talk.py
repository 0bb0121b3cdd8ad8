"""Directives that talk: text, thoughts, plans, session news, and how a turn ends."""

from __future__ import annotations

import json
import time

from tests.fake_agent import shapes, wire
from tests.fake_agent.script import unescape
from tests.fake_agent.turn import SilentError, Turn, directive

BATCH = 200


@directive("say")
def say(turn: Turn, text: str) -> None:
    turn.say(unescape(text))


@directive("words")
def words(turn: Turn, text: str) -> None:
    for word in unescape(text).split():
        turn.check()
        turn.say(word + " ")


@directive("think")
def think(turn: Turn, text: str) -> None:
    turn.update(turn.chunk(unescape(text), "agent_thought_chunk"))


@directive("message")
def message(turn: Turn, message_id: str) -> None:
    turn.message_id = message_id


@directive("name-prefix")
def name_prefix(turn: Turn, prefix: str) -> None:
    options = turn.agent.options
    for letter in unescape(prefix) or f"{options.title or options.name.capitalize()}: ":
        turn.say(letter)


@directive("chunks")
def chunks(turn: Turn, argument: str) -> None:
    count, _, size = argument.partition(" ")
    params = {"sessionId": turn.session.id, "update": turn.chunk("@TEXT@")}
    frame = wire.encode({"jsonrpc": "2.0", "method": "session/update", "params": params})
    before, after = frame.split(b"@TEXT@")
    fill = int(size or 0)
    for start in range(0, int(count), BATCH):
        turn.check()
        numbers = range(start, min(start + BATCH, int(count)))
        texts = [b"%d " % n for n in numbers]
        turn.wire.raw(b"".join(before + text.rjust(fill, b".") + after for text in texts))


@directive("paced")
def paced(turn: Turn, argument: str) -> None:
    count, rate = argument.split()
    begin = time.monotonic()
    for n in range(int(count)):
        pause = begin + n / float(rate) - time.monotonic()
        if pause > 0 and turn.cancelled.wait(pause):
            turn.check()
        turn.say(f"{n} {time.monotonic_ns()}\n")


@directive("big")
def big(turn: Turn, count: str) -> None:
    turn.say("x" * int(count))


@directive("empty")
def empty(_turn: Turn, _nothing: str) -> None:
    pass


@directive("plan")
def plan(turn: Turn, entries: str) -> None:
    statuses = {"+": "completed", ">": "in_progress"}
    parts = [part.strip() for part in entries.split(";")]
    turn.update(
        {
            "sessionUpdate": "plan",
            "entries": [
                {
                    "content": part.lstrip("+>").strip(),
                    "priority": "medium",
                    "status": statuses.get(part[:1], "pending"),
                }
                for part in parts
            ],
        }
    )


@directive("usage")
def usage(turn: Turn, argument: str) -> None:
    used, size, *cost = argument.split()
    update = {"sessionUpdate": "usage_update", "used": int(used), "size": int(size)}
    money = {"cost": {"amount": float(cost[0]), "currency": cost[1]}} if cost else {}
    turn.update({**update, **money})


@directive("mode")
def mode(turn: Turn, mode_id: str) -> None:
    turn.session.mode = mode_id
    turn.update({"sessionUpdate": "current_mode_update", "currentModeId": mode_id})


@directive("config")
def config(turn: Turn, argument: str) -> None:
    config_id, _, value = argument.partition(" ")
    parsed = json.loads(value) if value in ("true", "false") else value
    options = turn.agent.configure(turn.session, config_id, parsed)
    turn.update({"sessionUpdate": "config_option_update", "configOptions": options})


@directive("commands")
def commands(turn: Turn, names: str) -> None:
    listed = shapes.command_list([n for n in names.split(",") if n])
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": listed})


@directive("title")
def title(turn: Turn, text: str) -> None:
    turn.session.title = text
    turn.update({"sessionUpdate": "session_info_update", "title": text})


@directive("image")
def image(turn: Turn, _nothing: str) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    block = {"type": "image", "mimeType": "image/png", "data": pixel}
    turn.update({"sessionUpdate": "agent_message_chunk", "content": block})


@directive("update")
def update(turn: Turn, body: str) -> None:
    turn.update(json.loads(body))


@directive("stop")
def stop(turn: Turn, reason: str) -> None:
    turn.stop = reason


@directive("error")
def error(_turn: Turn, argument: str) -> None:
    code, _, text = argument.partition(" ")
    raise wire.RefusedError(int(code), unescape(text))


@directive("late")
def late(turn: Turn, argument: str) -> None:
    gate, _, rest = argument.partition(" ")
    named = gate.startswith("gate=")

    def speak() -> None:
        if named:
            turn.agent.gates.wait(gate.removeprefix("gate="))
        turn.say(unescape(rest if named else argument))

    turn.after.append(speak)


@directive("no-answer")
def no_answer(_turn: Turn, _nothing: str) -> None:
    raise SilentError
