"""What a fake agent announces: capabilities, modes, models, configuration options, sign-in methods, commands.

Pure tables and builders of ACP values. It must hold no state: what was set since is the session's.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    from tests.fake_agent.options import Options

    JSON = dict[str, Any]

SESSION_CAPS = ("resume", "close", "list", "delete", "fork")


def _choice(value: str) -> JSON:
    return {"value": value, "name": value.replace("-", " ").capitalize()}


def _select(option_id: str, category: Any, *values: str) -> JSON:
    return {
        "id": option_id,
        "name": option_id.capitalize(),
        "type": "select",
        "category": category,
        "currentValue": values[0],
        "options": [_choice(v) for v in values],
    }


_GROUPS = [
    {"group": "quick", "name": "Quick", "options": [_choice("small"), _choice("medium")]},
    {"group": "strong", "name": "Strong", "options": [_choice("large")]},
]

CONFIG_OPTIONS: dict[str, JSON] = {
    "mode": _select("mode", "mode", "ask", "code"),
    "model": _select("model", "model", "small", "large"),
    "grouped": {**_select("model", "model", "small"), "options": _GROUPS},
    "thought": _select("thought", "thought_level", "low", "high"),
    "plain": _select("plain", None, "a", "b"),
    "boolean": {"id": "web", "name": "Web search", "type": "boolean", "currentValue": False},
    "unknown-category": _select("tone", "_personality", "dry", "warm"),
    "unknown-type": {"id": "level", "name": "Level", "type": "slider", "currentValue": 3, "min": 0, "max": 9},
}

AUTH_METHODS: dict[str, JSON] = {
    "agent": {"id": "agent", "name": "Sign in with the browser", "description": "Opens a page"},
    "terminal": {
        "id": "terminal",
        "name": "Sign in in a terminal",
        "type": "terminal",
        "args": ["--login"],
        "env": {"FAKE_AGENT_LOGIN": "1"},
    },
    "env_var": {
        "id": "env_var",
        "name": "API key",
        "type": "env_var",
        "vars": [{"name": "FAKE_AGENT_KEY", "label": "Key", "secret": True}],
        "link": "https://example.com/keys",
    },
    "bogus": {"bogus": 1},
}


def initialized(options: Options) -> JSON:
    """The result of ``initialize``."""
    return {
        "protocolVersion": options.protocol,
        "agentCapabilities": json.loads(options.raw_capabilities or "null") or capabilities(options.caps),
        "authMethods": [AUTH_METHODS[kind] for kind in options.auth],
        "agentInfo": {"name": options.name, "title": options.title or None, "version": options.version},
    }


def capabilities(caps: list[str]) -> JSON:
    """``agentCapabilities`` with these: load resume close list delete fork dirs image audio
    embedded http sse logout."""
    return {
        "loadSession": "load" in caps,
        "promptCapabilities": {
            "image": "image" in caps,
            "audio": "audio" in caps,
            "embeddedContext": "embedded" in caps,
        },
        "mcpCapabilities": {"http": "http" in caps, "sse": "sse" in caps},
        "sessionCapabilities": {
            **{cap: {} for cap in SESSION_CAPS if cap in caps},
            **({"additionalDirectories": {}} if "dirs" in caps else {}),
        },
        "auth": {"logout": {}} if "logout" in caps else {},
    }


def config_options(shapes: list[str]) -> list[JSON]:
    """Fresh copies of the named rows of `CONFIG_OPTIONS`."""
    return [dict(CONFIG_OPTIONS[shape]) for shape in shapes]


def config_values(option: JSON) -> list[Any]:
    """The values an option takes, groups flattened."""
    if option["type"] == "boolean":
        return [True, False]
    flat = [inner for outer in option.get("options", []) for inner in outer.get("options", [outer])]
    return [choice["value"] for choice in flat]


def mode_state(modes: list[str], current: str) -> JSON:
    return {"currentModeId": current, "availableModes": [{"id": m, "name": m.capitalize()} for m in modes]}


def model_state(models: list[str], current: str) -> JSON:
    """The removed ``models`` of session answers that agents in the field still send."""
    return {
        "currentModelId": current,
        "availableModels": [{"modelId": m, "name": m.capitalize()} for m in models],
    }


def command_list(commands: list[str]) -> list[JSON]:
    """Commands of ``name[:description[:hint]]``."""
    result = []
    for command in commands:
        name, _, rest = command.partition(":")
        description, _, hint = rest.partition(":")
        result.append({"name": name, "description": description or name, **({"input": {"hint": hint}} if hint else {})})
    return result
