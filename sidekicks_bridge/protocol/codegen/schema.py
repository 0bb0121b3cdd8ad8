"""The protocol as one JSON Schema (2020-12) document: what every other output is rendered from.

msgspec derives the definitions; here they are made to say the wire rules: absent rather than null, named aliases kept
by name, in the order in which the Structs are written. Must not know any output format.
"""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

from sidekicks_bridge.protocol import (
    PROTOCOL_VERSION,
    agent_requests,
    error_codes,
    errors,
    events,
    handshake,
    mail,
    parts,
    requests,
    routes,
    types,
)
from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.events import EVENTS
from sidekicks_bridge.protocol.methods import METHODS

Schema = dict[str, Any]

REF = "#/$defs/"
_MODULES = (parts, types, routes, handshake, error_codes, requests, agent_requests, mail, events)


def protocol_schema() -> Schema:
    """The whole document: ``$defs``, ``x-methods``, ``x-events``, ``x-errors`` and ``x-protocolVersion``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sidekicks Bridge protocol",
        "description": "Generated from sidekicks_bridge/protocol by `python -m sidekicks_bridge.protocol.codegen`.",
        "x-protocolVersion": PROTOCOL_VERSION,
        "x-methods": {
            method.name: {
                "params": _ref(method.params),
                "result": _ref(method.result),
                "side": method.side,
                "summary": method.summary,
            }
            for method in METHODS
        },
        "x-events": {
            event.name: {"params": _ref(event.params), "to": event.to, "summary": event.summary} for event in EVENTS
        },
        "x-errors": {
            code: {
                "jsonrpc": errors.SidekicksError(code, "").jsonrpc_code,
                "retryable": code in error_codes.RETRYABLE,
                "description": description,
            }
            for code, description in error_codes.ERROR_CODES.items()
        },
        "$defs": _definitions(),
    }


def _ref(kind: type[Wire]) -> Schema:
    return {"$ref": REF + kind.__name__}


def _definitions() -> dict[str, Schema]:
    """Every Struct and every named alias of the protocol's modules, in the order they are written."""
    kinds: dict[str, Any] = {}
    for module in _MODULES:
        for name, value in vars(module).items():
            if _is_struct_of(module.__name__, value) or get_origin(value) in (Literal, UnionType):
                kinds.setdefault(name, value)
    aliases = {name: kind for name, kind in kinds.items() if not isinstance(kind, type)}
    alone, structs = msgspec.json.schema_components([*aliases.values(), *kinds.values()], ref_template=REF + "{name}")
    schemas = {**structs, **dict(zip(aliases, alone, strict=False))}
    names = {_key(_tidy(schemas[name], {})): name for name in aliases}
    return {
        name: _alias(kind, schemas[name]) if name in aliases else _tidy(schemas[name], names)
        for name, kind in kinds.items()
    }


def _is_struct_of(module: str, value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module


def _alias(kind: Any, schema: Schema) -> Schema:
    """The definition of a named alias; a Literal keeps the order it is written in (msgspec sorts)."""
    return {"enum": list(get_args(kind))} if get_origin(kind) is Literal else _tidy(schema, {})


def _tidy(schema: Schema, names: dict[str, str]) -> Schema:
    """A schema of msgspec's in our terms; one that equals a named alias becomes a reference to it."""
    tidy = {key: value for key, value in schema.items() if key not in ("title", "discriminator")}
    if "properties" in tidy:
        tidy["properties"] = {name: _tidy(value, names) for name, value in tidy["properties"].items()}
    if "items" in tidy:
        tidy["items"] = _tidy(tidy["items"], names)
    if "anyOf" in tidy:
        choices = [_tidy(choice, names) for choice in tidy.pop("anyOf") if choice != {"type": "null"}]
        tidy = {**(choices[0] if len(choices) == 1 else {"anyOf": choices}), **tidy}
    if tidy.get("default", ...) in (None, []):
        del tidy["default"]  # absent rather than null: leaving it out is what the default means
    if len(tidy.get("enum", ())) == 1:
        tidy["const"] = tidy.pop("enum")[0]
    if "description" in tidy:
        tidy["description"] = tidy["description"].replace("``", "`")
    name = names.get(_key(tidy))
    return {"$ref": REF + name} if name else tidy


def _key(schema: Schema) -> str:
    return json.dumps(schema, sort_keys=True)
