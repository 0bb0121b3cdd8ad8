"""Directives that ask the client: permissions, files, terminals, elicitations, anything.

Each says what came back, one line: ``permit TITLE: OPTION_ID``, ``read PATH: TEXT``, ``write PATH: ok``, or
``… refused: CODE MESSAGE``.
"""

from __future__ import annotations

import json

from tests.fake_agent.script import unescape
from tests.fake_agent.tools import absolute, diff_content, locations, text_content
from tests.fake_agent.turn import Turn, directive
from tests.fake_agent.wire import outcome

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    from tests.fake_agent.wire import Asked

    JSON = dict[str, Any]

KINDS = {"allow": "allow_once", "always": "allow_always", "reject": "reject_once", "never": "reject_always"}


def choices(ids: str) -> list[JSON]:
    """Permission options of ``id[:kind]`` separated by commas; the ids of `KINDS` know their kind."""
    pairs = [part.partition(":") for part in ids.split(",")]
    return [
        {"optionId": option, "name": option.capitalize(), "kind": kind or KINDS.get(option, "allow_once")}
        for option, _, kind in pairs
    ]


def chosen(reply: JSON) -> str:
    """What a permission was answered: an option's id, ``cancelled``, or ``refused: CODE MESSAGE``."""
    if "error" in reply:
        return refusal(reply)
    result = (reply.get("result") or {}).get("outcome") or {}
    return str(result.get("optionId") or result.get("outcome"))


def refusal(reply: JSON) -> str:
    return f"refused: {reply['error'].get('code')} {reply['error'].get('message')}"


def _split_ids(argument: str) -> tuple[str, str]:
    title, _, ids = argument.partition("ids=")
    return unescape(title.strip()), ids.strip() or "allow,reject"


def _ask(turn: Turn, tool_call: JSON, ids: str) -> Asked:
    params = {"sessionId": turn.session.id, "toolCall": tool_call, "options": choices(ids)}
    return turn.wire.ask("session/request_permission", params)


def _settle(turn: Turn, call_id: str, title: str, asked: Asked) -> None:
    """Wait for the answer, say it, and end the tool call as it says."""
    answer = chosen(asked.wait())
    turn.say(f"permit {title}: {answer}\n")
    turn.check()
    turn.tool_update(call_id, status="completed" if answer in ("allow", "always") else "failed")


@directive("permit")
def permit(turn: Turn, argument: str) -> None:
    title, ids = _split_ids(argument)
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title=title, status="pending")
    _settle(turn, call_id, title, _ask(turn, {"toolCallId": call_id, "title": title, "kind": "execute"}, ids))


@directive("permit-diff")
def permit_diff(turn: Turn, argument: str) -> None:
    path, old, new = argument.split("|")
    call_id, title = turn.session.next_id("t"), f"Edit {path}"
    content = [diff_content(turn, path, unescape(old) or None, unescape(new))]
    call: JSON = {"toolCallId": call_id, "title": title, "kind": "edit", "content": content}
    turn.tool(call_id, kind="edit", title=title, status="pending")
    _settle(turn, call_id, title, _ask(turn, {**call, "locations": locations(turn, path)}, "allow,reject"))


@directive("permit-before-tool")
def permit_before_tool(turn: Turn, argument: str) -> None:
    title, ids = _split_ids(argument)
    call_id = turn.session.next_id("t")
    answer = chosen(_ask(turn, {"toolCallId": call_id, "title": title}, ids).wait())
    turn.say(f"permit {title}: {answer}\n")
    turn.check()
    turn.tool(call_id, title=title, status="completed" if answer in ("allow", "always") else "failed")


@directive("permit-bare")
def permit_bare(turn: Turn, argument: str) -> None:
    title, ids = _split_ids(argument)
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title=title, status="pending")
    _settle(turn, call_id, title, _ask(turn, {"toolCallId": call_id}, ids))


@directive("permit-busy")
def permit_busy(turn: Turn, argument: str) -> None:
    title, ids = _split_ids(argument)
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title=title, status="pending")
    asked = _ask(turn, {"toolCallId": call_id, "title": title}, ids)
    turn.tool_update(call_id, status="in_progress", content=text_content("working"))
    _settle(turn, call_id, title, asked)


@directive("permit-all")
def permit_all(turn: Turn, argument: str) -> None:
    waiting = []
    for title in (part.strip() for part in argument.split(";")):
        call_id = turn.session.next_id("t")
        turn.tool(call_id, kind="execute", title=title, status="pending")
        waiting.append((call_id, title, _ask(turn, {"toolCallId": call_id, "title": title}, "allow,reject")))
    for call_id, title, asked in waiting:
        _settle(turn, call_id, title, asked)


@directive("permit-withdraw")
def permit_withdraw(turn: Turn, argument: str) -> None:
    gate, _, title = argument.partition(" ")
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title=title, status="pending")
    asked = _ask(turn, {"toolCallId": call_id, "title": title}, "allow,reject")
    turn.wait_gate(gate)
    turn.wire.notify("$/cancel_request", {"requestId": asked.id})
    _settle(turn, call_id, title, asked)


@directive("late-permit")
def late_permit(turn: Turn, argument: str) -> None:
    gate, _, title = argument.partition(" ")

    def ask() -> None:
        turn.agent.gates.wait(gate)
        call_id = turn.session.next_id("t")
        turn.tool(call_id, kind="execute", title=title, status="pending")
        _settle(turn, call_id, title, _ask(turn, {"toolCallId": call_id, "title": title}, "allow,reject"))

    turn.after.append(ask)


@directive("late-elicit")
def late_elicit(turn: Turn, argument: str) -> None:
    gate, _, text = argument.partition(" ")

    def ask() -> None:
        turn.agent.gates.wait(gate)
        turn.request("elicitation/create", mode="form", message=text, requestedSchema=FORM)

    turn.after.append(ask)


@directive("read")
def read(turn: Turn, argument: str) -> None:
    path, *numbers = argument.split("|")
    window: JSON = dict(zip(("line", "limit"), map(int, numbers), strict=False))
    reply = turn.request("fs/read_text_file", path=absolute(turn, path), **window)
    turn.say(f"read {path}: {reply['result']['content']}\n" if "result" in reply else f"read {path} {refusal(reply)}\n")


@directive("write")
def write(turn: Turn, argument: str) -> None:
    path, _, text = argument.partition("|")
    reply = turn.request("fs/write_text_file", path=absolute(turn, path), content=unescape(text))
    turn.say(f"write {path}: ok\n" if "error" not in reply else f"write {path} {refusal(reply)}\n")


@directive("terminal")
def terminal(turn: Turn, command: str) -> None:
    name, *args = command.split()
    made = turn.request("terminal/create", command=name, args=args, cwd=turn.session.cwd)
    if "error" in made:
        turn.say(f"terminal {refusal(made)}\n")
        return
    handle = {"terminalId": made["result"]["terminalId"]}
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title=command, status="in_progress", content=[{"type": "terminal", **handle}])
    end = turn.request("terminal/wait_for_exit", **handle)
    shown = turn.request("terminal/output", **handle)
    turn.request("terminal/release", **handle)
    turn.tool_update(call_id, status="completed")
    turn.say(f"terminal exit {outcome(end)}: {(shown.get('result') or {}).get('output')}\n")


@directive("elicit")
def elicit(turn: Turn, argument: str) -> None:
    mode, _, text = argument.partition(" ")
    params: JSON = {"mode": "url" if mode == "url" else "form", "message": unescape(text) or "Please answer"}
    if mode == "url":
        params |= {"url": "https://example.com/sign-in?code=1", "elicitationId": turn.session.next_id("e")}
    else:
        params["requestedSchema"] = CHOICES if mode == "choices" else FORM
    reply = turn.request("elicitation/create", **params)
    turn.say(f"elicit {mode}: {outcome(reply)}\n")
    if mode == "url":
        turn.wire.notify("elicitation/complete", {"elicitationId": params["elicitationId"]})


FORM: JSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "count": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 9, "default": 3},
        "ratio": {"type": "number", "title": "Ratio"},
        "sure": {"type": "boolean", "title": "Sure?", "default": True},
        "colour": {"type": "string", "title": "Colour", "enum": ["red", "green"]},
    },
    "required": ["name"],
}
CHOICES: JSON = {
    "type": "object",
    "properties": {
        "tags": {
            "type": "array",
            "title": "Tags",
            "description": "One or two",
            "items": {"anyOf": [{"const": tag, "title": tag.upper()} for tag in "abc"]},
            "minItems": 1,
            "maxItems": 2,
            "default": ["b"],
        },
        "extras": {"type": "array", "title": "Extras", "items": {"type": "string", "enum": ["x", "y"]}},
    },
    "required": ["tags"],
}


@directive("request")
def request(turn: Turn, argument: str) -> None:
    method, _, body = argument.partition(" ")
    reply = turn.wire.ask(method, json.loads(body or "{}")).wait()
    turn.say(f"{method}: {outcome(reply)}\n")


@directive("notify")
def notify(turn: Turn, argument: str) -> None:
    method, _, body = argument.partition(" ")
    turn.wire.notify(method, json.loads(body or "{}"))


@directive("run")
def run(turn: Turn, command: str) -> None:
    import subprocess  # only here: it costs a start 3 ms

    done = subprocess.run(command, shell=True, cwd=turn.session.cwd, capture_output=True, text=True, check=False)
    turn.say(f"run exit {done.returncode}: {done.stdout}{done.stderr}\n")
