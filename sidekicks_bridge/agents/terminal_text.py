"""Text that an agent's own terminals print, sent piece by piece in ``_meta`` because we announced ``terminal_output``.

Pieces are put together per tool call. The whole text goes up again only when it is short, has doubled or is complete,
so that the cost grows with the text and not with its square.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sidekicks_bridge.agents.contract import ToolCallUpdate
from sidekicks_bridge.agents.raw import record
from sidekicks_bridge.protocol.parts import TerminalContent, TextContent

SHORT_CHARACTERS = 16 * 1024
MAX_CHARACTERS = 8 << 20
_FINAL = frozenset({"completed", "failed", "cancelled"})


class _Printed(msgspec.Struct):
    pieces: list[str] = []
    length: int = 0
    shown: int = 0


class TerminalText:
    """The printed text of the running tool calls of one session."""

    def __init__(self) -> None:
        self._calls: dict[str, _Printed] = {}

    def merge(self, call: ToolCallUpdate, meta: Any) -> ToolCallUpdate | None:
        """``call`` with the text printed so far as its content, if that is due; None: nothing new to say."""
        output, ended = record(record(meta).get("terminal_output")), "terminal_exit" in record(meta)
        piece = output.get("data")
        if isinstance(piece, str):
            self._add(self._calls.setdefault(call.id, _Printed()), piece)
        printed = self._calls.get(call.id)
        if printed is None:
            return call
        final = call.status in _FINAL
        if final:
            del self._calls[call.id]
        if call.content and not all(isinstance(item, TerminalContent) for item in call.content):
            return call
        news = printed.length > printed.shown
        due = ended or final or printed.length <= SHORT_CHARACTERS or printed.length >= 2 * printed.shown
        if news and due:
            printed.shown = printed.length
            printed.pieces = ["".join(printed.pieces)]
            return msgspec.structs.replace(call, content=[TextContent(text=printed.pieces[0])])
        silent = msgspec.structs.replace(call, content=None)
        return None if silent == ToolCallUpdate(call.id) else silent

    @staticmethod
    def _add(printed: _Printed, piece: str) -> None:
        room = MAX_CHARACTERS - printed.length
        if room > 0:
            printed.pieces.append(piece[:room])
            printed.length += min(len(piece), room)
