"""JSON by those parts of the standard library's `json` that are written in C.

To import `json` takes as long as to start Python (it brings `re` along), and a mail verb has no time for that. The
results are the same; where the C parts are missing, `json` itself does it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    make_scanner = None  # type: ignore[assignment,misc]  # another Python than CPython


class _Reader:
    """What the scanner asks of a decoder: the standard library's answers."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(data: bytes) -> Any:
    """The value that UTF-8 ``data`` holds. Raises ValueError."""
    if make_scanner is None:
        import json

        return json.loads(data)
    text = data.decode().strip(" \t\n\r")
    try:
        value, end = make_scanner(_Reader)(text, 0)  # type: ignore[arg-type]  # the stubs want a JSONDecoder
    except StopIteration:
        value, end = None, -1
    if end != len(text):
        raise ValueError(f"This is not JSON: {text[:60]!r}")
    return value


def dumps(value: Any, *, sort_keys: bool = False) -> bytes:
    """``value`` as JSON: no blanks, everything beyond ASCII escaped. Raises TypeError."""
    if make_scanner is None:
        import json

        return json.dumps(value, separators=(",", ":"), sort_keys=sort_keys).encode("ascii")
    encoder = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", sort_keys, False, True)
    return "".join(encoder(value, 0)).encode("ascii")


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")
