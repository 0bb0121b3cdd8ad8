"""The law of the protocol on real runs: snapshot + later events = later snapshot, and all of it fits the schema."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema

from sidekicks_bridge.protocol.codegen.schema import protocol_schema
from sidekicks_bridge.protocol.reducer import reduce

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

_MOST_DELTAS = 300
BROKEN = "The snapshot that the events lead to (left) is not the one that the bridge gives (right)."
_checked: Counter[str] = Counter()


@cache
def _schema() -> JSON:
    return protocol_schema()


@cache
def _validator(method: str) -> jsonschema.Draft202012Validator | None:
    """The validator of an event's parameters, of a snapshot (``OpenedChannel``), None for what is not ours."""
    schema = _schema()
    if method == "OpenedChannel":
        reference = {"$ref": "#/$defs/OpenedChannel"}
    elif method.startswith("sidekicks/"):
        reference = schema["x-events"][method]["params"]
    else:
        return None
    return jsonschema.Draft202012Validator({**reference, "$defs": schema["$defs"]})


def event_problem(event: JSON) -> str | None:
    """Why an event does not fit the schema, if so; of endless streams only the first deltas are looked at."""
    method = event["method"]
    _checked[method] += 1
    if method == "sidekicks/message/delta" and _checked[method] > _MOST_DELTAS:
        return None
    validator = _validator(method)
    problem = jsonschema.exceptions.best_match(validator.iter_errors(event["params"])) if validator else None
    return f"{method} does not fit the schema: {problem.message}" if problem else None


def check_snapshot(snapshot: JSON) -> None:
    """The answer to `channel/open` fits the schema."""
    validator = _validator("OpenedChannel")
    assert validator is not None
    validator.validate(snapshot)


async def check(client: Client, room: Room) -> None:
    """What the client shows by the reducer is what the bridge would show it anew."""
    shown = sum(1 for message in room.messages if message["state"] == "finished")
    limit = max(1, shown) if room.snapshot["hasMore"] else 500
    reply = await client.ask("channel/open", channelId=room.id, limit=limit)
    fresh = await client.result(reply, "channel/open")
    assert comparable(reply.shown[room.id]) == comparable(fresh), client.report(BROKEN)


async def verify(client: Client, room: Room, action: Callable[[], Awaitable[object]]) -> list[JSON]:
    """Run ``action`` and compare; returns the events that it caused up to then."""
    first = await client.ask("channel/open", channelId=room.id, limit=500)
    before = await client.result(first, "channel/open")
    check_snapshot(before)
    start = first.seen
    await action()
    reply = await client.ask("channel/open", channelId=room.id, limit=500)
    after = await client.result(reply, "channel/open")
    events = client.events[start : reply.seen]
    reduced = before
    for event in events:
        reduced = reduce(reduced, event)
    assert comparable(reduced) == comparable(after), client.report(BROKEN)
    return events


def comparable(snapshot: JSON) -> JSON:
    """What the law speaks of: not the draft, not whose folder it is, and how much lies before the messages shown."""
    return {key: snapshot[key] for key in ("channel", "messages", "turns", "permissions")}
