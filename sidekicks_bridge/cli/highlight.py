"""Syntax colours for the lines of a fence, with Pygments when it is installed, else one colour for all."""

from __future__ import annotations

from typing import Any

from sidekicks_bridge.cli.style import CODE, Line

_CONTEXT = 60
"""Lines before the new ones that the lexer sees again: enough for strings and comments over several lines."""

_STYLES = (
    ("Comment", "dim italic"),
    ("Keyword", "fg:ansimagenta"),
    ("Literal.String", "fg:ansigreen"),
    ("Literal.Number", "fg:ansicyan"),
    ("Name.Function", "fg:ansiblue"),
    ("Name.Class", "bold fg:ansiblue"),
    ("Name.Decorator", "fg:ansiyellow"),
    ("Name.Tag", "fg:ansiblue"),
    ("Generic.Inserted", "fg:ansigreen"),
    ("Generic.Deleted", "fg:ansired"),
    ("Generic.Heading", "bold"),
)


class Highlighter:
    """Colours the lines of one fence as they come; each call costs by its new lines, not by the fence."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._before: list[str] = []

    def lines(self, new: list[str]) -> list[Line]:
        """The styled form of the fence's next lines ``new`` (safe, without line ends)."""
        if self._lexer is None:
            return [[(CODE, text)] if text else [] for text in new]
        styled = self._lex("\n".join([*self._before, *new]))[len(self._before) :]
        self._before = [*self._before, *new][-_CONTEXT:]
        return styled

    def peek(self, new: list[str]) -> list[Line]:
        """As `lines`, for lines that are not final."""
        kept = self._before
        styled = self.lines(new)
        self._before = kept
        return styled

    def _lex(self, source: str) -> list[Line]:
        styled: list[Line] = [[]]
        for _, kind, value in self._lexer.get_tokens_unprocessed(source):
            style = _style(str(kind))
            first, *others = value.split("\n")
            if first:
                styled[-1].append((style, first))
            styled += [[(style, text)] if text else [] for text in others]
        return styled


def _style(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((style for prefix, style in _STYLES if name.startswith(prefix)), "")


def _lexer(language: str) -> Any:
    """The lexer for a fence's language word, None if there is none (or no Pygments)."""
    if not language:
        return None
    try:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        return None
    try:
        return get_lexer_by_name(language.lower())
    except ClassNotFound:
        return None
