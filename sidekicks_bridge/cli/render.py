"""Parts of messages → styled lines: tool calls, plans, notices, ends of turns. Pure; every text is made safe here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.cli.diff import diff_lines
from sidekicks_bridge.cli.style import CODE, DIM, ERROR, OK, WARN, Line, clip, wrap
from sidekicks_bridge.cli.text import one_line, safe, short_path
from sidekicks_bridge.protocol.parts import DiffContent, PermissionPart, PlanPart, TextContent, ToolCallPart

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import MessageTurn, Usage

DIFF_ROWS = 20
_OUTPUT_ROWS = 4
_ENDED = {"completed": (OK, "✓"), "failed": (ERROR, "✗"), "cancelled": (DIM, "⊘")}
_STEPS = {"completed": (OK, "☑ "), "in_progress": (WARN, "▸ ")}
_STOPS = {
    "cancelled": (DIM, "■ cancelled"),
    "interrupted": (WARN, "■ interrupted; Ctrl-G asks again"),
    "refusal": (WARN, "■ the agent declined to go on"),
    "max_tokens": (WARN, "■ stopped at its token limit; ask it to go on"),
    "max_turn_requests": (WARN, "■ stopped at its limit of requests; ask it to go on"),
    "failed": (ERROR, "■ failed"),
}
_ADVICE = {
    "agentSpawnFailed": "Check its `command`: sidekicks config edit",
    "agentAuthRequired": "Ctrl-G signs in; then this is tried again.",
    "agentExited": "Send again: it is started anew.",
    "agentProtocol": "Send again; if it stays so, check its command and version.",
    "noSlot": "Send again when another agent is idle.",
    "turnFailed": "Ctrl-G asks again.",
}


def tool_head(tool: ToolCallPart, root: str | None, columns: int, mark: str = "◌") -> Line:
    """A tool call on one row: status, title, up to three places. ``mark`` stands for one that still runs."""
    style, icon = _ENDED.get(tool.status, (WARN, mark))
    line: Line = [(style, icon + " "), ("", one_line(tool.title) or one_line(tool.kind))]
    places = []
    for location in tool.locations[:3]:
        place = short_path(location.path, root)
        places.append(f"{place}:{location.line}" if location.line is not None else place)
    if places and not (len(places) == 1 and places[0] in line[1][1]):
        line.append((DIM, "  " + "  ".join(places) + (" …" if len(tool.locations) > 3 else "")))
    return clip(line, columns)


def tool_lines(tool: ToolCallPart, root: str | None, columns: int) -> list[Line]:
    """A tool call that has ended: its row, its changes of files, the end of its output if that says something."""
    lines = [tool_head(tool, root, columns)]
    for content in tool.content:
        if isinstance(content, DiffContent):
            lines += [clip([("", "  "), *line], columns) for line in diff_lines(content, root, DIFF_ROWS)]
        elif isinstance(content, TextContent) and (tool.kind == "execute" or tool.status == "failed"):
            lines += [clip([(DIM, "  " + text)], columns) for text in last_rows(content.text, _OUTPUT_ROWS)]
    return lines


def last_rows(text: str, rows: int) -> list[str]:
    """The last rows of an output, safe, after a word on how many there were before."""
    shown = [line for line in safe(text).split("\n") if line.strip()]
    hidden = len(shown) - rows
    return [f"… {hidden} lines", *shown[-rows:]] if hidden > 0 else shown


def plan_lines(plan: PlanPart, columns: int) -> list[Line]:
    """An agent's plan, a row a step."""
    lines: list[Line] = []
    for entry in plan.entries:
        style, mark = _STEPS.get(entry.status, ("", "☐ "))
        text_style = DIM if entry.status == "completed" else ""
        lines += wrap([(style, mark), (text_style, one_line(entry.content))], columns, [("", "  ")])
    return lines


def thought_line(text: str, columns: int) -> Line:
    """A thought, folded to its first line."""
    shown = safe(text).strip()
    first, *rest = shown.split("\n", 1)
    return clip([("dim italic", "∴ " + first.strip(" *#")), (DIM, " …" if rest else "")], columns)


def permission_line(part: PermissionPart) -> Line:
    """The record of an answered permission question."""
    outcome = part.outcome
    if outcome is None or outcome.outcome == "cancelled":
        return [(DIM, "⊘ permission: not answered")]
    chosen = next((option for option in part.options if option.option_id == outcome.option_id), None)
    style = ERROR if chosen and chosen.kind.startswith("reject") else OK
    return [(style, "◆ "), (DIM, "permission: " + one_line(chosen.name if chosen else outcome.option_id or "", 60))]


def notice_lines(text: str, columns: int, style: str = WARN) -> list[Line]:
    """A sentence of the bridge."""
    return [
        row for line in safe(text).split("\n") for row in wrap([(style, "• "), (style, line)], columns, [("", "  ")])
    ]


def end_lines(turn: MessageTurn | None, columns: int) -> list[Line]:
    """How a turn ended, if that is worth a line: why it failed and what to do."""
    if turn is None:
        return []
    if turn.error is None:
        stop = turn.stop_reason
        return [] if stop in (None, "end_turn") else [[_STOPS.get(stop, (WARN, "■ " + one_line(stop)))]]
    lines: list[Line] = []
    for number, text in enumerate(safe(turn.error.message).strip().split("\n")):
        lines += wrap([(ERROR, "■ " if number == 0 else "  "), (ERROR, text)], columns, [("", "  ")])
    if turn.error.code in _ADVICE:
        lines.append([(DIM, "  " + _ADVICE[turn.error.code])])
    return lines


def subject_lines(tool: ToolCallPart, root: str | None, columns: int, rows: int | None) -> list[Line]:
    """What a permission question is about, in at most about ``rows`` lines (None: everything)."""
    lines: list[Line] = []
    command = _command(tool.input)
    if command:
        for number, text in enumerate(safe(command).split("\n")):
            lines += wrap([(CODE, "$ " if number == 0 else "  "), (CODE, text)], columns, [("", "  ")])
    for content in tool.content:
        if isinstance(content, DiffContent):
            lines += [clip(line, columns) for line in diff_lines(content, root, rows)]
        elif isinstance(content, TextContent):
            lines += [row for text in safe(content.text).split("\n") for row in wrap([("", text)], columns)]
    if not lines and tool.input is not None:
        shown = safe(json.dumps(tool.input, ensure_ascii=False, indent=None if rows else 2))
        lines += [row for text in shown.split("\n") for row in wrap([(DIM, text)], columns)]
    if not lines:
        lines += [[(CODE, short_path(location.path, root))] for location in tool.locations]
    if rows is not None and len(lines) > rows:
        return [*lines[: rows - 1], [(WARN, f"… {len(lines) - rows + 1} more lines; 0 shows all of it")]]
    return lines


def _command(value: Any) -> str | None:
    """The command line in a tool call's input, as agents usually give it."""
    if not isinstance(value, dict):
        return None
    command = value.get("command", value.get("cmd"))
    if isinstance(command, list):
        return " ".join(json.dumps(word) if " " in str(word) else str(word) for word in command)
    return command if isinstance(command, str) else None


def usage_text(usage: Usage) -> str:
    """An agent's context use and cost, as it reports them; a share only where it makes sense."""
    text = _count(usage.used)
    if usage.size:
        text += f"/{_count(usage.size)}"
        if 0 <= usage.used <= usage.size:
            text += f" ({100 * usage.used // usage.size} %)"
    if usage.cost is not None:
        text += f" {usage.cost.amount:.2f} {one_line(usage.cost.currency, 8)}"
    return text


def _count(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if abs(tokens) >= 1000 else str(tokens)
