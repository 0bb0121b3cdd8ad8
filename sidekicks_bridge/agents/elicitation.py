"""What an agent asks the user for, on its way to whoever answers: its form read tolerantly, the answer checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidekicks_bridge.agents.raw import dicts, is_number, line, listed, record, text
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import FormChoice, FormField

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    Action = Literal["accept", "decline", "cancel"]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "choice": (str,),
    "choices": (list,),
}


class FormAsk:
    """One question; the first answer counts. ``url`` for one that sends the user to a page, else ``fields``."""

    def __init__(
        self, agent: str, channel_id: str, params: dict[str, Any], respond: Callable[[dict[str, Any]], None]
    ) -> None:
        self.agent = agent
        self.channel_id = channel_id
        self.url = text(params.get("url")) if params.get("mode") == "url" else None
        self.message = text(params.get("message")) or "The agent asks for something."
        self.elicitation_id = text(params.get("elicitationId"))
        self.fields = [] if self.url else form_fields(params.get("requestedSchema"))
        self._respond: Callable[[dict[str, Any]], None] | None = respond

    def answer(self, action: Action, content: dict[str, Any] | None = None) -> None:
        """Answer; invalidParams for content that does not fit the form."""
        if self._respond is None:
            return
        result: dict[str, Any] = {"action": action}
        if action == "accept" and self.url is None:
            result["content"] = checked(self.fields, content or {})
        respond, self._respond = self._respond, None
        respond(result)

    def void(self) -> None:
        """The question is over; an answer does nothing from now on."""
        self._respond = None


def form_fields(schema: Any) -> list[FormField]:
    """The fields of a form in the order they are given."""
    required = [name for name in listed(record(schema).get("required")) if isinstance(name, str)]
    properties = record(record(schema).get("properties"))
    return [_field(name, record(value), required=name in required) for name, value in properties.items()]


def _field(name: str, raw: dict[str, Any], *, required: bool) -> FormField:
    kind, choices = text(raw.get("type")) or "string", _choices(raw)
    if kind == "array":
        kind, choices = "choices", _choices(record(raw.get("items")))
    elif kind == "string" and choices:
        kind = "choice"
    known = kind if kind in _TYPES else "other"
    return FormField(
        name=name,
        title=line(raw.get("title")) or name,
        kind=known,  # type: ignore[arg-type]  # the keys of the table
        required=required,
        description=line(raw.get("description")),
        default=raw.get("default"),
        choices=choices,
        minimum=_number(raw.get("minimum")),
        maximum=_number(raw.get("maximum")),
        min_length=_count(raw.get("minLength"), raw.get("minItems")),
        max_length=_count(raw.get("maxLength"), raw.get("maxItems")),
    )


def _choices(raw: dict[str, Any]) -> list[FormChoice]:
    names = raw.get("enumNames")
    titles = names if isinstance(names, list) else []
    found = [
        FormChoice(value=value, title=line(titles[at]) or value if at < len(titles) else value)
        for at, value in enumerate(listed(raw.get("enum")))
        if isinstance(value, str)
    ]
    for item in dicts(raw.get("oneOf")) or dicts(raw.get("anyOf")):
        value = text(item.get("const"))
        if value is not None:
            found.append(FormChoice(value=value, title=line(item.get("title")) or value))
    return found


def _number(value: Any) -> float | None:
    return float(value) if is_number(value) else None


def _count(*values: Any) -> int | None:
    return next((int(value) for value in values if is_number(value)), None)


def checked(fields: list[FormField], content: dict[str, Any]) -> dict[str, Any]:
    """``content`` if it fits; what is not a field of the form is left out. Raises invalidParams."""
    result = {}
    for field in fields:
        if field.name not in content or content[field.name] is None:
            if field.required:
                raise SidekicksError("invalidParams", f"{field.title} is missing.", {"field": field.name})
            continue
        value = content[field.name]
        if problem := _problem(field, value):
            raise SidekicksError("invalidParams", f"{field.title}: {problem}.", {"field": field.name})
        result[field.name] = value
    return result


def _problem(field: FormField, value: Any) -> str | None:
    if field.kind == "other":
        return None
    if not isinstance(value, _TYPES[field.kind]) or (isinstance(value, bool) and field.kind != "boolean"):
        return f"this must be a {field.kind}"
    offered = [choice.value for choice in field.choices]
    for one in value if isinstance(value, list) else [value]:
        if offered and one not in offered:
            return f"{one!r} is none of {', '.join(offered)}"
    size = len(value) if isinstance(value, str | list) else None
    if size is not None and (
        size < (field.min_length or 0) or (field.max_length is not None and size > field.max_length)
    ):
        return f"its length must be between {field.min_length or 0} and {field.max_length or 'any'}"
    if is_number(value) and (value < _or(field.minimum, value) or value > _or(field.maximum, value)):
        return f"this must be between {_or(field.minimum, '-∞')} and {_or(field.maximum, '∞')}"
    return None


def _or(bound: float | None, other: Any) -> Any:
    return other if bound is None else bound
