"""One file, read for the words of a question: where they stand, and where the file says what things are.

Pure functions of a text. What is made of it is the business of `passages` and `search`.
"""

from __future__ import annotations

import re

from sidekicks_bridge.builtin.languages import defined_name, is_prose
from sidekicks_bridge.builtin.words import tokens

_HEAD = 12  # lines at most that say what a file is
_DOCUMENTED = 10  # lines at most that say what a definition is
_BY_THE_WAY = 0.4  # what a word counts in a row of a table or in an import: neither says much
_ROW = re.compile(r"\|")
_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|#\s*include)\b")
_BEGINS = 0.5  # what it counts where one is the beginning of the other (config, configuration)
_MIN_BEGINNING = 5  # letters
_MAX_REST = 3  # letters that may follow it
_PROBE = 4  # letters: most lines have none of them and are not split
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|@)")
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''')")
_EMPHASIS = re.compile(r"\*([^*]+)\*")
_MARKS = re.compile(
    r"^\s*(?:[rRuU]?(?:\"\"\"|''')|/\*+|\*+/?|//[/!]?|--+|#+|;+|<!--)\s*|\s*(?:\"\"\"|'''|\*+/|-->)\s*$"
)


class Reading:
    """A file read for some words: its lines, what they define and say, and where the words stand.

    ``names``: index of a line → what it defines. ``hits``: index of a line → how often it has each word.
    """

    def __init__(self, path: str, text: str, language: str, stems: list[str]) -> None:
        self.path = path
        self.prose = is_prose(path)
        self.lines = text.split("\n")
        self.names: dict[int, str] = {}
        self.hits: dict[int, dict[str, float]] = {}
        self.head = range(_head_end(self.lines))
        self.says = set(self.head)
        probes = [stem[:_PROBE] for stem in stems]
        for index, line in enumerate(self.lines):
            name = defined_name(line, language)
            if name is not None:
                self.names[index] = name
            lowered = line.lower()
            if any(probe in lowered for probe in probes):
                counted = _count(line, stems)
                if counted and (_ROW if self.prose else _IMPORT).match(line):
                    counted = {stem: count * _BY_THE_WAY for stem, count in counted.items()}
                if counted:
                    self.hits[index] = counted
        if not self.prose:
            for index in self.names:
                self.says.update(range(self.first_line(index), documented_to(self.lines, index)))
        self.defined = {index: self._defined(index) & self.hits[index].keys() for index in self.hits}

    @property
    def about(self) -> str:
        """What the file says it is, without the marks of its language; empty if it does not say."""
        return " ".join(
            _MARKS.sub("", self.lines[index]) for index in self.head if not self.lines[index].startswith("#!")
        )

    def _defined(self, index: int) -> set[str]:
        """The words that a line defines; a document does so in its headings and where it emphasizes."""
        defined = set(tokens(self.names.get(index, "")))
        if self.prose:
            defined.update(tokens(" ".join(_EMPHASIS.findall(self.lines[index]))))
        return defined

    def first_line(self, index: int) -> int:
        """Where a definition begins: at the comments and decorators over it."""
        limit = max(index - _DOCUMENTED, self.head.stop)
        while not self.prose and index > limit and _COMMENT.match(self.lines[index - 1]):
            index -= 1
        return index


def _count(line: str, stems: list[str]) -> dict[str, float]:
    counted: dict[str, float] = {}
    for token in tokens(line[:2000]):
        for stem in stems:
            if token == stem:
                counted[stem] = counted.get(stem, 0.0) + 1
            elif _begins(stem, token) or _begins(token, stem):
                counted[stem] = counted.get(stem, 0.0) + _BEGINS
    return counted


def _begins(short: str, long: str) -> bool:
    return len(short) >= _MIN_BEGINNING and len(long) - len(short) <= _MAX_REST and long.startswith(short)


def _head_end(lines: list[str]) -> int:
    """Return where the lines end that say what a file is: its docstring's first paragraph, comment or title."""
    if not lines or not (_COMMENT.match(lines[0]) or _DOCSTRING.match(lines[0])):
        return 0
    in_docstring = bool(_DOCSTRING.match(lines[0]))
    for index, line in enumerate(lines[:_HEAD]):
        if not line.strip() or not (in_docstring or _COMMENT.match(line)):
            return index
        if (
            in_docstring
            and (index > 0 or len(line.strip()) > len('"""x"""'))
            and line.rstrip().endswith(('"""', "'''"))
        ):
            return index + 1
    return min(len(lines), _HEAD)


def documented_to(lines: list[str], index: int) -> int:
    """Return where a definition's signature and, in Python, its docstring end."""
    end = index
    last = min(len(lines), index + _DOCUMENTED) - 1
    while end < last and lines[end].rstrip().endswith(("(", ",")):
        end += 1  # the parameters, a line each
    opening = _DOCSTRING.match(lines[end + 1]) if end < last else None
    if opening is None:
        return end + 1
    end += 1
    while end < last and lines[end].count(opening[1]) < (2 if opening.string is lines[end] else 1):
        end += 1
    return end + 1
