"""One-line texts about what goes on: turns, routes, the toolbar. Pure: protocol records in, styled lines out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli.channel_ref import slug
from sidekicks_bridge.cli.style import BOLD, DIM, ERROR, WARN, Line, clip
from sidekicks_bridge.cli.text import one_line, safe

if TYPE_CHECKING:
    from sidekicks_bridge.cli.names import Names
    from sidekicks_bridge.protocol.routes import Route
    from sidekicks_bridge.protocol.types import Channel, Turn, WaitsFor

_DOING = {
    "starting": "is getting ready…",
    "thinking": "is thinking…",
    "tool": "is using a tool…",
    "writing": "is writing…",
    "awaitingPermission": "waits for your permission",
    "cancelling": "is being cancelled…",
}
_STATES = {"error": ERROR, "busy": WARN}
_QUIET = ("ready", "stopped")
"""States that make no difference: an agent that sleeps is woken by a message."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def turn_lines(turns: list[Turn], names: Names, channels: dict[str, Channel], mark: str, seconds: int) -> list[Line]:
    """Whose turn it is and for how many seconds, and what the others wait for."""
    lines: list[Line] = []
    after: list[str] = []
    for turn in turns:
        why = waiting(turn.waits_for, names, channels)
        if turn.state != "queued":
            doing = why if why and turn.state == "starting" else _DOING.get(turn.state, turn.state)
            lines.append(
                [(WARN, mark + " "), names.span(turn.agent), ("", f" {doing} "), (DIM, f"{seconds} s  Ctrl-C cancels")]
            )
        elif why and not _in_turn(turn.waits_for):
            lines.append([(DIM, "  "), names.span(turn.agent), (DIM, f" is next: {why}")])
        elif after[-1:] != [turn.agent]:
            after.append(turn.agent)
    if after:
        line: Line = [(DIM, "  next: ")]
        for number, agent in enumerate(after):
            line += [(DIM, ", "), names.span(agent)] if number else [names.span(agent)]
        lines.append(line)
    return lines


def _in_turn(reason: WaitsFor | None) -> bool:
    """Whether a turn waits only for the one before it in its own channel."""
    return reason is not None and reason.reason == "channel"


def waiting(reason: WaitsFor | None, names: Names, channels: dict[str, Channel]) -> str:
    """What a turn waits for, as words."""
    if reason is None:
        return ""
    where = channels.get(reason.channel_id or "")
    who = names.title(reason.agent) if reason.agent else "an agent"
    if reason.reason == "agentBusy":
        return f"{who} is busy in {slug(where) if where else 'another channel'}"
    if reason.reason == "channel":
        return f"after {who}"
    return "waits until another agent is idle"


def route_line(route: Route, names: Names, channels: dict[str, Channel], columns: int) -> Line:
    """Where the text being typed would go; a problem in red."""
    if route.problem is not None:
        line: Line = [(ERROR, safe(route.problem.text).replace("\n", " "))]
        if route.problem.suggestion is not None and route.problem.start is not None:
            line.append((DIM, f"  Tab: {one_line(route.problem.suggestion, 40)}"))
        return clip(line, columns)
    if not route.to:
        return []
    line = [(DIM, "→ ")]
    for number, target in enumerate(route.to):
        line += [(DIM, ", then "), names.span(target.agent)] if number else [names.span(target.agent)]
        facts = []
        if target.command is not None:
            facts.append(f"/{one_line(target.command, 40).lstrip('/')} alone")
        if target.invited:
            facts.append("will be invited")
        if target.unseen:
            facts.append(f"{target.unseen} unseen" + (f", {target.cut} cut" if target.cut else ""))
        if _in_turn(target.waits_for):
            facts.append("queued")
        elif why := waiting(target.waits_for, names, channels):
            facts.append(why)
        if facts:
            line.append((DIM, f" ({' · '.join(facts)})"))
    for note in route.notes:
        line.append((WARN, "  " + one_line(note.text)))
    return clip(line, columns)


def toolbar(channel: Channel, names: Names, usage: dict[str, str], columns: int) -> Line:
    """The channel and how its members do."""
    line: Line = [(BOLD, slug(channel))]
    for member in channel.members:
        agent = names.agents.get(member.name)
        if agent is None:
            line += [("", "  "), ("", one_line(member.name, 64))]
            continue
        line += [("", "  "), names.span(member.name)]
        if agent.state not in _QUIET:
            line.append((_STATES.get(agent.state, DIM), f" {agent.state}"))
        if member.name in usage:
            line.append((DIM, f" {usage[member.name]}"))
    if channel.kind == "named" and not channel.members:
        line.append((DIM, "  nobody is here yet; @ invites an agent"))
    return clip(line, columns)


def alerts(channels: list[Channel], storage: str | None, problems: int, columns: int) -> Line:
    """What else wants to be known: unread elsewhere, history not kept, a configuration with problems."""
    texts: Line = []
    unread = [channel for channel in channels if channel.unread]
    if unread:
        shown = ", ".join(f"{channel.unread} in {slug(channel)}" for channel in unread[:3])
        texts.append(("", f"unread: {shown}{' …' if len(unread) > 3 else ''}"))
    if storage is not None:
        texts.append((ERROR, "history is not kept: " + one_line(storage)))
    if problems:
        texts.append(
            (WARN, f"{problems} problem{'s' if problems > 1 else ''} in the configuration: sidekicks config check")
        )
    line: Line = []
    for number, text in enumerate(texts):
        line += [(DIM, " · "), text] if number else [text]
    return clip(line, columns)
