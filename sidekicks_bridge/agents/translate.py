"""ACP ↔ our types: the only file that knows both. Pure functions from raw JSON that never raise on what an agent sends.

Rules for what is wrong: a field of the wrong type counts as absent, an item without what identifies it is dropped, an
unknown kind is kept raw (bounded), an unknown status says nothing new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import unquote, urlsplit

import msgspec

from sidekicks_bridge.agents.contract import (
    CommandsUpdate,
    OtherUpdate,
    PlanUpdate,
    SessionUpdate,
    SettingsUpdate,
    TextChunk,
    ThoughtChunk,
    ToolCallUpdate,
    UsageUpdate,
)
from sidekicks_bridge.agents.images import image_block
from sidekicks_bridge.agents.raw import dicts, identifier, integer, is_number, line, listed, record, text
from sidekicks_bridge.protocol.parts import (
    DiffContent,
    Location,
    OtherContent,
    PermissionOption,
    PlanEntry,
    ResourceContent,
    TerminalContent,
    TextContent,
    ToolContent,
    ToolStatus,
)
from sidekicks_bridge.protocol.types import Command, Cost, Mode, Modes, OptionChoice, SessionOption, Usage

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import Attachment

RAW_BYTES = 16 * 1024
STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})

_STATUSES: dict[str, ToolStatus] = {
    **{status: status for status in get_args(ToolStatus)},
    "canceled": "cancelled",
    "success": "completed",
    "error": "failed",
    "running": "in_progress",
}


def session_update(update: dict[str, Any]) -> SessionUpdate | None:
    """The ``update`` of a ``session/update``; None for one that adds nothing to the conversation.

    That is the user's own words echoed, the title an agent gives its session, and usage without a number.
    """
    kind = text(update.get("sessionUpdate")) or "unknown"
    match kind:
        case "agent_message_chunk" | "agent_thought_chunk":
            words = block_text(update["content"] if "content" in update else update.get("text"))
            if words is None:
                return other_update(kind, update)
            chunk = TextChunk if kind == "agent_message_chunk" else ThoughtChunk
            return chunk(words, text(update.get("messageId")))
        case "user_message_chunk" | "session_info_update" | "current_mode_update":
            return None
        case "tool_call" | "tool_call_update":
            return tool_call(update) or other_update(kind, update)
        case "plan":
            return PlanUpdate(plan_entries(update.get("entries")))
        case "available_commands_update":
            return CommandsUpdate(commands(update.get("availableCommands")))
        case "config_option_update":
            options = update.get("configOptions")
            return SettingsUpdate(options=session_options(options) if isinstance(options, list) else None)
        case "usage_update":
            usage = context_usage(update)
            return UsageUpdate(usage) if usage else None
    return other_update(kind, update)


def other_update(kind: str, raw: Any) -> OtherUpdate:
    """An update kept raw, at most `RAW_BYTES` of it."""
    return OtherUpdate(kind, bounded(raw))


def bounded(raw: Any) -> Any:
    """``raw``, or the beginning of its JSON text if that is longer than `RAW_BYTES`."""
    encoded = msgspec.json.encode(raw)
    return raw if len(encoded) <= RAW_BYTES else encoded[:RAW_BYTES].decode("utf-8", "ignore")


# Tool calls


def tool_call(raw: dict[str, Any]) -> ToolCallUpdate | None:
    """A tool call from ``tool_call``, ``tool_call_update`` or a permission request; None without an id."""
    call_id = identifier(raw.get("toolCallId"))
    if call_id is None:
        return None
    content, locations = raw.get("content"), raw.get("locations")
    status = text(raw.get("status"))
    return ToolCallUpdate(
        id=call_id,
        title=line(raw.get("title")),
        kind=line(raw.get("kind")),
        status=_STATUSES.get(status) if status else None,
        content=None if content is None else [tool_content(item) for item in listed(content)],
        locations=None if locations is None else _locations(locations),
        input=raw.get("rawInput"),
        output=raw.get("rawOutput"),
    )


def tool_content(item: Any) -> ToolContent:
    """One item of a tool call's content; the block inside a ``content`` item is unpacked."""
    if isinstance(item, str):
        return TextContent(text=item)
    if not isinstance(item, dict):
        return OtherContent(kind="unknown", raw=bounded(item))
    kind = text(item.get("type")) or "unknown"
    inner = item.get("content") if kind == "content" else item
    path, new_text, terminal = text(item.get("path")), item.get("newText"), text(item.get("terminalId"))
    if kind == "diff" and path is not None and isinstance(new_text, str):
        old_text = item.get("oldText")
        return DiffContent(path=path, old_text=old_text if isinstance(old_text, str) else None, new_text=new_text)
    if kind == "terminal" and terminal is not None:
        return TerminalContent(terminal_id=terminal)
    if isinstance(inner, str):
        return TextContent(text=inner)
    if isinstance(inner, dict):
        return _block_content(inner)
    return OtherContent(kind=kind, raw=bounded(item))


def _block_content(block: dict[str, Any]) -> ToolContent:
    kind = text(block.get("type")) or "unknown"
    if kind == "text" and isinstance(block.get("text"), str):
        return TextContent(text=block["text"])
    resource = block.get("resource") if kind == "resource" else block
    if kind in {"resource", "resource_link"} and isinstance(resource, dict):
        uri = text(resource.get("uri"))
        if uri is not None:
            title = text(resource.get("title")) or text(resource.get("name"))
            return ResourceContent(uri=uri, title=title, text=text(resource.get("text")))
    return OtherContent(kind=kind, raw=bounded(block))


def _locations(raw: Any) -> list[Location]:
    return [
        Location(path=item["path"], line=integer(item.get("line")))
        for item in dicts(raw)
        if isinstance(item.get("path"), str)
    ]


def offered(raw: Any) -> dict[str, dict[str, Any]]:
    """The answers offered, by their ids as texts; a bare text is one, too.

    Those without an id cannot be given and are left out, and of several with one id all but the first.
    """
    found: dict[str, dict[str, Any]] = {}
    for item in dicts([{"optionId": item} if isinstance(item, str) else item for item in listed(raw)]):
        option_id = identifier(item.get("optionId"))
        if option_id is not None:
            found.setdefault(option_id, item)
    return found


def permission_options(choices: dict[str, dict[str, Any]]) -> list[PermissionOption]:
    """What `offered` found, of whatever kind."""
    return [
        PermissionOption(
            option_id=option_id,
            name=line(item.get("name")) or option_id,
            kind=line(item.get("kind")) or "unknown",
        )
        for option_id, item in choices.items()
    ]


# What a session offers


def commands(raw: Any) -> list[Command]:
    """The slash commands; a leading slash is dropped. A bare name will do."""
    found = []
    for item in dicts([{"name": item} if isinstance(item, str) else item for item in listed(raw)]):
        name = (line(item.get("name")) or "").lstrip("/")
        hint = item.get("input")
        if name:
            found.append(
                Command(
                    name=name,
                    description=line(item.get("description")) or "",
                    hint=line(hint.get("hint") if isinstance(hint, dict) else hint),
                )
            )
    return found


def settings(result: dict[str, Any]) -> SettingsUpdate:
    """Modes, models and options in the answer to ``session/new``, ``load`` or ``resume``.

    An agent that has options repeats its modes and models there, so then only the options count.
    """
    options = session_options(result.get("configOptions"))
    if options:
        return SettingsUpdate(options=options)
    return SettingsUpdate(
        modes=_modes(result.get("modes"), "currentModeId", "availableModes", "id"),
        models=_modes(result.get("models"), "currentModelId", "availableModels", "modelId"),
        options=None if result.get("configOptions") is None else [],
    )


def _modes(raw: Any, current_key: str, list_key: str, id_key: str) -> Modes | None:
    if not isinstance(raw, dict):
        return None
    available = []
    for item in dicts(raw.get(list_key)):
        mode_id = text(item.get(id_key)) or text(item.get("id"))
        if mode_id is not None:
            name, description = line(item.get("name")), line(item.get("description"))
            available.append(Mode(id=mode_id, name=name or mode_id, description=description))
    current = text(raw.get(current_key))
    if current is None and not available:
        return None
    return Modes(current=current or available[0].id, available=available)


def session_options(raw: Any) -> list[SessionOption]:
    """The configuration options; groups of choices are flattened, each choice keeping its group's name."""
    found = []
    for item in dicts(raw):
        option_id = text(item.get("id"))
        if option_id is None:
            continue
        kind, value = item.get("type"), item.get("currentValue")
        found.append(
            SessionOption(
                id=option_id,
                name=line(item.get("name")) or option_id,
                kind=kind if kind in ("select", "boolean") else "other",
                value=value if isinstance(value, str | bool) else None,
                category=text(item.get("category")),
                description=text(item.get("description")),
                choices=_choices(item.get("options"), None),
            )
        )
    return found


def _choices(raw: Any, group: str | None) -> list[OptionChoice]:
    found: list[OptionChoice] = []
    for item in dicts(raw):
        name, value = line(item.get("name")), text(item.get("value"))
        if value is not None:
            description = line(item.get("description"))
            found.append(OptionChoice(value=value, name=name or value, description=description, group=group))
        elif group is None and isinstance(item.get("options"), list):
            found += _choices(item["options"], name or text(item.get("group")) or "")
    return found


def plan_entries(raw: Any) -> list[PlanEntry]:
    """The steps of a plan. A bare text will do."""
    return [
        PlanEntry(
            content=item["content"],
            priority=text(item.get("priority")) or "medium",
            status=text(item.get("status")) or "pending",
        )
        for item in dicts([{"content": item} if isinstance(item, str) else item for item in listed(raw)])
        if isinstance(item.get("content"), str)
    ]


def context_usage(raw: dict[str, Any]) -> Usage | None:
    """Context use as reported; None without ``used``."""
    used = integer(raw.get("used"))
    if used is None:
        return None
    cost, money = raw.get("cost"), None
    if isinstance(cost, dict) and is_number(cost.get("amount")) and isinstance(cost.get("currency"), str):
        money = Cost(amount=float(cost["amount"]), currency=cost["currency"])
    size = integer(raw.get("size"))
    return Usage(used=used, size=size if size is not None and size >= 0 else None, cost=money)


def stop_reason(result: Any) -> str:
    """The stop reason of a prompt's result; an unknown or missing one counts as ``end_turn``."""
    reason = record(result).get("stopReason")
    return reason if isinstance(reason, str) and reason in STOP_REASONS else "end_turn"


# Prompts


def block_text(content: Any) -> str | None:
    """The text that content blocks show: text as it is, a link or resource as Markdown, of others what they are.

    None if there is nothing to show.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        words = [block_text(item) for item in content]
        return None if None in words or not words else "".join(word or "" for word in words)
    if not isinstance(content, dict):
        return None
    kind = content.get("type", "text")
    if kind == "text":
        return text(content.get("text"))
    resource = record(content.get("resource")) if kind == "resource" else content
    uri = text(resource.get("uri"))
    if kind in ("resource_link", "resource") and uri is not None:
        link = f"[{text(resource.get('title')) or text(resource.get('name')) or uri}]({uri})"
        inside = text(resource.get("text"))
        return link if inside is None else f"{link}\n\n{inside}"
    if kind in ("image", "audio"):
        return f"\n\n[{kind}: {line(content.get('mimeType')) or 'of an unknown type'}]\n\n"
    return None


def prompt_blocks(
    words: str, attachments: list[Attachment], *, embedded: bool, images: bool = False
) -> list[dict[str, Any]]:
    """The content blocks of a prompt: the text, then each attachment: as an image or embedded if the agent takes that,
    else a link. Attachments may go without words: models refuse an empty text.
    """
    blocks: list[dict[str, Any]] = [{"type": "text", "text": words}] if words.strip() or not attachments else []
    for item in attachments:
        blocks.append((image_block(item) if images else None) or _attachment_block(item, embedded=embedded))
    return blocks


def _attachment_block(item: Attachment, *, embedded: bool) -> dict[str, Any]:
    uri = item.uri
    if item.range is not None and not urlsplit(uri).fragment:
        first, last = item.range.start.line + 1, item.range.end.line + 1
        if item.range.end.character == 0 and last > first:
            last -= 1  # the end is exclusive: nothing of that line is meant
        uri += f"#L{first}" if first == last else f"#L{first}-L{last}"
    if embedded and item.text is not None:
        return {"type": "resource", "resource": {"uri": uri, "text": item.text}}
    name = item.title or unquote(urlsplit(item.uri).path.rstrip("/").rpartition("/")[2]) or item.uri
    return {"type": "resource_link", "uri": uri, "name": name}
