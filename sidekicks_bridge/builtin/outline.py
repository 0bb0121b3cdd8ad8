"""The definitions in one file: by Python's own parser for Python, by line patterns for other languages.

Pure functions of a text. A file that does not parse still has an outline.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple

from sidekicks_bridge.builtin.languages import defined_name

_MAX_LABEL = 100  # characters
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


class Definition(NamedTuple):
    """A definition: its line (from 1), how deep it is nested (from 0) and its text."""

    line: int
    depth: int
    label: str


def outline(text: str, language: str) -> list[Definition]:
    """Return the definitions in a text, in the order of their lines."""
    if language == "python":
        try:
            return _python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # half-written or hostile code: the lines still tell something
    return _markdown(text) if language == "markdown" else _by_lines(text, language)


def _python(text: str) -> list[Definition]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad escape in the user's file is not our warning
        tree = ast.parse(text)
    found: list[Definition] = []
    _visit(tree, 0, found)
    return found


def _visit(node: ast.AST, depth: int, found: list[Definition]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in child.bases)
            label = f"class {child.name}({bases})" if bases else f"class {child.name}"
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            word = "async def" if isinstance(child, ast.AsyncFunctionDef) else "def"
            result = f" -> {ast.unparse(child.returns)}" if child.returns else ""
            label = f"{word} {child.name}({ast.unparse(child.args)}){result}"
        else:
            if isinstance(child, ast.stmt):
                _visit(child, depth, found)  # definitions under `if` and `try`
            continue
        found.append(Definition(child.lineno, depth, _short(label)))
        _visit(child, depth + 1, found)


def _by_lines(text: str, language: str) -> list[Definition]:
    found: list[Definition] = []
    indents: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if defined_name(line, language) is None:
            continue
        expanded = line.expandtabs(4)
        indent = len(expanded) - len(expanded.lstrip())
        while indents and indents[-1] >= indent:
            indents.pop()
        found.append(Definition(number, len(indents), _short(line.strip().rstrip("{: \t"))))
        indents.append(indent)
    return found


def _markdown(text: str) -> list[Definition]:
    found: list[Definition] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        name = None if fence or mark else defined_name(line, "markdown")
        if name is not None:
            found.append(Definition(number, len(line) - len(line.lstrip("#")) - 1, _short(name)))
    return found


def _short(label: str) -> str:
    label = " ".join(label.split())
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
