"""Answers a question from the files: first which files speak of it, then which passages of them say most.

Owns what ranks a file: BM25 over its path, what it defines, how it begins and its text, times what kind of place it
is. Keeps nothing between questions: a pass over the text of 20,000 files takes about a second, an index of them would
take several to build and hold their words in memory; and what is read is what the files say now.
"""

from __future__ import annotations

import re
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from sidekicks_bridge.builtin.files import Workspace, is_generated, is_searched
from sidekicks_bridge.builtin.languages import language_of
from sidekicks_bridge.builtin.notes import FILE_NAME as NOTES_NAME
from sidekicks_bridge.builtin.notes import without_entries
from sidekicks_bridge.builtin.passages import Passage, find_passages
from sidekicks_bridge.builtin.places import generated_weight, place_weight
from sidekicks_bridge.builtin.question import Question
from sidekicks_bridge.builtin.reading import Reading
from sidekicks_bridge.builtin.words import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_PASSAGES = 6
_PER_FILE = 2
_SECOND = 0.55  # a file's second passage against its first: other files have something to say, too
_NEARLY = 0.5  # what a second passage must have of the first one's score
_CANDIDATES = 60  # files that are read closely
_ENOUGH = 0.3  # of the best passage's score: what is weaker only distracts,
_AT_LEAST = 3  # but one strange word must not hide everything else
_PROBE = 6  # letters of a word by which files are chosen: config is found for configuration, too
_NOTES_STEMS = ("note", "minut")

# What a word counts:
_IN_TEXT = 5.0  # at most, however often it is in the text,
_OFTEN = 2.0  # and half of it when it is there so often in a text of usual length,
_IN_NAME = 5.0  # in the file's own name,
_IN_FOLDER = 3.0  # in its folder's,
_IN_PATH = 1.0  # further up,
_IN_HEAD = 2.0  # in what the file says it is, twice at most,
_IN_DEFINED = 2.0  # in the names it defines, three times at most,
_POINTED = 3.0  # on a line of a document that names the file
_SATURATION = 4.0
_LENGTH_WEIGHT = 0.6
_USUAL = 150  # lines
_SHORT = 0.7  # a short file's length, as a part of the usual
_LANDMARK = 1.15  # what it does to a file's score that a document names it beside words of the question
_FILE_NAME = re.compile(r"[\w@-][\w@./-]*\.\w+")


class Answer(NamedTuple):
    """What was found: the passages, the words they were looked up by, those found nowhere, files read."""

    passages: list[Passage]
    words: dict[str, str]
    missing: list[str]
    searched: int


class _File(NamedTuple):
    path: str
    counts: tuple[float, ...]


def answer_question(workspace: Workspace, text: str, paths: Iterable[str], check: Callable[[], None]) -> Answer:
    """Look a question up in the given files; ``check`` is called for each file and may raise to stop."""
    question = Question(text)
    files: list[_File] = []
    searched = 0
    in_names: set[str] = set()
    probes = {stem: _probe(stem) for stem in question.stems}
    for path in paths if question.stems else ():
        check()
        content = _content(workspace, path, question)
        if content is None:
            continue
        searched += 1
        in_names.update(tokens(path.rpartition("/")[2]))
        counts = _counts(path, content, probes)
        if any(counts):
            files.append(_File(path, counts))
    files_with = {stem: sum(1 for file in files if file.counts[index]) for index, stem in enumerate(question.stems)}
    weights = question.weights(files_with, searched, frozenset(in_names))
    passages = _best_passages(workspace, question, files, weights, check) if weights else []
    missing = [word for stem, word in question.words.items() if stem not in weights]
    return Answer(passages, question.words, missing, searched)


def _content(workspace: Workspace, path: str, question: Question) -> str | None:
    """Return what is searched of a file; of the notes only what is no answer of ours, unless they are asked for."""
    if not is_searched(path) or is_generated(path):
        return None
    text = workspace.text(path)
    if text is not None and path.rpartition("/")[2] == NOTES_NAME and not question.asks_for(*_NOTES_STEMS):
        return without_entries(text)
    return text


def _probe(stem: str) -> re.Pattern[str]:
    """Return a pattern for where a word may begin: sign, Sign and SIGN, but not design."""
    probe = re.escape(stem[:_PROBE])
    return re.compile(rf"(?<![a-z]){probe}|{probe.capitalize()}|(?<![A-Z]){probe.upper()}")


def _counts(path: str, text: str, probes: dict[str, re.Pattern[str]]) -> tuple[float, ...]:
    lowered = text.lower()
    return tuple(
        (lowered.count(stem[:_PROBE]) if stem[:_PROBE] in lowered and probe.search(text) else 0)
        + (_IN_NAME if probe.search(path) else 0)
        for stem, probe in probes.items()
    )


def _best_passages(
    workspace: Workspace,
    question: Question,
    files: list[_File],
    weights: dict[str, float],
    check: Callable[[], None],
) -> list[Passage]:
    def promise(file: _File) -> float:
        counted = [(weights[stem], count) for stem, count in zip(question.stems, file.counts, strict=True) if count]
        parts = sum(weight * count / (count + _SATURATION) for weight, count in counted)
        covered = sum(weight for weight, _ in counted)
        return parts * covered * place_weight(file.path, question)

    readings = []
    for file in sorted(files, key=lambda file: (-promise(file), file.path))[:_CANDIDATES]:
        check()
        text = _content(workspace, file.path, question)
        if text is not None:  # else it was deleted meanwhile
            reading = Reading(file.path, text, language_of(file.path), list(weights))
            readings.append((reading, place_weight(file.path, question) * generated_weight(text)))
    pointed = _pointed([reading for reading, _ in readings])
    found: list[Passage] = []
    for reading, weight in readings:
        score = _score(reading, weights, pointed.get(reading.path, frozenset())) * weight
        named = frozenset(tokens(reading.path)) & weights.keys()
        best = find_passages(reading, weights, named, doing=bool(question.participles))[:_PER_FILE]
        for rank, passage in enumerate(best):
            share = passage.score / best[0].score
            if share >= _NEARLY:
                found.append(passage._replace(score=score * (share * _SECOND if rank else 1.0)))
    return _distinct(sorted(found, key=lambda passage: (-passage.score, passage.path, passage.line)))


def _pointed(readings: list[Reading]) -> dict[str, frozenset[str]]:
    """Return for each source file the words beside which a document names it: it says there what the file is for."""
    pointed: dict[str, set[str]] = {reading.path: set() for reading in readings if not reading.prose}
    for reading in readings:
        if reading.prose:
            for index, words in reading.hits.items():
                for path in _FILE_NAME.findall(reading.lines[index]):
                    if path in pointed:
                        pointed[path].update(words)
    return {path: frozenset(words) for path, words in pointed.items()}


def _score(reading: Reading, weights: dict[str, float], pointed: frozenset[str]) -> float:
    """Return how much a file speaks of the words, all of them rather than one of them often."""
    *folders, name = reading.path.split("/")
    in_name = tokens(name.partition(".")[0]) or tokens(name)
    in_folder = set(tokens(folders[-1])) if folders else set()
    in_path = set(tokens("/".join(folders[:-1])))
    length = max(_SHORT, 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(reading.lines) / _USUAL)
    covered = total = 0.0
    for stem, weight in weights.items():
        head = sum(reading.hits[index].get(stem, 0.0) for index in reading.head if index in reading.hits)
        defined = sum(stem in names for names in reading.defined.values())
        said = sum(hits.get(stem, 0.0) for hits in reading.hits.values()) / length
        count = _IN_TEXT * said / (said + _OFTEN) + _IN_HEAD * min(head, 2.0) + _IN_DEFINED * min(defined, 3)
        count += _IN_NAME * sqrt(in_name.count(stem) / len(in_name)) if in_name else 0.0
        count += _IN_FOLDER if stem in in_folder else _IN_PATH if stem in in_path else 0.0
        count += _POINTED if stem in pointed else 0.0
        total += weight * count / (count + _SATURATION)
        covered += weight if count else 0.0
    return total * covered / sum(weights.values()) * (_LANDMARK if pointed else 1.0)


def _distinct(ranked: list[Passage]) -> list[Passage]:
    """Return the first passages that are not much weaker than the best and do not repeat one another."""
    kept: list[Passage] = []
    seen: set[tuple[str, ...]] = set()
    for passage in ranked:
        weak = passage.score < ranked[0].score * _ENOUGH
        if len(kept) == MAX_PASSAGES or (weak and len(kept) >= _AT_LEAST):
            break
        if passage.excerpt not in seen:
            seen.add(passage.excerpt)
            kept.append(passage)
    return kept
