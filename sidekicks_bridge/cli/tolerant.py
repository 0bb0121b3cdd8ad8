"""Reading the wire as a receiver must: what a newer bridge adds is ignored, never an error.

Unknown fields msgspec ignores by itself; an unknown tag of a part or of tool content becomes the raw ``other`` here.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from sidekicks_bridge.protocol.parts import Part, ToolContent

T = TypeVar("T")

_PART_TAGS = frozenset(kind.__struct_config__.tag for kind in Part.__args__)
_CONTENT_TAGS = frozenset(kind.__struct_config__.tag for kind in ToolContent.__args__)
_DECODERS: dict[object, msgspec.json.Decoder[Any]] = {}


def decode(raw: bytes, kind: type[T]) -> T:
    """JSON ``raw`` as ``kind``; raises `msgspec.ValidationError` if it is not that even with unknown tags set aside."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        decoder = _DECODERS[kind] = msgspec.json.Decoder(kind)
    try:
        value: T = decoder.decode(raw)
        return value
    except msgspec.ValidationError:
        return msgspec.convert(_set_aside(msgspec.json.decode(raw)), kind)


def _set_aside(value: Any) -> Any:
    """``value`` with every part (and tool content) of an unknown tag turned into the kind ``other``."""
    if isinstance(value, list):
        return [_set_aside(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        if key == "parts" and isinstance(item, list):
            found[key] = [_known(part, _PART_TAGS) for part in item]
        elif key in ("value", "part") and isinstance(item, dict) and "type" in item:
            found[key] = _known(item, _PART_TAGS)
        else:
            found[key] = _set_aside(item)
    return found


def _known(value: Any, tags: frozenset[str | int | None]) -> Any:
    if not isinstance(value, dict):
        return value
    if value.get("type") not in tags:
        return {"type": "other", "kind": str(value.get("type")), "raw": value}
    content = value.get("content")
    if isinstance(content, list):
        value = {**value, "content": [_known(item, _CONTENT_TAGS) for item in content]}
    return value
