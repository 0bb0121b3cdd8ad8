"""What tests wait for. Each condition says: here it is, not yet, or never (`ImpossibleError`).

A message or permission is given once: the next wait of the same kind is for another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.client import Client

    JSON = dict[str, Any]


@dataclass(frozen=True)
class Posted:
    """The next finished message of an author (an agent's name, `user` or `system`), with its text and stop reason."""

    by: str
    text: str | None
    stop: str | None
    channel: str | None
    late: bool

    def __call__(self, client: Client) -> JSON | None:
        for params in client.of("message/updated"):
            message: JSON = params["message"]
            if self._is(message) and not client.was_given(message["id"]):
                client.give(message["id"])
                return message
        if not self.late and not _turns(client, self.channel, self.by if self._agent else None):
            raise _impossible(f"{self.by} has no turn left")
        return None

    @property
    def _agent(self) -> bool:
        return self.by not in ("user", "system")

    def _is(self, message: JSON) -> bool:
        from tests.support.room import line_of

        author, stop = message["author"], message.get("turn", {}).get("stopReason")
        return (
            message["state"] == "finished"
            and (author.get("name") or author["kind"]) == self.by
            and self.channel in (None, message["channelId"])
            and (self.text is None or self.text in line_of(message))
            and (self.stop is None or stop == self.stop)
        )


def posted(
    by: str, text: str | None = None, *, stop: str | None = None, channel: str | None = None, late: bool = False
) -> Posted:
    """A finished message; ``late``: outside a turn, so that it cannot become impossible."""
    return Posted(by, text, stop, channel, late)


@dataclass(frozen=True)
class Answered:
    """The finished answer of an agent to one message, its turn over."""

    channel: str
    message_id: str
    by: str

    def __call__(self, client: Client) -> JSON | None:
        room = client.rooms[self.channel]
        if any(turn["agent"] == self.by and turn.get("inReplyTo") == self.message_id for turn in room.turns):
            return None
        for message in room.messages:
            if (
                message.get("inReplyTo") == self.message_id
                and message["author"].get("name") == self.by
                and message["state"] == "finished"
            ):
                client.give(message["id"])
                return message
        raise _impossible(f"{self.by} has no turn for it")


@dataclass(frozen=True)
class Quiet:
    """No turn is left in a channel."""

    channel: str

    def __call__(self, client: Client) -> bool:
        return not client.rooms[self.channel].turns


@dataclass(frozen=True)
class TurnState:
    """A turn of an agent is in a state now."""

    agent: str
    state: str
    waits: str | None
    channel: str | None

    def __call__(self, client: Client) -> JSON | None:
        turns = _turns(client, self.channel, self.agent)
        for turn in turns:
            if turn["state"] == self.state and self.waits in (None, turn.get("waitsFor", {}).get("reason")):
                return turn
        if not turns:
            raise _impossible(f"{self.agent} has no turn")
        return None


def turn_state(agent: str, state: str, *, waits: str | None = None, channel: str | None = None) -> TurnState:
    """A turn in a state; ``waits``: the reason it waits for."""
    return TurnState(agent, state, waits, channel)


@dataclass(frozen=True)
class Asked:
    """The next permission question."""

    by: str | None
    channel: str | None
    outside: bool

    def __call__(self, client: Client) -> JSON | None:
        for asked in client.of("permission/requested"):
            mine = self.by in (None, asked["agent"]) and self.channel in (None, asked["channelId"])
            if mine and not client.was_given(asked["requestId"]):
                client.give(asked["requestId"])
                return asked
        if not self.outside and self.channel in client.rooms and not _turns(client, self.channel, self.by):
            raise _impossible("nobody has a turn there")
        return None


def permission(*, by: str | None = None, channel: str | None = None, outside: bool = False) -> Asked:
    """The next permission question, of an agent or in a channel; ``outside``: of a turn, so it is never impossible."""
    return Asked(by, channel, outside)


@dataclass(frozen=True)
class Happened:
    """An event of a kind (``sidekicks/`` left out) whose parameters fit, from the event number ``since`` on."""

    method: str
    fits: Callable[[JSON], object]
    since: int

    def __call__(self, client: Client) -> JSON | None:
        for event in client.events[self.since :]:
            if event["method"] == f"sidekicks/{self.method}" and self.fits(event["params"]):
                params: JSON = event["params"]
                return params
        return None


def happened(method: str, fits: Callable[[JSON], object] = lambda _params: True, *, since: int = 0) -> Happened:
    """An event; ``since``: ``len(client.events)`` before what causes it."""
    return Happened(method, fits, since)


@dataclass(frozen=True)
class Streaming:
    """The unfinished answer of an agent whose text contains something (or nothing in particular)."""

    by: str
    text: str
    channel: str | None
    late: bool

    def __call__(self, client: Client) -> JSON | None:
        from tests.support.room import text_of

        for room in client.rooms.values():
            if self.channel not in (None, room.id):
                continue
            for message in room.messages:
                named = message["author"].get("name") == self.by
                if named and message["state"] == "streaming" and self.text in text_of(message):
                    return message
        if not self.late and not _turns(client, self.channel, self.by):
            raise _impossible(f"{self.by} has no turn left")
        return None


def streaming(by: str, text: str = "", *, channel: str | None = None, late: bool = False) -> Streaming:
    """An answer that is under way; ``late``: outside a turn."""
    return Streaming(by, text, channel, late)


def _turns(client: Client, channel: str | None, agent: str | None) -> list[JSON]:
    """The turns in opened channels now, of one agent if named."""
    return [
        turn
        for room in client.rooms.values()
        if channel in (None, room.id)
        for turn in room.turns
        if agent in (None, turn["agent"])
    ]


def _impossible(why: str) -> Exception:
    from tests.support.client import ImpossibleError

    return ImpossibleError(why)
