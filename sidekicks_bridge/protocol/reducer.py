"""The law of the protocol, written out: snapshot + later events = later snapshot.

A pure function on plain JSON values, so that it ports line by line to TypeScript and Lua; `schema/fixtures` is replayed
by all three. A snapshot is the answer to `sidekicks/channel/open`, an event ``{"method": …, "params": …}``. Nothing
given is changed. What is unknown (an event, a part, a field) or of another channel changes nothing and is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

_SESSION_FIELDS = ("modes", "models", "options")
_USAGE_FIELDS = ("used", "size", "cost")


def reduce(snapshot: Json, event: Json) -> Json:
    """The snapshot after ``event``; the same object when the event does not concern it."""
    handler = _HANDLERS.get(event["method"])
    if handler is None:
        return snapshot
    params = event["params"]
    if "channelId" in params and params["channelId"] != snapshot["channel"]["id"]:
        return snapshot
    return handler(snapshot, params)


def sort_key(message: Json) -> tuple[int, int, str]:
    """Where a message stands: with a seq, by seq; then streaming; then queued; each by id."""
    if "seq" in message:
        return (0, message["seq"], message["id"])
    return (2 if message["state"] == "queued" else 1, 0, message["id"])


def _message_updated(snapshot: Json, params: Json) -> Json:
    message = params["message"]
    others = [known for known in snapshot["messages"] if known["id"] != message["id"]]
    if len(others) == len(snapshot["messages"]) and _is_older(snapshot, message):
        return snapshot
    return {**snapshot, "messages": sorted([*others, message], key=sort_key)}


def _is_older(snapshot: Json, message: Json) -> bool:
    """Whether a message lies before those that were asked for: taking it in would leave a gap."""
    first = snapshot["messages"][0] if snapshot["messages"] else {}
    return snapshot["hasMore"] and "seq" in message and "seq" in first and message["seq"] < first["seq"]


def _message_delta(snapshot: Json, params: Json) -> Json:
    messages = [
        {**message, "parts": _with_delta(message["parts"], params)} if message["id"] == params["messageId"] else message
        for message in snapshot["messages"]
    ]
    return {**snapshot, "messages": messages}


def _with_delta(parts: list[Json], delta: Json) -> list[Json]:
    """A value sets the part; a text is appended to it. A part right behind the last one begins; a gap is ignored."""
    index = delta["part"]
    if index < 0 or index > len(parts):
        return parts
    if "value" in delta:
        return [*parts[:index], delta["value"], *parts[index + 1 :]]
    if "text" not in delta:
        return parts
    if index == len(parts):
        return [*parts, {"type": "text", "text": delta["text"]}]
    part = parts[index]
    if part["type"] != "text" and part["type"] != "thought":
        return parts
    return [*parts[:index], {**part, "text": part["text"] + delta["text"]}, *parts[index + 1 :]]


def _message_removed(snapshot: Json, params: Json) -> Json:
    return {**snapshot, "messages": [known for known in snapshot["messages"] if known["id"] != params["messageId"]]}


def _turn_changed(snapshot: Json, params: Json) -> Json:
    return {**snapshot, "turns": params["turns"]}


def _usage_changed(snapshot: Json, params: Json) -> Json:
    return _with_member(snapshot, params["agent"], {"usage": _pick(params, _USAGE_FIELDS)})


def _session_changed(snapshot: Json, params: Json) -> Json:
    return _with_member(snapshot, params["agent"], _pick(params, _SESSION_FIELDS), _SESSION_FIELDS)


def _with_member(snapshot: Json, agent: str, fields: Json, dropped: tuple[str, ...] = ()) -> Json:
    """The member ``agent`` without the fields ``dropped``, then with ``fields``."""
    members = [
        {**{key: value for key, value in member.items() if key not in dropped}, **fields}
        if member["kind"] == "agent" and member["name"] == agent
        else member
        for member in snapshot["channel"]["members"]
    ]
    return {**snapshot, "channel": {**snapshot["channel"], "members": members}}


def _pick(record: Json, names: tuple[str, ...]) -> Json:
    return {name: record[name] for name in names if name in record}


def _permission_requested(snapshot: Json, params: Json) -> Json:
    return {**snapshot, "permissions": [*_permissions_without(snapshot, params["requestId"]), params]}


def _permission_resolved(snapshot: Json, params: Json) -> Json:
    return {**snapshot, "permissions": _permissions_without(snapshot, params["requestId"])}


def _permissions_without(snapshot: Json, request_id: str) -> list[Json]:
    return [known for known in snapshot["permissions"] if known["requestId"] != request_id]


def _channels_changed(snapshot: Json, params: Json) -> Json:
    """The channel's own record; a channel that is gone keeps its last one."""
    for channel in params["channels"]:
        if channel["id"] == snapshot["channel"]["id"]:
            return {**snapshot, "channel": channel}
    return snapshot


_HANDLERS: dict[str, Callable[[Json, Json], Json]] = {
    "sidekicks/message/updated": _message_updated,
    "sidekicks/message/delta": _message_delta,
    "sidekicks/message/removed": _message_removed,
    "sidekicks/turn/changed": _turn_changed,
    "sidekicks/usage/changed": _usage_changed,
    "sidekicks/session/changed": _session_changed,
    "sidekicks/permission/requested": _permission_requested,
    "sidekicks/permission/resolved": _permission_resolved,
    "sidekicks/channels/changed": _channels_changed,
    "sidekicks/config/changed": _channels_changed,
}
