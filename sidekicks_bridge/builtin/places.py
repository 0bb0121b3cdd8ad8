"""What kind of place a file is: source comes before what repeats its words (tests, examples, data, documents)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.languages import is_prose, language_of
from sidekicks_bridge.builtin.words import tokens

if TYPE_CHECKING:
    from sidekicks_bridge.builtin.question import Question

_TEST = 0.5
_ASIDE = 0.55  # what is beside the program: it shows or serves the source
_ASIDE_NAMES = frozenset({
    "bench", "benchmark", "benchmarks", "demo", "demos", "e2e", "example", "examples", "fixtures", "mocks",
    "recordings", "sample", "samples", "screenshots", "script", "scripts", "snapshots", "testdata", "third_party",
    "tool", "tools", "vendor",
})  # fmt: skip
_HISTORY = 0.4
_HISTORY_NAMES = ("changelog", "changes", "history", "news", "releases", "licen", "copying")
_DATA = 0.4
_DATA_LANGUAGES = frozenset({"json", "xml", "html"})
_DATA_ENDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".log", ".snap", ".po")
_SETTINGS = 0.7
_SETTINGS_LANGUAGES = frozenset({"toml", "yaml", "ini", "css", "scss", "makefile", "dockerfile"})
_GENERATED = 0.35
_GENERATED_MARK = re.compile(r"(?i)\bgenerated\b.{0,200}\bdo not (?:edit|modify)\b|@generated\b", re.DOTALL)
_MARK_WITHIN = 400  # characters


def place_weight(path: str, question: Question) -> float:
    """Return what a file's place makes of its score; a question may ask for tests, scripts and the like."""
    parts = path.lower().split("/")
    name = parts[-1]
    weight = 1.0
    if any(_is_test(part) for part in parts) and not question.asks_for("test", "spec"):
        weight *= _TEST
    elif any(part in _ASIDE_NAMES and not question.asks_for(*tokens(part)) for part in parts[:-1]):
        weight *= _ASIDE
    if is_prose(path):
        is_history = len(parts) == 1 and name.startswith(_HISTORY_NAMES) and not question.asks_for(*tokens(name))
        weight *= _HISTORY if is_history else question.prose
    elif language_of(path) in _DATA_LANGUAGES or name.endswith(_DATA_ENDS):
        weight *= _DATA
    elif language_of(path) in _SETTINGS_LANGUAGES or name.startswith("."):
        weight *= _SETTINGS
    return weight


def _is_test(part: str) -> bool:
    """Whether a folder or file is named as a test: tests, test_router.py, router_test.go, router.spec.ts."""
    return (
        part.startswith("test") or re.search(r"[._-](?:test|tests|spec)(?:\.|$)|^(?:__tests__|spec)$", part) is not None
    )


def generated_weight(text: str) -> float:
    """Return the weight of a file that says, where it begins, that a tool wrote it; 1 for others."""
    return _GENERATED if _GENERATED_MARK.search(text[:_MARK_WITHIN]) else 1.0
