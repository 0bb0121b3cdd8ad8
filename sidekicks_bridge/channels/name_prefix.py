"""Drops the agent's own name from the front of its answer (design rule 4). Owns the few characters held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class NamePrefix:
    """A filter for the first chunks of an answer: holds them back until it is decided, then lets all through.

    Dropped once: one of ``names`` in any case, a colon and one blank. ``alice:1`` is left alone.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._prefixes = sorted({f"{name}:" for name in names if name}, key=len, reverse=True)
        self._held: str | None = ""

    def feed(self, chunk: str) -> str:
        """What may be shown after ``chunk``; empty while undecided."""
        if self._held is None:
            return chunk
        self._held += chunk
        for prefix in self._prefixes:
            head = self._held[: len(prefix)]
            if head.casefold() != prefix[: len(head)].casefold():
                continue
            if len(self._held) <= len(prefix):
                return ""
            if self._held[len(prefix)].isspace():
                return self._release(self._held[len(prefix) + 1 :])
        return self._release(self._held)

    def flush(self) -> str:
        """What is still held, when something else than text follows or the answer ends."""
        return self._release(self._held) if self._held else ""

    def _release(self, text: str) -> str:
        self._held = None
        return text
