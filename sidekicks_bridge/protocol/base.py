"""The Struct that all wire types derive from, and the one JSON encoder.

Wire rules: camelCase, absent rather than null, unknown fields ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from sidekicks_bridge.protocol.errors import SidekicksError

T = TypeVar("T")
MOST = 2**53 - 1
Integer = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
"""A whole number that every language of a client can hold."""


class Wire(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """A record on the wire. A field without a default is always sent; one that equals its default is left out."""


_encoder = msgspec.json.Encoder(decimal_format="number")
encode = _encoder.encode
"""Any wire value → JSON bytes (UTF-8)."""


def to_builtins(value: object) -> Any:
    """A wire value as plain dicts, lists and scalars, keyed as on the wire."""
    return msgspec.to_builtins(value)


def decode_params(value: object, kind: type[T]) -> T:
    """Convert parsed JSON ``value`` to ``kind``; raises ``invalidParams`` with the place of the fault."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise SidekicksError("invalidParams", f"The parameters are not as expected: {problem}") from problem
