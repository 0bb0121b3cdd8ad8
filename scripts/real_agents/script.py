"""What the scripted model does: the user's own words are the script. Pure; knows no dialect and no connection.

A line `@@word: argument` is a step, done in the order they stand. A step that calls a tool ends the model's answer;
when the tool's result comes back, the next step is due. Without steps the model says what it was shown.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from tests.fake_agent.script import users_text

JSON = dict[str, Any]

STEP = re.compile(r"@@(shell|write|tool|slow|chunks|error|think|say):[ ]*([^\n]*)")
_CALLS = ("shell", "write", "tool")
_SPEAKER = re.compile(r"^([A-Za-z0-9._-]+): ", re.MULTILINE)
_SHELL = ("run_shell_command", "exec_command", "shell_command", "local_shell", "bash", "shell", "execute")
_WRITE = ("write_file", "write", "create_file", "apply_patch", "edit_file")
_COMMAND_FIELDS = ("command", "cmd", "script")
_PATH_FIELDS = ("file_path", "absolute_path", "filePath", "path")
_TEXT_FIELDS = ("content", "contents", "text", "new_string", "newString")
_OUTSIDE_SANDBOX: dict[tuple[str, ...], str] = {
    ("sandbox_permissions",): "require_escalated",
    ("justification",): "The script wants it.",
}
"""Codex asks the user only about commands that the model wants to run outside its sandbox."""


@dataclass(frozen=True)
class Tool:
    """A tool that the agent offers its model. ``plain``: it takes one text instead of fields."""

    name: str
    schema: JSON
    plain: bool = False


@dataclass(frozen=True)
class Turn:
    """One thing that was said so far: the user's text, calls of tools by the model, or a tool's result."""

    kind: Literal["user", "calls", "result"]
    text: str = ""


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    tool: Tool
    fields: JSON


@dataclass(frozen=True)
class Words:
    """Text of the answer, or (``thought``) of its reasoning; ``pause``: seconds between the words."""

    text: str
    thought: bool = False
    pause: float = 0


@dataclass(frozen=True)
class Fail:
    """The request is refused with an HTTP status."""

    status: int


Act = Call | Words | Fail


def acts(turns: list[Turn], tools: list[Tool], agent: str) -> list[Act]:
    """What the model answers now."""
    at = max((n for n, turn in enumerate(turns) if turn.kind == "user"), default=-1)
    prompt = turns[at].text if at >= 0 else ""
    steps = STEP.findall(users_text(prompt))
    done = sum(turn.kind == "calls" for turn in turns[at + 1 :])
    found: list[Act] = []
    for word, argument in steps:
        if word in _CALLS:
            if done > 0:
                done -= 1
                found.clear()  # what stood before that call has been said
                continue
            return [*found, _call(word, argument, tools)]
        found.append(_plain_step(word, argument))
    results = [turn.text for turn in turns[at + 1 :] if turn.kind == "result"]
    if results:
        return [*found, Words(f"Done. The last result was: {results[-1].strip()[:200]}")]
    return found or [Words(_shown(prompt, agent))]


def _shown(prompt: str, agent: str) -> str:
    """The answer without steps; it names who spoke in what this agent was shown of the channel."""
    frame = prompt[: len(prompt) - len(users_text(prompt))]
    speakers = sorted({name for name in _SPEAKER.findall(frame) if name != "user"})
    return f"{agent} has answered. It was shown: {', '.join(speakers) or 'nobody'}."


def _plain_step(word: str, argument: str) -> Act:
    if word == "error":
        return Fail(int(argument or 400))
    if word == "slow":
        count = int(float(argument or 30) * 5)
        return Words(" ".join(f"tick{n}" for n in range(count)), pause=0.2)
    if word == "chunks":
        return Words(" ".join(f"w{n}" for n in range(int(argument or 100))))
    return Words(argument, thought=word == "think")


def _call(word: str, argument: str, tools: list[Tool]) -> Act:
    names = _SHELL if word == "shell" else _WRITE
    by_name = {tool.name.lower(): tool for tool in tools}
    tool = next((by_name[name] for name in names if name in by_name), None)
    if word == "tool":
        name, _, arguments = argument.partition(" ")
        return _named_call(name, arguments, tools)
    path, _, text = argument.partition("|")
    if tool is None and word == "write":  # an agent without a tool for it writes by its shell
        return _call("shell", f"printf '%s' '{text}' > '{path}'", tools)
    if tool is None:
        return Words(f"No tool for {word} is among: {', '.join(sorted(by_name)) or 'none'}.")
    if word == "shell":
        return Call(tool, _fields(tool, {_COMMAND_FIELDS: argument, **_OUTSIDE_SANDBOX}))
    if tool.name == "apply_patch":
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n"
        return Call(tool, _fields(tool, {("input", "patch", "patchText"): patch}))
    return Call(tool, _fields(tool, {_PATH_FIELDS: path, _TEXT_FIELDS: text, ("old_string", "oldString"): ""}))


def _named_call(name: str, arguments: str, tools: list[Tool]) -> Act:
    """A tool of the bridge's MCP server, by the name it has there: agents put their own words before it."""
    tool = next(
        (tool for tool in tools if re.search(rf"sidekicks(-[0-9a-f]+)?(_|__|\.|-){re.escape(name)}$", tool.name)), None
    )
    if tool is not None:
        return Call(tool, json.loads(arguments))
    for tool in tools:
        if tool.name == "tool_call":  # Qwen tells its model only the names of such tools
            return Call(tool, {"name": f"mcp__sidekicks__{name}", "arguments": json.loads(arguments)})
    return Words(f"No tool {name} is among: {', '.join(sorted(tool.name for tool in tools)) or 'none'}.")


def _fields(tool: Tool, wanted: dict[tuple[str, ...], str]) -> JSON:
    """Arguments that fit the tool's schema: what is wanted, and something for what else is required."""
    properties = tool.schema.get("properties") or {}
    found: JSON = {}
    for names, value in wanted.items():
        name = next((name for name in names if name in properties), None)
        if name is not None:
            found[name] = ["bash", "-lc", value] if _type(properties[name]) == "array" else value
        elif tool.plain:
            found["input"] = value
    for name in tool.schema.get("required") or []:
        found.setdefault(name, instance(properties.get(name) or {}))
    return found


def _type(schema: JSON) -> str:
    kind = schema.get("type")
    return str(kind[0] if isinstance(kind, list) else kind or "object").lower()


def instance(schema: JSON) -> Any:
    """A small value that fits a schema: for fields nobody cares about, and for agents that want structured answers."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    match _type(schema):
        case "object":
            return {name: instance(value) for name, value in (schema.get("properties") or {}).items()}
        case "array":
            return []
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return False
    return "scripted"


def structured(schema: JSON) -> list[Act]:
    """The answer to a request that wants JSON of a shape."""
    return [Words(json.dumps(instance(schema)))]
