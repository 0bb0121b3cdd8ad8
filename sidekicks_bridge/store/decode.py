"""Stored JSON → Structs, tolerant to what a newer version may have written: nothing kept becomes unreadable.

A part (or a tool call's content) of a kind unknown here comes back as `OtherPart` (`OtherContent`) with its raw value.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.parts import OtherContent, OtherPart, Part, ToolContent
from sidekicks_bridge.protocol.types import Message

_message = msgspec.json.Decoder(Message)


def decode_message(data: bytes) -> Message:
    """A stored message. Raises msgspec.DecodeError if it is none."""
    try:
        return _message.decode(data)
    except msgspec.ValidationError:
        raw = msgspec.json.decode(data)
        if not (isinstance(raw, dict) and isinstance(raw.get("parts"), list)):
            raise
        raw["parts"] = [to_builtins(_part(part)) for part in raw["parts"]]
        return msgspec.convert(raw, Message)


def decode_part(data: bytes) -> Part:
    """A stored part. Raises msgspec.DecodeError if it is no JSON."""
    return _part(msgspec.json.decode(data))


def _part(raw: Any) -> Part:
    """A part; content that is unknown is wrapped first, then the part as a whole."""
    known = raw
    if isinstance(raw, dict) and isinstance(raw.get("content"), list):
        known = {**raw, "content": [to_builtins(_content(item)) for item in raw["content"]]}
    try:
        part: Part = msgspec.convert(known, Part)
    except msgspec.ValidationError:
        return OtherPart(kind=_kind(raw), raw=raw)
    return part


def _content(raw: Any) -> ToolContent:
    try:
        content: ToolContent = msgspec.convert(raw, ToolContent)
    except msgspec.ValidationError:
        return OtherContent(kind=_kind(raw), raw=raw)
    return content


def _kind(raw: Any) -> str:
    return str(raw.get("type", "unknown")) if isinstance(raw, dict) else "unknown"
