"""Answers a question from the files: first which files speak of it, then which passages of them say most.

Keeps nothing between questions: a pass over the text of 20,000 files takes about a second, an index of them
would take several to build and hold their words in memory; and what is read is what the files say now.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

from sidekicks_bridge.builtin.files import Workspace, is_generated, is_searched
from sidekicks_bridge.builtin.languages import language_of
from sidekicks_bridge.builtin.passages import Passage, find_passages
from sidekicks_bridge.builtin.words import question_words, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_PASSAGES = 6
_PER_FILE = 2
_CANDIDATES = 60  # files whose passages are scored
_ENOUGH = 0.3  # of the best passage's score: what is weaker only distracts,
_AT_LEAST = 3  # but one strange word must not hide everything else
_SATURATION = 1.5
_BY_NAME = 0.4  # what each word in a file's own name adds to its passages' scores
_PROBE = 6  # letters of a word by which files are chosen: config is found for configuration, too
_IN_PATH = 1.5  # a word in the path, in occurrences in the text
_TEST_WEIGHT = 0.6  # tests repeat the words of what they test


class Answer(NamedTuple):
    """What was found: the passages, the words they were looked up by, those found nowhere, files read."""

    passages: list[Passage]
    words: dict[str, str]
    missing: list[str]
    searched: int


class _File(NamedTuple):
    path: str
    counts: tuple[float, ...]


def answer_question(workspace: Workspace, question: str, paths: Iterable[str], check: Callable[[], None]) -> Answer:
    """Look a question up in the given files; ``check`` is called for each file and may raise to stop."""
    words = question_words(question)
    stems = list(words)
    files: list[_File] = []
    searched = 0
    for path in paths:
        check()
        text = workspace.text(path) if stems and is_searched(path) and not is_generated(path) else None
        if text is None:
            continue
        searched += 1
        counts = _counts(path, text, stems)
        if any(counts):
            files.append(_File(path, counts))
    weights = {
        stem: _rarity(sum(1 for file in files if file.counts[index]), searched) for index, stem in enumerate(stems)
    }
    found = [stem for index, stem in enumerate(stems) if any(file.counts[index] for file in files)]
    passages = _best_passages(workspace, files, weights, check)
    missing = [words[stem] for stem in stems if stem not in found]
    return Answer(passages, words, missing, searched)


def _counts(path: str, text: str, stems: list[str]) -> tuple[float, ...]:
    lowered = text.lower()
    named = path.lower()
    probes = [stem[:_PROBE] for stem in stems]
    return tuple(lowered.count(probe) + (_IN_PATH if probe in named else 0) for probe in probes)


def _rarity(files_with: int, files: int) -> float:
    return log(1 + (files - files_with + 0.5) / (files_with + 0.5))


def _best_passages(
    workspace: Workspace, files: list[_File], weights: dict[str, float], check: Callable[[], None]
) -> list[Passage]:
    rarities = list(weights.values())
    about_tests = "test" in weights

    def promise(file: _File) -> float:
        parts = [rarity * count / (count + _SATURATION) for rarity, count in zip(rarities, file.counts, strict=True)]
        covered = sum(rarity for rarity, count in zip(rarities, file.counts, strict=True) if count)
        return sum(parts) * covered * _place_weight(file.path, about_tests)

    found: list[Passage] = []
    for file in sorted(files, key=lambda file: (-promise(file), file.path))[:_CANDIDATES]:
        check()
        text = workspace.text(file.path)
        if text is None:
            continue  # deleted meanwhile
        named = frozenset(tokens(file.path)) & weights.keys()
        place = _place_weight(file.path, about_tests)
        place *= 1 + _BY_NAME * len(named & set(tokens(file.path.rpartition("/")[2])))
        best = find_passages(file.path, text, language_of(file.path), weights, named)[:_PER_FILE]
        found += [passage._replace(score=passage.score * place) for passage in best]
    return _distinct(sorted(found, key=lambda passage: (-passage.score, passage.path, passage.line)))


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


def _place_weight(path: str, about_tests: bool) -> float:
    is_test = any(part.startswith("test") or part.endswith("_test") for part in path.lower().split("/"))
    return _TEST_WEIGHT if is_test and not about_tests else 1.0
