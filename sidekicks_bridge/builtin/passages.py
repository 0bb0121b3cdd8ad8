"""Passages of one file: cut along its definitions, scored for the words of a question, excerpted.

Pure functions of a text. A word counts for more where it says what a thing is: in a name that is defined, in the
lines that document it, in the lines a file begins with.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sidekicks_bridge.builtin.reading import Reading, documented_to

EXCERPT_LINES = 8
EXCERPT_WIDTH = 160  # characters
LABEL_WIDTH = 80
_SHOWN_OF_IT = 5  # of them, where the excerpt goes on further down
_LONGEST = 28  # lines of a passage
_BREATH = 12  # lines before an empty line may begin the next one
_USUAL = 16  # lines: the length BM25 holds for normal
_SATURATION = 1.5
_LENGTH_WEIGHT = 0.4
_DEFINES = 4.0  # what a word counts in a name that is being defined
_SAYS = 2.0  # what it counts where a definition or a file says what it is
_NAMED = 0.4  # a word in the file's path tells its passages apart less than the others do
_IS_A_TYPE = 0.75  # a question for what is done asks for the function, not for the types it handles
_IS_PRIVATE = 0.85
_WITH_HEADING = 4  # lines at least of what a document says under a heading
_BEGINS_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_IS_HEAD = 0.6  # what a file says it is goes along with whatever it shows


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


def find_passages(reading: Reading, weights: dict[str, float], named: frozenset[str], doing: bool) -> list[Passage]:
    """Return the passages of a file that contain any of the words, best first.

    ``weights`` maps each stem of the question to what it counts; ``named`` are those in the file's path; ``doing``:
    whether the question is for what is done.
    """
    weights = {stem: weight * (_NAMED if stem in named else 1.0) for stem, weight in weights.items()}
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
    told = best if defining is None or (reading.prose and defining not in inside) else defining
    if told != defining and start not in reading.head:
        start = _paragraph_start(lines, best, start)
    if reading.prose:
        shown = lines[start : _paragraph_end(lines, start)]
    elif inside[0] >= start + EXCERPT_LINES:
        begun = min(documented_to(lines, told), start + _SHOWN_OF_IT)
        shown = [*lines[start:begun], f"{_indent(lines[best])}…", *lines[max(begun, best - 1) : min(end, best + 2)]]
    else:
        shown = lines[start : min(end, start + EXCERPT_LINES)]
    in_head = start in reading.head and told != defining
    return Passage(
        path=reading.path,
        line=(start if in_head else told) + 1,
        excerpt=_excerpt(shown),
        score=score,
        defines=None if defining is None else reading.names[defining],
        label=_clipped((in_head and reading.about) or lines[told].rstrip(" ({").lstrip(" #"), LABEL_WIDTH),
        about="" if reading.prose or start in reading.head else _clipped(reading.about, EXCERPT_WIDTH),
    )


def _paragraph_start(lines: list[str], index: int, first: int) -> int:
    """Return where the paragraph or the list item begins that a line stands in, if that is near."""
    first = max(first, index - EXCERPT_LINES // 2)
    while index > first and lines[index - 1].strip() and not _BEGINS_ITEM.match(lines[index]):
        index -= 1
    return index


def _paragraph_end(lines: list[str], start: int) -> int:
    """Return where the paragraph or item ends that begins at a line; a heading goes with what follows it."""
    is_item = _BEGINS_ITEM.match(lines[start])
    enough = start + (_WITH_HEADING if lines[start].startswith("#") else 1)
    last = min(len(lines), start + EXCERPT_LINES)
    for index in range(start + 1, last):
        if (index >= enough and not lines[index].strip()) or (is_item and _BEGINS_ITEM.match(lines[index])):
            return index
    return last


def _worth(reading: Reading, index: int, weights: dict[str, float]) -> float:
    """What a line tells: its words, and more where it defines them."""
    counted = sum(weights[stem] * count for stem, count in reading.hits.get(index, {}).items())
    return counted + _DEFINES * sum(weights[stem] for stem in reading.defined.get(index, ()))


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
