"""Passages of one file: cut along its structure, scored for the words of a question, excerpted.

Pure functions of a text. Scores are BM25 with a weight for the lines that define something, since a question
usually asks for the place where a thing is made, not for its uses.
"""

from __future__ import annotations

from typing import NamedTuple

from sidekicks_bridge.builtin.languages import defined_name
from sidekicks_bridge.builtin.words import tokens

_LONGEST = 28  # lines of a passage
_SHORTEST = 5  # lines before a definition may begin the next one
_BREATH = 12  # lines before an empty line may
_USUAL = 16  # lines: the length BM25 holds for normal
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.5
_DEFINES = 3.0  # what a word counts in a name that is being defined
_BEGINS = 0.5  # what it counts where one is the beginning of the other (config, configuration)
_MIN_BEGINNING = 4  # letters
_MAX_REST = 3  # letters that may follow it
EXCERPT_LINES = 8
EXCERPT_WIDTH = 160  # characters


class Passage(NamedTuple):
    """A passage that answers: where it begins (line from 1), excerpt, score, and what it defines."""

    path: str
    line: int
    excerpt: tuple[str, ...]
    score: float
    defines: str | None


def find_passages(
    path: str, text: str, language: str, weights: dict[str, float], named: frozenset[str]
) -> list[Passage]:
    """Return the passages of a file that contain any of the words, best first.

    ``weights`` maps each stem of the question to its rarity; ``named`` are those in the file's path.
    """
    lines = text.split("\n")
    probes = [stem[:_MIN_BEGINNING] for stem in weights]  # most lines have none of them and are not split
    names: dict[int, str] = {}
    hits: dict[int, dict[str, float]] = {}
    for index, line in enumerate(lines):
        name = defined_name(line, language)
        if name is not None:
            names[index] = name
        lowered = line.lower()
        if any(probe in lowered for probe in probes):
            counted = _count(line, name, weights)
            if counted:
                hits[index] = counted
    if named and not hits:
        hits[0] = {}  # only its name speaks of it: show how it begins
    found = []
    for start, end in _cuts(lines, names):
        passage = _passage(path, lines, (start, end), names, hits, weights, named)
        if passage is not None:
            found.append(passage)
    return sorted(found, key=lambda passage: (-passage.score, passage.line))


def _count(line: str, name: str | None, weights: dict[str, float]) -> dict[str, float]:
    counted: dict[str, float] = {}
    for token in tokens(line[:2000]):
        for stem in weights:
            if token == stem:
                counted[stem] = counted.get(stem, 0.0) + 1
            elif _begins(stem, token) or _begins(token, stem):
                counted[stem] = counted.get(stem, 0.0) + _BEGINS
    if name is not None:
        for token in set(tokens(name)) & counted.keys():
            counted[token] += _DEFINES - 1
    return counted


def _begins(short: str, long: str) -> bool:
    return len(short) >= _MIN_BEGINNING and len(long) - len(short) <= _MAX_REST and long.startswith(short)


def _cuts(lines: list[str], names: dict[int, str]) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    start = 0
    for index in range(1, len(lines)):
        length = index - start
        breath = length >= _BREATH and not lines[index - 1].strip()
        if length >= _LONGEST or breath or (index in names and length >= _SHORTEST):
            cuts.append((start, index))
            start = index
    return [*cuts, (start, len(lines))]


def _passage(
    path: str,
    lines: list[str],
    cut: tuple[int, int],
    names: dict[int, str],
    hits: dict[int, dict[str, float]],
    weights: dict[str, float],
    named: frozenset[str],
) -> Passage | None:
    inside = [index for index in range(*cut) if index in hits]
    if not inside:
        return None
    totals = dict.fromkeys(named, 1.0)
    for index in inside:
        for stem, count in hits[index].items():
            totals[stem] = totals.get(stem, 0.0) + count
    damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * (cut[1] - cut[0]) / _USUAL)
    score = sum(weights[stem] * count * (_SATURATION + 1) / (count + damping) for stem, count in totals.items())
    covered = sum(weights[stem] for stem in totals) / sum(weights.values())
    best = max(inside, key=lambda index: (sum(weights[stem] * n for stem, n in hits[index].items()), -index))
    start = _excerpt_start(lines, best, cut[0], names)
    return Passage(
        path=path,
        line=start + 1,
        excerpt=_excerpt(lines[start : min(start + EXCERPT_LINES, max(cut[1], best + 1))]),
        score=score * covered * covered,
        defines=names.get(start),
    )


def _excerpt_start(lines: list[str], best: int, first: int, names: dict[int, str]) -> int:
    """Begin at the definition that the best line belongs to, if it is near, else a line before it."""
    for index in range(best, max(first, best - EXCERPT_LINES + 1) - 1, -1):
        if index in names:
            return index
    return best - 1 if best > first and lines[best - 1].strip() else best


def _excerpt(lines: list[str]) -> tuple[str, ...]:
    shown = [line.expandtabs(4).rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    margin = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    cut = [line[margin:] for line in shown]
    return tuple(line if len(line) <= EXCERPT_WIDTH else f"{line[:EXCERPT_WIDTH]} …" for line in cut)
