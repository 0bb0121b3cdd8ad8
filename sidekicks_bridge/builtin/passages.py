"""Passages of one file: cut along its definitions, scored for the words of a question, excerpted.

Pure functions of a text. A word counts for more where it says what a thing is: in a name that is defined, in the
lines that document it, in the lines a file begins with.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sidekicks_bridge.builtin.languages import defined_name, is_prose
from sidekicks_bridge.builtin.words import tokens

EXCERPT_LINES = 8
EXCERPT_WIDTH = 160  # characters
LABEL_WIDTH = 80
_HEAD = 12  # lines at most that say what a file is
_DOCUMENTED = 10  # lines at most that say what a definition is
_SHOWN_OF_IT = 5  # of them, where the excerpt goes on further down
_LONGEST = 28  # lines of a passage
_BREATH = 12  # lines before an empty line may begin the next one
_USUAL = 16  # lines: the length BM25 holds for normal
_SATURATION = 1.5
_LENGTH_WEIGHT = 0.4
_DEFINES = 4.0  # what a word counts in a name that is being defined
_SAYS = 2.0  # what it counts where a definition or a file says what it is
_BEGINS = 0.5  # what it counts where one is the beginning of the other (config, configuration)
_MIN_BEGINNING = 5  # letters
_MAX_REST = 3  # letters that may follow it
_PROBE = 4  # letters: most lines have none of them and are not split
_IS_A_TYPE = 0.75  # a question for what is done asks for the function, not for the types it handles
_IS_PRIVATE = 0.85
_IS_HEAD = 0.6  # what a file says it is goes along with whatever it shows
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|@)")
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''')")

_MARKS = re.compile(
    r"^\s*(?:[rRuU]?(?:\"\"\"|''')|/\*+|\*+/?|//[/!]?|--+|#+|;+|<!--)\s*|\s*(?:\"\"\"|'''|\*+/|-->)\s*$"
)
_EMPHASIS = re.compile(r"\*([^*]+)\*")


class Passage(NamedTuple):
    """A passage that answers: where it begins (line from 1), excerpt, score, what it defines, a line for a list.

    ``about``: what its file says it is, if that is not in the excerpt.
    """

    path: str
    line: int
    excerpt: tuple[str, ...]
    score: float
    defines: str | None
    label: str
    about: str


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
                if counted:
                    self.hits[index] = counted
        if not self.prose:
            for index in self.names:
                self.says.update(range(self.first_line(index), _documented_to(self.lines, index)))
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


def _documented_to(lines: list[str], index: int) -> int:
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


def find_passages(reading: Reading, weights: dict[str, float], named: frozenset[str], doing: bool) -> list[Passage]:
    """Return the passages of a file that contain any of the words, best first.

    ``weights`` maps each stem of the question to what it counts; ``named`` are those in the file's path; ``doing``:
    whether the question is for what is done.
    """
    hits = reading.hits or ({0: {}} if named else {})  # only its name speaks of it: show how it begins
    found = []
    for start, end in _cuts(reading):
        inside = [index for index in range(start, end) if index in hits]
        if not inside:
            continue
        name = next((reading.names[index] for index in range(start, end) if index in reading.names), None)
        score = _score(reading, inside, end - start, weights, named)
        if name is None and start == 0 and not reading.prose:
            score *= _IS_HEAD
        if name is not None and doing and name.lstrip("_#")[:1].isupper():
            score *= _IS_A_TYPE
        if name is not None and name.startswith(("_", "#")):
            score *= _IS_PRIVATE
        found.append(_passage(reading, (start, end), inside, weights, score))
    return sorted(found, key=lambda passage: (-passage.score, passage.line))


def _cuts(reading: Reading) -> list[tuple[int, int]]:
    """Cut at every definition, and long stretches at an empty line."""
    lines = reading.lines
    begins = {reading.first_line(index) for index in reading.names}
    cuts: list[tuple[int, int]] = []
    start = 0
    for index in range(1, len(lines)):
        length = index - start
        breath = length >= _BREATH and not lines[index - 1].strip()
        if index in begins or length >= _LONGEST or breath:
            cuts.append((start, index))
            start = index
    return [*cuts, (start, len(lines))]


def _score(reading: Reading, inside: list[int], length: int, weights: dict[str, float], named: frozenset[str]) -> float:
    totals = dict.fromkeys(named, 0.5)
    for index in inside:
        factor = _SAYS if index in reading.says else 1.0
        for stem, count in reading.hits.get(index, {}).items():
            more = _DEFINES if stem in reading.defined.get(index, ()) else 0.0
            totals[stem] = totals.get(stem, 0.0) + factor * count + more
    damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _USUAL)
    covered = sum(weights[stem] for stem in totals) / sum(weights.values())
    return covered * sum(weights[stem] * count / (count + damping) for stem, count in totals.items())


def _passage(
    reading: Reading, cut: tuple[int, int], inside: list[int], weights: dict[str, float], score: float
) -> Passage:
    """Show how the passage begins; if the words stand only further down, that place after or instead of it."""
    lines = reading.lines
    start, end = cut
    while start < end - 1 and not lines[start].strip():
        start += 1
    defining = next((index for index in range(start, end) if index in reading.names), None)
    best = max(inside, key=lambda index: (_worth(reading, index, weights), -index))
    if defining is None and start not in reading.head and not _begins_a_paragraph(lines, start, best):
        start = best
    shown = lines[start : min(end, start + EXCERPT_LINES)]
    if inside[0] >= start + EXCERPT_LINES:
        if defining is None or reading.prose:
            start = best
            shown = lines[start : min(end, start + EXCERPT_LINES)]
        else:
            begun = min(_documented_to(lines, defining), start + _SHOWN_OF_IT)
            shown = [*lines[start:begun], f"{_indent(lines[best])}…", *lines[max(begun, best - 1) : min(end, best + 2)]]
    told = defining if defining is not None and defining >= start else best
    in_head = start in reading.head and told != defining
    return Passage(
        path=reading.path,
        line=(told if told == defining else start) + 1,
        excerpt=_excerpt(shown),
        score=score,
        defines=None if defining is None else reading.names[defining],
        label=_clipped((in_head and reading.about) or lines[told].rstrip(" ({").lstrip(" #"), LABEL_WIDTH),
        about="" if start in reading.head else _clipped(reading.about, EXCERPT_WIDTH),
    )


def _worth(reading: Reading, index: int, weights: dict[str, float]) -> float:
    """What a line tells: its words, and more where it defines them."""
    counted = sum(weights[stem] * count for stem, count in reading.hits.get(index, {}).items())
    return counted + _DEFINES * sum(weights[stem] for stem in reading.defined.get(index, ()))


def _begins_a_paragraph(lines: list[str], start: int, best: int) -> bool:
    """Whether a line stands in the paragraph that another begins, so that the two are read together."""
    return best - start < EXCERPT_LINES and all(line.strip() for line in lines[start:best])


def _clipped(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _excerpt(lines: list[str]) -> tuple[str, ...]:
    shown = [line.expandtabs(4).rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    margin = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    cut = [line[margin:] for line in shown]
    return tuple(line if len(line) <= EXCERPT_WIDTH else f"{line[:EXCERPT_WIDTH]} …" for line in cut)
