"""Directives that show tool calls: announced, updated, with much output."""

from __future__ import annotations

from tests.fake_agent.script import unescape
from tests.fake_agent.turn import Turn, directive

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    JSON = dict[str, Any]

LINE = "output line 0123456789 abcdefghijklmnopqrstuvwxyz 0123456789 ABC\n"


def text_content(text: str) -> list[JSON]:
    """A tool call's content of one text."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def absolute(turn: Turn, path: str) -> str:
    """A path as ACP wants it: absolute, in the session's folder if it was not."""
    return path if path.startswith("/") else f"{turn.session.cwd.rstrip('/')}/{path}"


def locations(turn: Turn, places: str) -> list[JSON]:
    """ACP locations of ``path[:line]``, separated by white space."""
    found = []
    for place in places.split():
        path, colon, line = place.rpartition(":")
        numbered = bool(colon) and line.isdigit()
        where: JSON = {"path": absolute(turn, path if numbered else place)}
        found.append({**where, "line": int(line)} if numbered else where)
    return found


def _run(turn: Turn, argument: str, end: str) -> None:
    call, _, places = argument.partition("|")
    kind, _, title = call.strip().partition(" ")
    call_id = turn.session.next_id("t")
    turn.tool(
        call_id,
        kind=kind,
        title=unescape(title),
        status="pending",
        locations=locations(turn, places),
        rawInput={},
    )
    turn.tool_update(call_id, status="in_progress")
    turn.tool_update(call_id, status=end, content=text_content(f"{unescape(title)}: {end}"))


@directive("tool")
def tool(turn: Turn, argument: str) -> None:
    _run(turn, argument, "completed")


@directive("tool-failed")
def tool_failed(turn: Turn, argument: str) -> None:
    _run(turn, argument, "failed")


@directive("tool-open")
def tool_open(turn: Turn, argument: str) -> None:
    kind, _, title = argument.partition(" ")
    turn.tool(turn.session.next_id("t"), kind=kind, title=unescape(title), status="in_progress")


@directive("tool-update-only")
def tool_update_only(turn: Turn, title: str) -> None:
    named = {"title": unescape(title)} if title else {}
    turn.tool_update(turn.session.next_id("t"), status="completed", content=text_content("done"), **named)


@directive("diff")
def diff(turn: Turn, argument: str) -> None:
    path, old, new = argument.split("|")
    turn.tool(
        turn.session.next_id("t"),
        kind="edit",
        title=f"Edit {path}",
        status="completed",
        locations=locations(turn, path),
        content=[diff_content(turn, path, unescape(old) or None, unescape(new))],
    )


def diff_content(turn: Turn, path: str, old: str | None, new: str) -> JSON:
    """A diff as tool content; ``old`` is None for a new file."""
    return {"type": "diff", "path": absolute(turn, path), "oldText": old, "newText": new}


@directive("output")
def output(turn: Turn, count: str) -> None:
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title="print much", status="in_progress")
    turn.tool_update(call_id, status="completed", content=text_content("x" * int(count)))


@directive("grow")
def grow(turn: Turn, argument: str) -> None:
    updates, lines = (int(n) for n in argument.split())
    call_id = turn.session.next_id("t")
    turn.tool(call_id, kind="execute", title="print line by line", status="in_progress")
    for n in range(1, updates + 1):
        turn.check()
        turn.tool_update(call_id, content=text_content(LINE * (lines * n // updates)))
    turn.tool_update(call_id, status="completed")
