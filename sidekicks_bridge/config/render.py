"""JSON values → YAML text, in the style of a configuration written by hand. Pure; knows no file."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from sidekicks_bridge.config.yamltext import Unreadable, read

WIDTH: Final = 100

_PLAIN = re.compile(r"-{0,2}[A-Za-z0-9_./~](?:[A-Za-z0-9_./~@%+=() -]*[A-Za-z0-9_./~@%+=()-])?")
_WORDS_OF_YAML_1_1 = frozenset({"y", "n", "yes", "no", "on", "off"})


def scalar(value: object, style: str | None = None) -> str:
    """A text, number, truth value or None on one line. ``style`` is the quote to keep, if a text can stand in it."""
    if not isinstance(value, str):
        return json.dumps(value)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and _can_be_plain(value):
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _can_be_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or text.lower() in _WORDS_OF_YAML_1_1:
        return False
    try:
        return bool(read(text).data == text)
    except Unreadable:
        return False


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    if character in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def flow(value: object) -> str:
    """Any JSON value on one line: ``[a, b]``, ``{a: 1}``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def fits_inline(value: object) -> bool:
    """Whether a value is better on its key's line: all but mappings, and lists of mappings or of much text."""
    if isinstance(value, dict):
        return not value
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value) and len(flow(value)) <= WIDTH
    return True


def block(value: dict[str, Any] | list[Any], step: int, offset: int) -> list[str]:
    """The lines of a mapping or list, not empty. ``step``: spaces per level; ``offset``: of a dash under its key."""
    lines: list[str] = []
    if isinstance(value, list):
        for item in value:
            lines += _hang("- ", [flow(item)] if fits_inline(item) else block(item, step, offset))
        return lines
    for key, item in value.items():
        if fits_inline(item):
            lines.append(f"{scalar(key)}: {flow(item)}")
        else:
            indent = " " * (offset if isinstance(item, list) else step)
            lines += [f"{scalar(key)}:", *(indent + line for line in block(item, step, offset))]
    return lines


def _hang(first: str, lines: list[str]) -> list[str]:
    return [first + lines[0], *(" " * len(first) + line for line in lines[1:])]
