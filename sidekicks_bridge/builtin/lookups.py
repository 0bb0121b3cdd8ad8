"""Scout's commands: `/find`, `/files`, `/outline` and `/todo`, each with its tool call and its answer."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.files import WorkspaceError, is_searched
from sidekicks_bridge.builtin.languages import has_outline, language_of
from sidekicks_bridge.builtin.markdown import code, counted
from sidekicks_bridge.builtin.turn import text_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.builtin.files import Workspace
    from sidekicks_bridge.builtin.find import Found
    from sidekicks_bridge.builtin.turn import Turn

MAX_LISTED = 200  # files or marks shown by one command
_MARK_WORDS = ("TODO", "FIXME", "XXX", "HACK")
_MARK = re.compile(rf"\b(?:{'|'.join(_MARK_WORDS)})\b(?!-)")
_MARK_WIDTH = 160  # characters shown of a mark


def find_lines(workspace: Workspace, turn: Turn, pattern: str) -> None:
    """`/find <regex>`: the lines that match, searched in a process of its own."""
    from sidekicks_bridge.builtin.find import find

    if not pattern:
        turn.say("Say what to look for, e.g. `/find def \\w+_route`.")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        turn.say(f"{code(pattern)} is not a regular expression that Python understands: {error}.")
        return
    with turn.tool(f"Find {pattern}", "search", {"pattern": pattern}) as tool:
        tool.begin()
        found = find(workspace, pattern, workspace.files(turn.check), turn)
        total = "unfinished" if found.matches is None else counted(found.matches, "match", "matches")
        tool.complete([text_content(total)], [workspace.location(hit.path, hit.line) for hit in found.hits])
    listed = [f"- {code(f'{hit.path}:{hit.line}')} {code(hit.text)}" for hit in found.hits]
    turn.say("\n".join([_find_lead(pattern, found), "", *listed]).strip())


def _find_lead(pattern: str, found: Found) -> str:
    from sidekicks_bridge.builtin.find import TIME_LIMIT

    if found.matches is None:
        seen = counted(len(found.hits), "match", "matches")
        return (
            f"I stopped after {TIME_LIMIT} s: {code(pattern)} is too slow, usually for a repetition inside a "
            f"repetition, such as `(a+)+`. Found until then: {seen}."
        )
    if not found.matches:
        files = counted(found.searched or 0, "file")
        return f"Nothing matches {code(pattern)} in {files}; `(?i)` in front of it ignores case."
    rest = f"; the first {len(found.hits)}" if found.matches > len(found.hits) else ""
    matches = counted(found.matches, "match", "matches")
    return f"{matches} of {code(pattern)} in {counted(found.files or 0, 'file')}{rest}:"


def list_files(workspace: Workspace, turn: Turn, glob: str) -> None:
    """`/files <glob>`: a glob means what it means in a .gitignore; a plain word may stand anywhere."""
    from pathspec import GitIgnoreSpec

    if not glob:
        turn.say("Say which files, e.g. `/files *.py`, `/files src/**/*.ts` or `/files router`.")
        return
    try:
        spec = GitIgnoreSpec.from_lines([glob if re.search(r"[*?\[/]", glob) else f"*{glob}*"])
    except ValueError as error:
        turn.say(f"{code(glob)} is not a pattern I understand: {error}.")
        return
    with turn.tool(f"List files {glob}", "search", {"glob": glob}) as tool:
        tool.begin()
        found = [path for path in workspace.files(turn.check) if spec.match_file(path)]
        shown = found[:MAX_LISTED]
        tool.complete([text_content(counted(len(found), "file"))], [workspace.location(path) for path in shown])
    if not found:
        turn.say(f"No file matches {code(glob)} here; ignored files are left out.")
        return
    rest = f"; the first {MAX_LISTED}" if len(found) > MAX_LISTED else ""
    verb = "matches" if len(found) == 1 else "match"
    lead = f"{counted(len(found), 'file')} {verb} {code(glob)}{rest}:"
    turn.say("\n".join([lead, "", *(f"- {code(path)}" for path in shown)]))


def outline_file(workspace: Workspace, turn: Turn, given: str) -> None:
    """`/outline <file>`: the definitions in a file; without an argument, in the attached one."""
    from sidekicks_bridge.builtin.outline import outline

    given = given.strip("`'\"") or next(iter(turn.attached), "")
    if not given:
        turn.say("Say which file, e.g. `/outline src/router.py`.")
        return
    try:
        path = workspace.resolve(given)
    except WorkspaceError as error:
        turn.say(str(error))
        return
    language = language_of(path)
    with turn.tool(f"Outline {path}", "read", {"path": path}, [workspace.location(path)]) as tool:
        tool.begin()
        text = workspace.text(path)
        found = outline(text, language) if text is not None else []
        tool.complete([text_content(counted(len(found), "definition"))])
    if text is None:
        turn.say(f"{code(path)} is binary or larger than 1 MiB, so I did not read it.")
    elif not found:
        reason = "has no definitions" if has_outline(language) else "is in a language I know no definitions of"
        turn.say(f"{code(path)} {reason} ({counted(len(text.splitlines()), 'line')}).")
    else:
        lines = [f"{'  ' * one.depth}- {code(one.label)} `:{one.line}`" for one in found]
        turn.say("\n".join([f"{code(path)}, {counted(len(found), 'definition')}:", "", *lines]))


def collect_marks(workspace: Workspace, turn: Turn, _arguments: str) -> None:
    """`/todo`: TODO, FIXME, XXX and HACK, grouped by file."""
    places: list[tuple[str, int, str]] = []
    with turn.tool(f"Collect {', '.join(_MARK_WORDS)}", "search", {"words": list(_MARK_WORDS)}) as tool:
        tool.begin()
        for path in workspace.files(turn.check):
            turn.check()
            text = workspace.text(path) if is_searched(path) else None
            if text is not None and any(word in text for word in _MARK_WORDS):
                places += [(path, number, mark) for number, mark in _marks(text)]
        total = f"{counted(len(places), 'mark')} in {counted(len({path for path, _, _ in places}), 'file')}"
        tool.complete([text_content(total)], [workspace.location(*place[:2]) for place in places[:MAX_LISTED]])
    if not places:
        turn.say("No TODO, FIXME, XXX or HACK in this workspace.")
        return
    lines = [f"{total}; the first {MAX_LISTED}:" if len(places) > MAX_LISTED else f"{total}:"]
    group = ""
    for path, number, mark in places[:MAX_LISTED]:
        if path != group:
            group = path
            lines += ["", f"**{code(path)}**", ""]
        lines.append(f"- {code(f'{path}:{number}')} {code(mark)}")
    turn.say("\n".join(lines))


def _marks(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    number, counted_to = 1, 0
    for match in _MARK.finditer(text):
        number += text.count("\n", counted_to, match.start())
        counted_to = match.start()
        if not found or found[-1][0] != number:
            found.append((number, text[counted_to : counted_to + _MARK_WIDTH].partition("\n")[0].strip()))
    return found


LOOKUPS: dict[str, Callable[[Workspace, Turn, str], None]] = {
    "find": find_lines,
    "files": list_files,
    "outline": outline_file,
    "todo": collect_marks,
}
