"""A body that came in → a JSON-RPC message: tolerant of what editors really send, exact about what is none. Pure."""

from __future__ import annotations

import re
from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

RequestId = str | int | float

_ESCAPES = re.compile(
    rb"\\\\"  # an escaped backslash: what follows it is no escape
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a character of two halves
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class NotAMessage(Exception):
    """The body is no message. ``code``: JSON-RPC's, ``request_id``: whose request it was, if it has a proper one."""

    def __init__(self, code: int, sentence: str, request_id: object = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.request_id = request_id if is_request_id(request_id) else None


def is_request_id(value: object) -> bool:
    """Whether JSON-RPC allows ``value`` as an id."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def parse(body: bytes) -> dict[str, Any]:
    """The message: an object with a method (a request or notification) or a proper id (an answer).

    Raises NotAMessage.
    """
    message = _decoded(body)
    if isinstance(message, list):
        raise NotAMessage(INVALID_REQUEST, "LSP has no batches. Send one message at a time.")
    if not isinstance(message, dict):
        raise NotAMessage(INVALID_REQUEST, "A message must be a JSON object.")
    request_id = message.get("id")
    if request_id is not None and not is_request_id(request_id):
        raise NotAMessage(INVALID_REQUEST, "The id of a message must be a string or a number.")
    method = message.get("method")
    if not isinstance(method, str) and (method is not None or request_id is None):
        raise NotAMessage(INVALID_REQUEST, "A message needs a method, or the id of a request.", request_id)
    return message


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except RecursionError as problem:
        raise NotAMessage(PARSE_ERROR, "The message is nested too deeply.") from problem
    except msgspec.DecodeError as problem:
        mended = _mended(body)
        if mended == body:
            raise NotAMessage(PARSE_ERROR, f"The message is not JSON: {problem}.") from problem
        return _decoded(mended)


def _mended(body: bytes) -> bytes:
    """``body`` with halves of characters, which JavaScript strings may hold, and what is not UTF-8 replaced."""
    text = body.decode("utf-8", "replace").encode()
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found["half"] else found[0], text)
