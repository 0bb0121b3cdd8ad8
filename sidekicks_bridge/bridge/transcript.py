"""Messages as Markdown: what `log` and `export` show of a history. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.code_spans import closing_line
from sidekicks_bridge.protocol.parts import (
    DiffContent,
    NoticePart,
    OtherPart,
    Part,
    PermissionPart,
    PlanPart,
    TextContent,
    TextPart,
    ThoughtPart,
    ToolCallPart,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidekicks_bridge.protocol.types import Message

_STATUS = {"completed": "✓", "failed": "✗", "cancelled": "⊘", "pending": "…", "in_progress": "…"}
_BACKTICKS = re.compile(r"`{3,}")


def markdown_of(message: Message) -> str:
    """One message: a heading with its author and time, then its parts. An open fence is closed, so none leaks."""
    who = message.author.name or message.author.kind
    blocks = [f"### {who} · {message.created_at[:16].replace('T', ' ')} UTC"]
    blocks += [f"[attached: {attachment.uri}]" for attachment in message.attachments]
    for part in message.parts:
        blocks += _part(part)
    turn = message.turn
    if turn is not None and turn.error is not None:
        blocks.append(f"**Failed:** {turn.error.message}")
    elif turn is not None and turn.stop_reason not in (None, "end_turn"):
        blocks.append(f"*Stopped: {turn.stop_reason}*")
    return "\n\n".join(blocks) + "\n"


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, TextPart):
        closing = closing_line(part.text)
        yield part.text if closing is None else f"{part.text}\n{closing}"
    elif isinstance(part, ThoughtPart):
        yield "\n".join(f"> {line}" for line in part.text.splitlines())
    elif isinstance(part, ToolCallPart):
        yield from _tool(part)
    elif isinstance(part, PermissionPart):
        yield f"*Permission: {_outcome(part)}*"
    elif isinstance(part, PlanPart):
        yield "\n".join(f"- [{'x' if entry.status == 'completed' else ' '}] {entry.content}" for entry in part.entries)
    elif isinstance(part, NoticePart):
        yield f"*{part.text}*"
    else:
        assert isinstance(part, OtherPart)  # a kind without a type here: nothing to show a reader


def _outcome(part: PermissionPart) -> str:
    if part.outcome is None:
        return "open"
    chosen = next((option.name for option in part.options if option.option_id == part.outcome.option_id), None)
    return chosen or part.outcome.outcome


def _tool(part: ToolCallPart) -> Iterator[str]:
    places = ", ".join(f"`{place.path}{f':{place.line}' if place.line else ''}`" for place in part.locations)
    yield f"- {_STATUS[part.status]} {' '.join(part.title.split())}{f' ({places})' if places else ''}"
    for content in part.content:
        if isinstance(content, DiffContent):
            yield fenced(content.new_text, "diff of " + content.path)
        elif isinstance(content, TextContent):
            yield fenced(content.text, "")


def fenced(text: str, info: str) -> str:
    """``text`` as a code block, whatever backticks are in it."""
    marks = "`" * max([3, *(len(found) + 1 for found in _BACKTICKS.findall(text))])
    return f"{marks}{info}\n{text}\n{marks}"
