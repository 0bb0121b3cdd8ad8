"""The short form of a part: what pages and live deltas carry when a tool's input, output or content is large.

Pure. The whole form is the store's business; `message/part` returns it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.parts import (
    DiffContent,
    OtherContent,
    Part,
    ResourceContent,
    TextContent,
    ToolCallPart,
    ToolContent,
)

SHORT_BYTES = 16 * 1024
"""What a tool call's input, output and content may each take in its short form, in bytes of UTF-8 JSON."""


def shorten(part: Part) -> tuple[Part, bool]:
    """The part as pages and deltas carry it, and whether anything was cut from it.

    Only tool calls are ever cut, and only above 16 KiB: the head of each text is kept, cut between code points,
    lists and objects lose their tail, and ``truncated`` is set.
    """
    if not isinstance(part, ToolCallPart) or len(encode(part)) <= SHORT_BYTES:
        return part, False
    given = _Budget()
    returned = _Budget()
    shown = _Budget()
    short = msgspec.structs.replace(
        part,
        input=given.value(part.input),
        output=returned.value(part.output),
        content=shown.contents(part.content),
    )
    if not (given.cut or returned.cut or shown.cut):
        return part, False
    short.truncated = True
    return short, True


def cut_text(text: str, limit: int) -> str:
    """The longest head of ``text`` that takes at most ``limit`` bytes of UTF-8, ending between code points."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode()
    return text if len(data) <= limit else data[: max(limit, 0)].decode(errors="ignore")


class _Budget:
    """Bytes that may still be kept; ``cut`` tells whether something did not fit."""

    def __init__(self) -> None:
        self.left = SHORT_BYTES
        self.cut = False

    def text(self, text: str, limit: int | None = None) -> str:
        """The head of a text, at most ``limit`` bytes of it, paid from the budget."""
        short = cut_text(text, self.left if limit is None else min(limit, self.left))
        self.left -= len(short.encode())
        self.cut = self.cut or len(short) < len(text)
        return short

    def value(self, value: Any) -> Any:
        """The head of a JSON value, depth first."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value if self._room(2)]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items() if self._room(len(str(key)) + 4)}
        self.left -= len(str(value))
        return value

    def contents(self, contents: list[ToolContent]) -> list[ToolContent]:
        """The first items of a tool call's content, each with its text cut to what is left."""
        return [self._content(content) for content in contents if self._room(32)]

    def _content(self, content: ToolContent) -> ToolContent:
        match content:
            case TextContent():
                return TextContent(text=self.text(content.text))
            case DiffContent():
                return self._diff(content)
            case ResourceContent() if content.text is not None:
                return msgspec.structs.replace(content, text=self.text(content.text))
            case OtherContent():
                return msgspec.structs.replace(content, raw=self.value(content.raw))
            case _:
                return content

    def _diff(self, diff: DiffContent) -> DiffContent:
        """Both sides of a diff get half of what is left, so that a change is never shown as a deletion."""
        self._room(len(diff.path))
        old = None if diff.old_text is None else self.text(diff.old_text, self.left // 2)
        return msgspec.structs.replace(diff, old_text=old, new_text=self.text(diff.new_text))

    def _room(self, size: int) -> bool:
        """Pay for an item; False (and cut) when nothing is left for it."""
        if self.left <= 0:
            self.cut = True
            return False
        self.left -= size
        return True
