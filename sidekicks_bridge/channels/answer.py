"""An agent's message while it streams: session updates in, parts and deltas out. Owns the message until it is finished.

Does no I/O and knows no channel; what it returns are the events for those who watch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.agents.contract import (
    OtherUpdate,
    PlanUpdate,
    SessionUpdate,
    TextChunk,
    ThoughtChunk,
    ToolCallUpdate,
)
from sidekicks_bridge.channels.name_prefix import NamePrefix
from sidekicks_bridge.protocol.events import MessageDelta
from sidekicks_bridge.protocol.parts import (
    NoticePart,
    OtherPart,
    Part,
    PermissionOption,
    PermissionOutcome,
    PermissionPart,
    PlanPart,
    TextPart,
    ThoughtPart,
    ToolCallPart,
)
from sidekicks_bridge.store.parts import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sidekicks_bridge.protocol.types import Message


class Answer:
    """A streaming message. `message` is always whole; deltas carry long tool output in its short form."""

    def __init__(self, message: Message, names: Iterable[str]) -> None:
        self._message = message
        self._parts = message.parts
        self._prefix = NamePrefix(names)
        self._growing: list[str] = []  # pieces of the last text or thought part that are not joined into it yet
        self._group: str | None = None
        self._tools: dict[str, int] = {}
        self._permissions: dict[str, int] = {}
        self._plan: int | None = None
        self._shown: dict[int, Part] = {}

    @property
    def message(self) -> Message:
        """The message as far as it has come."""
        self._join()
        return self._message

    def short_message(self) -> Message:
        """The message with long tool output shortened, as clients get it."""
        return short(self.message)

    @property
    def has_text(self) -> bool:
        """Whether anything was said in words; white space says nothing."""
        return any(isinstance(part, TextPart) and part.text.strip() for part in self.message.parts)

    def has_tool(self, tool_call_id: str) -> bool:
        """Whether the message holds that tool call."""
        return tool_call_id in self._tools

    def apply(self, update: SessionUpdate) -> list[MessageDelta]:
        """Take in what the agent said; commands, settings and usage are not for the message."""
        if isinstance(update, TextChunk):
            text = self._prefix.feed(update.text)
            return [self._append(TextPart, text, update.message_id)] if text else []
        if isinstance(update, ThoughtChunk):
            return [*self.flush(), self._append(ThoughtPart, update.text, update.message_id)] if update.text else []
        if isinstance(update, ToolCallUpdate):
            return [*self.flush(), *self.upsert_tool(update)]
        if isinstance(update, PlanUpdate):
            return [*self.flush(), self._set_plan(PlanPart(entries=update.entries))]
        if isinstance(update, OtherUpdate):
            return [*self.flush(), self._add(OtherPart(kind=update.kind, raw=update.raw))]
        return []

    def flush(self) -> list[MessageDelta]:
        """Show what was held back as a possible name prefix."""
        text = self._prefix.flush()
        return [self._append(TextPart, text, None)] if text else []

    def upsert_tool(self, update: ToolCallUpdate) -> list[MessageDelta]:
        """A tool call announced or changed, by whichever of its three messages came first."""
        index = self._tools.get(update.id)
        if index is None:
            self._tools[update.id] = len(self._parts)
            return [self._add(_new_tool(update))]
        part = self._parts[index]
        assert isinstance(part, ToolCallPart)
        self._parts[index] = _merged(part, update)
        return self._changed(index)

    def tool(self, tool_call_id: str) -> ToolCallPart:
        """The tool call as it stands, shortened."""
        part, _ = shorten(self._parts[self._tools[tool_call_id]])
        assert isinstance(part, ToolCallPart)
        return part

    def add_permission(self, request_id: str, tool_call_id: str, options: list[PermissionOption]) -> list[MessageDelta]:
        """A permission question, open."""
        self._permissions[request_id] = len(self._parts)
        return [self._add(PermissionPart(request_id=request_id, tool_call_id=tool_call_id, options=options))]

    def resolve_permission(self, request_id: str, outcome: PermissionOutcome) -> list[MessageDelta]:
        """The question was answered or cancelled."""
        index = self._permissions[request_id]
        part = self._parts[index]
        assert isinstance(part, PermissionPart)
        self._parts[index] = PermissionPart(
            request_id=part.request_id, tool_call_id=part.tool_call_id, options=part.options, outcome=outcome
        )
        return self._changed(index)

    def add_notice(self, code: str, text: str) -> MessageDelta:
        """A sentence of the bridge at the end of the message."""
        return self._add(NoticePart(code=code, text=text))

    def end_tools(self, status: str) -> None:
        """Tool calls that never ended get ``status`` (`cancelled` or `failed`): nothing spins for ever."""
        for index in self._tools.values():
            part = self._parts[index]
            assert isinstance(part, ToolCallPart)
            if part.status in ("pending", "in_progress"):
                part.status = "cancelled" if status == "cancelled" else "failed"

    def _append(self, kind: type[TextPart] | type[ThoughtPart], text: str, group: str | None) -> MessageDelta:
        last = self._parts[-1] if self._parts else None
        other_group = group is not None and self._group is not None and group != self._group
        if not isinstance(last, kind) or other_group:
            self._group = group
            delta = self._add(kind(text=text))
        else:
            self._group = group or self._group
            self._growing.append(text)
            delta = self._delta(len(self._parts) - 1)
            delta.text = text
        return delta

    def _add(self, part: Part) -> MessageDelta:
        self._join()
        self._parts.append(part)
        index = len(self._parts) - 1
        delta = self._delta(index)
        delta.value, _ = shorten(part)
        self._shown[index] = delta.value
        if isinstance(part, TextPart | ThoughtPart):
            delta.value = type(part)(text=part.text)  # the part itself grows on
        return delta

    def _changed(self, index: int) -> list[MessageDelta]:
        value, _ = shorten(self._parts[index])
        if value == self._shown.get(index):
            return []  # what changed lies in the part of a long output that is not shown
        self._shown[index] = value
        delta = self._delta(index)
        delta.value = value
        return [delta]

    def _set_plan(self, plan: PlanPart) -> MessageDelta:
        if self._plan is None:
            self._plan = len(self._parts)
            return self._add(plan)
        self._parts[self._plan] = plan
        delta = self._delta(self._plan)
        delta.value = plan
        return delta

    def _delta(self, index: int) -> MessageDelta:
        return MessageDelta(channel_id=self._message.channel_id, message_id=self._message.id, part=index)

    def _join(self) -> None:
        """Appending to a growing string at each chunk would copy it each time; pieces are joined when it is read."""
        if self._growing:
            last = self._parts[-1]
            assert isinstance(last, TextPart | ThoughtPart)
            last.text += "".join(self._growing)
            self._growing.clear()


def short(message: Message) -> Message:
    """A copy of ``message`` with long tool output shortened."""
    from msgspec.structs import replace

    return replace(message, parts=[_copy(part) for part in message.parts])


def _copy(part: Part) -> Part:
    if isinstance(part, TextPart | ThoughtPart):
        return type(part)(text=part.text)
    return shorten(part)[0]


def _new_tool(update: ToolCallUpdate) -> ToolCallPart:
    return ToolCallPart(
        id=update.id,
        kind=update.kind or "other",
        title=update.title or update.kind or "Tool call",
        status=update.status or "pending",
        input=update.input,
        output=update.output,
        content=update.content or [],
        locations=update.locations or [],
    )


def _merged(part: ToolCallPart, update: ToolCallUpdate) -> ToolCallPart:
    return ToolCallPart(
        id=part.id,
        kind=update.kind or part.kind,
        title=update.title or part.title,
        status=update.status or part.status,
        input=part.input if update.input is None else update.input,
        output=part.output if update.output is None else update.output,
        content=part.content if update.content is None else update.content,
        locations=part.locations if update.locations is None else update.locations,
    )
