"""The JSON Schema (2020-12) of the configuration file, made from `written`: for editors, and for `check`.

The generator writes it to ``schema/config.schema.json``; `first_run` puts a copy beside the user's file.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sidekicks_bridge.config.written import ConfigFile

SCHEMA_FILE = "config.schema.json"
NULLABLE_SECTIONS = ("channels", "limits", "permissions", "messaging", "ui")
"""Sections that may stand empty, all their lines being comments. Not ``agents``: no agents are written ``[]``."""


def config_schema() -> dict[str, Any]:
    """The schema, with a title and a description for every key."""
    whole = msgspec.json.schema(ConfigFile)
    definitions = {name.removesuffix("Entry"): _tidy(entry) for name, entry in whole["$defs"].items()}
    root = definitions.pop("ConfigFile")
    for key in NULLABLE_SECTIONS:
        section = root["properties"][key]
        if "$ref" in section:
            name = section["$ref"].rpartition("/")[2]
            definitions[name]["type"] = ["object", "null"]
        else:
            section["type"] = [section["type"], "null"]
    definitions["Agent"]["oneOf"] = [{"required": ["command"]}, {"required": ["builtin"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "title": "Sidekicks Bridge configuration",
        "$defs": definitions,
    }


def config_schema_text() -> str:
    """The schema as the text of its file."""
    return msgspec.json.format(msgspec.json.encode(config_schema()), indent=2).decode() + "\n"


def _tidy(node: Any) -> Any:
    """As msgspec made it, but: optional means absent, never null; no defaults of nothing; our names."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _tidy(value) for key, value in node.items() if key != "properties"}
    if "properties" in node:  # names of ours, not of JSON Schema: "default" is one of them
        result["properties"] = {key: _tidy(value) for key, value in node["properties"].items()}
    if {"type": "null"} in (choices := result.get("anyOf", [])):
        (choice,) = [choice for choice in choices if choice != {"type": "null"}]
        del result["anyOf"]
        result |= choice
    if isinstance(default := result.get("default", ...), dict) or default is None:
        del result["default"]
    if isinstance(reference := result.get("$ref"), str):
        result["$ref"] = reference.removesuffix("Entry")
    if isinstance(title := result.get("title"), str):
        result["title"] = title.removesuffix("Entry")
    if result.get("required") == []:
        del result["required"]
    return result
