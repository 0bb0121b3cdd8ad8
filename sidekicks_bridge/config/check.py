"""What is wrong with the data of a configuration file: structure, names, references. Sentences for a person.

Works on plain data and paths; places in the text are `yamltext`'s. jsonschema is imported only for a file that msgspec
refuses, since it finds every problem where msgspec stops at the first.
"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sidekicks_bridge.config.amounts import seconds, size
from sidekicks_bridge.config.schema import NULLABLE_SECTIONS, config_schema
from sidekicks_bridge.config.written import (
    AgentEntry,
    ChannelEntry,
    ConfigFile,
    LimitsEntry,
    MessagingEntry,
    PermissionsEntry,
    UiEntry,
    Written,
)
from sidekicks_bridge.config.yamltext import Fault, KeyPath
from sidekicks_bridge.names import MAX_NAME, fold, name_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LISTS: Final[dict[str, type[Written]]] = {"agents": AgentEntry, "channels": ChannelEntry}
SECTIONS: Final[dict[str, type[Written]]] = {
    "limits": LimitsEntry,
    "permissions": PermissionsEntry,
    "messaging": MessagingEntry,
    "ui": UiEntry,
}
MAX_PROBLEMS: Final = 200
NOUNS: Final = {"agents": "agent", "channels": "channel"}

_KINDS: Final = {
    "object": "a mapping (key: value)",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "empty",
}


def without_nulls(data: dict[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """``data`` without the known keys that have no value: absent, not null. ``agents:`` alone is an error."""
    faults: list[Fault] = []
    result = {key: value for key, value in data.items() if value is not None or key not in NULLABLE_SECTIONS}
    if "agents" in result and result["agents"] is None:
        del result["agents"]
        faults.append(Fault(("agents",), '"agents" is empty; write "agents: []" if there shall be none.', at_key=True))
    for section, entry in SECTIONS.items():
        if isinstance(value := result.get(section), dict):
            result[section] = _drop_nulls(value, (section,), entry, faults)
    for section, entry in LISTS.items():
        if isinstance(items := result.get(section), list):
            result[section] = [
                _drop_nulls(item, (section, index), entry, faults) if isinstance(item, dict) else item
                for index, item in enumerate(items)
            ]
    return result, faults


def _drop_nulls(value: dict[str, Any], path: KeyPath, entry: type[Written], faults: list[Fault]) -> dict[str, Any]:
    empty = {key for key in entry.__struct_encode_fields__ if key in value and value[key] is None}
    for key in empty - {"name"}:  # a missing name is an error of its own
        message = f'"{key}" has no value; give it one, or remove the line.'
        faults.append(Fault((*path, key), message, "warning", at_key=True))
    return {key: item for key, item in value.items() if key not in empty}


def structure(data: dict[str, Any]) -> list[Fault]:
    """Every place where ``data`` is not as the schema says; unknown keys are warnings."""
    try:
        msgspec.convert(data, ConfigFile)
        return []
    except msgspec.ValidationError:
        from jsonschema import Draft202012Validator

        errors = Draft202012Validator(config_schema()).iter_errors(data)
        return [fault for error in errors for fault in _explain(error, data)]


def _explain(error: Any, data: dict[str, Any]) -> Iterator[Fault]:
    path: KeyPath = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in error.instance.keys() - set(known):
            yield Fault((*path, key), _unknown_key(key, known), "warning", at_key=True)
    elif error.validator == "required":
        yield Fault(path, f'{_entry(path, data)} needs a "name".')
    elif error.validator != "oneOf":  # command or builtin: said by `references`, with names
        yield Fault(path, _sentence(error, path, data))


def _sentence(error: Any, path: KeyPath, data: dict[str, Any]) -> str:
    subject, value, limit = label(path, data), error.instance, error.validator_value
    key = str(path[-1]) if path else ""
    if key == "name" and isinstance(value, str):
        return name_problem(value) or f"{subject} {shown(value)} is not allowed."
    if key == "runtime":
        return f"{subject} {shown(value)} is not supported (yet); only local is."
    if path[0] == "limits" and error.validator in {"anyOf", "pattern"}:
        return _amount_sentence(subject, key, value)
    match error.validator:
        case "type":
            wanted = [limit] if isinstance(limit, str) else [kind for kind in limit if kind != "null"]
            return f"{subject} must be {_KINDS[wanted[0]]}, not {_got(value)}{_hint(wanted[0], value)}."
        case "enum":
            return f"{subject} must be {_either(limit)}, not {shown(value)}{did_you_mean(value, limit) or '.'}"
        case "minimum" | "maximum":
            bound = "at least" if error.validator == "minimum" else "at most"
            return f"{subject} must be {bound} {limit}, not {shown(value)}."
        case "minLength":
            return f"{subject} is empty; give it a value, or remove the line."
        case "maxLength":
            return f"{subject} has {len(value)} characters; shorten it to {limit} at most."
        case "pattern":
            return f"{subject} contains a line break or another control character; remove it."
    return f"{subject} is not as expected: {error.message[:200]}."


def _amount_sentence(subject: str, key: str, value: object) -> str:
    try:
        size(value) if key == "messageBytes" else seconds(value)
    except ValueError as wanted:
        return f"{subject} must be {wanted}, not {shown(value)}."
    return f"{subject} {shown(value)} is not allowed."


def references(data: dict[str, Any]) -> list[Fault]:
    """What a schema cannot say: names, second entries of a name, members that no agent has, how an agent starts."""
    faults: list[Fault] = []
    for section in LISTS:
        faults.extend(_names(section, entries(data, section)))
    for index, agent in entries(data, "agents"):
        faults.extend(_start(agent, ("agents", index), data))
    known = {fold(agent["name"]): agent["name"] for _, agent in entries(data, "agents") if _has_name(agent)}
    if isinstance(data.get("agents", []), list):
        strangers = (
            fault
            for index, channel in entries(data, "channels")
            if isinstance(members := channel.get("members"), list)
            for fault in _members(members, known, ("channels", index, "members"), data)
        )
        faults.extend(islice(strangers, MAX_PROBLEMS))  # looking for a likely name is slow
    return faults


def entries(data: dict[str, Any], section: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings of a list of the file, with their indices."""
    items = data.get(section)
    if isinstance(items, list):
        yield from ((index, item) for index, item in enumerate(items) if isinstance(item, dict))


def _has_name(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("name"), str)


def _names(section: str, items: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for index, item in items:
        if not _has_name(item):
            continue
        name: str = item["name"]
        if problem := name_problem(name):
            yield Fault((section, index, "name"), problem)
        elif first := seen.get(fold(name)):
            same = "" if first == name else f" ({first}: upper and lower case are the same)"
            message = f"Another {NOUNS[section]} is named {name}{same}; this entry is ignored. Rename or remove it."
            yield Fault((section, index, "name"), message)
        else:
            seen[fold(name)] = name


def _start(agent: dict[str, Any], path: KeyPath, data: dict[str, Any]) -> Iterator[Fault]:
    who = _entry(path, data)
    if "command" in agent and "builtin" in agent:
        yield Fault((*path, "builtin"), f'{who} has a "command" and a "builtin"; remove one of them.', at_key=True)
    elif "command" not in agent and "builtin" not in agent:
        yield Fault(path, f'{who} needs a "command" that starts it (or "builtin": scout or scribe).')
    command = agent.get("command")
    if isinstance(command, str) and " " in command.strip() and not {"/", "\\"} & set(command):
        message = f'The command {shown(command)} is one program\'s name and is not split; put arguments into "args".'
        yield Fault((*path, "command"), message, "warning")
    for key in agent["env"] if isinstance(agent.get("env"), dict) else ():
        if not key or "=" in key:
            message = f"{shown(key)} cannot be the name of an environment variable; rename it."
            yield Fault((*path, "env", key), message, at_key=True)


def _members(members: list[Any], known: dict[str, str], path: KeyPath, data: dict[str, Any]) -> Iterator[Fault]:
    seen: set[str] = set()
    good = [name for name in known.values() if name_problem(name) is None]
    for index, member in enumerate(members):
        if not isinstance(member, str):
            continue
        if fold(member) not in known:
            message = f"{_entry(path[:2], data)}: no agent is named {shown(member)}"
            hint = did_you_mean(member, good) or "; add the agent, or remove the member."
            yield Fault((*path, index), message + hint, harmless=True)
        elif fold(member) in seen:
            yield Fault((*path, index), f"{_entry(path[:2], data)} has the member {member} twice.", "warning")
        seen.add(fold(member))


def label(path: KeyPath, data: dict[str, Any]) -> str:
    """How a sentence calls the value at ``path``: ``"args[0]" of agent bob``, ``"limits.idleStop"``."""
    rest = path[2:] if path and path[0] in LISTS and len(path) > 1 else path
    if not rest:
        return _entry(path, data)
    words = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in rest).removeprefix(".")
    return f'"{words}"' + (f" of {_entry(path, data, capital=False)}" if rest is not path else "")


def _entry(path: KeyPath, data: dict[str, Any], *, capital: bool = True) -> str:
    noun, index = NOUNS.get(str(path[0]), str(path[0])), path[1]
    entry = data[str(path[0])][index]
    name = entry.get("name") if isinstance(entry, dict) else None
    who = name if isinstance(name, str) and name_problem(name) is None else f"number {int(index) + 1}"
    return f"{noun.capitalize() if capital else noun} {who}"


def kind_of(value: object) -> str:
    """What a value is, for "must be text, not …"."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    names = ((dict, "a mapping"), (list, "a list"), (str, "text"), (int, "a number"), (float, "a number"))
    return next(name for kind, name in names if isinstance(value, kind))


def shown(value: object) -> str:
    """A value as a short piece of a sentence."""
    text = f"'{value}'" if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """``. Did you mean x?`` if one of ``choices`` is close to ``word``, else nothing."""
    if not isinstance(word, str) or len(word) > MAX_NAME:
        return ""
    plain = {choice.lower().replace("_", "").replace("-", ""): choice for choice in choices}
    close = difflib.get_close_matches(word.lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=0.6)
    return f". Did you mean {plain[close[0]]}?" if close else ""


def _unknown_key(key: str, known: list[str]) -> str:
    hint = did_you_mean(key, known) or f". Known here: {', '.join(known)}."
    return f"The key {shown(key)} is unknown and ignored{hint}"


def _either(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _got(value: object) -> str:
    return shown(value) if isinstance(value, int | float) and not isinstance(value, bool) else kind_of(value)


def _hint(wanted: str, value: object) -> str:
    if wanted == "string" and isinstance(value, bool | int | float):
        return "; put it in quotes"
    if wanted == "array" and isinstance(value, str):
        return "; write each item on its own line after '- '"
    return ""
