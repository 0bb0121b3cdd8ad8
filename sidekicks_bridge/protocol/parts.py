"""What a message consists of: text, thoughts, tool calls with their content, permissions, plans, notices."""

from __future__ import annotations

from typing import Any, Literal

from sidekicks_bridge.protocol.base import Wire

ToolStatus = Literal["pending", "in_progress", "completed", "failed", "cancelled"]


class TextContent(Wire, tag="text", kw_only=True):
    """Tool output as Markdown or plain text."""

    text: str


class DiffContent(Wire, tag="diff", kw_only=True):
    """A change of a file; no ``oldText`` means a new file."""

    path: str
    old_text: str | None = None
    new_text: str


class TerminalContent(Wire, tag="terminal", kw_only=True):
    """A terminal of the agent, by its id."""

    terminal_id: str


class ResourceContent(Wire, tag="resource", kw_only=True):
    """A resource or link that a tool produced."""

    uri: str
    title: str | None = None
    text: str | None = None


class OtherContent(Wire, tag="other", kw_only=True):
    """Content of a kind without a type here (image, audio, …): kept raw."""

    kind: str
    raw: Any


ToolContent = TextContent | DiffContent | TerminalContent | ResourceContent | OtherContent


class Location(Wire, kw_only=True):
    """A place a tool works at: absolute path, line from 1."""

    path: str
    line: int | None = None


class PermissionOption(Wire, kw_only=True):
    """An answer the agent offers. ``kind`` is the agent's (`allow_once`, …) and may be unknown."""

    option_id: str
    name: str
    kind: str


class PermissionOutcome(Wire, kw_only=True):
    """How a permission question ended."""

    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None


class PlanEntry(Wire, kw_only=True):
    """One step of an agent's plan."""

    content: str
    priority: str
    status: str


class TextPart(Wire, tag="text", kw_only=True):
    """Markdown text."""

    text: str


class ThoughtPart(Wire, tag="thought", kw_only=True):
    """What the agent thought; shown folded."""

    text: str


class ToolCallPart(Wire, tag="toolCall", kw_only=True):
    """A tool call. ``truncated``: output or content was shortened, `message/part` returns the whole."""

    id: str
    kind: str
    title: str
    status: ToolStatus
    input: Any = None
    output: Any = None
    content: list[ToolContent]
    locations: list[Location]
    truncated: bool = False


class PermissionPart(Wire, tag="permission", kw_only=True):
    """A permission question in the transcript; no ``outcome`` while it is open."""

    request_id: str
    tool_call_id: str
    options: list[PermissionOption]
    outcome: PermissionOutcome | None = None


class PlanPart(Wire, tag="plan", kw_only=True):
    """The agent's plan; a new one replaces it in place."""

    entries: list[PlanEntry]


class NoticePart(Wire, tag="notice", kw_only=True):
    """A sentence of the bridge: ``code`` for programs (invited, nobody, interrupted, …), ``text`` for people."""

    code: str
    text: str
    suggestion: str | None = None


class OtherPart(Wire, tag="other", kw_only=True):
    """A session update of a kind without a type here: kept raw, shown as nothing."""

    kind: str
    raw: Any


Part = TextPart | ThoughtPart | ToolCallPart | PermissionPart | PlanPart | NoticePart | OtherPart
