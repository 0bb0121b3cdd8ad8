"""Turns that have not ended: what each is about and how far it is. Data only; `turn_flow` moves them on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.protocol.types import Turn, WaitsFor
from sidekicks_bridge.store.contract import StoredTurn

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import Session
    from sidekicks_bridge.channels.answer import Answer
    from sidekicks_bridge.channels.silence import Question
    from sidekicks_bridge.protocol.routes import Route
    from sidekicks_bridge.protocol.types import Message, TurnState, Usage


@dataclass
class Delivery:
    """A user's message on its way: where it goes, and whether its first turn has begun or is known to wait."""

    message: Message
    route: Route
    folder: str | None
    """The sender's folder: where sessions run while the channel has no root."""
    settled: anyio.Event = field(default_factory=anyio.Event)


@dataclass
class PendingTurn:
    """One turn. ``answer`` exists from its beginning on, ``session`` from when it is handed its prompt."""

    id: str
    channel_id: str
    agent: str
    command: str | None
    delivery: Delivery
    state: TurnState = "queued"
    waits_for: WaitsFor | None = None
    started_at: str | None = None
    answer: Answer | None = None
    session: Session | None = None
    before: tuple[int, list[int], bool] | None = None
    """What the member had seen (cursor, heard, fresh) before it was handed the prompt."""
    usage: Usage | None = None
    """As reported last; part of the message once that is finished."""
    cancelled: bool = False
    heard_at: float = 0.0
    """When the agent said something last, or the silence since then was dealt with (the loop's clock)."""
    silence: Question | None = None
    silences: int = 0
    over: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def begun(self) -> bool:
        """Whether the agent is at it: no longer queued."""
        return self.answer is not None

    def stored(self) -> StoredTurn:
        """The record that survives a kill."""
        return StoredTurn(
            id=self.id,
            channel_id=self.channel_id,
            agent=self.agent,
            message_id=self.delivery.message.id,
            started_at=self.started_at,
            command=self.command,
        )

    def view(self, ahead: PendingTurn | None) -> Turn:
        """The turn as clients see it; ``ahead`` is the turn that runs before it in the channel."""
        waits_for = self.waits_for
        if ahead is not None:
            waits_for = WaitsFor(reason="channel", channel_id=self.channel_id, agent=ahead.agent)
        return Turn(
            id=self.id,
            channel_id=self.channel_id,
            agent=self.agent,
            message_id=self.answer.message.id if self.answer else None,
            in_reply_to=self.delivery.message.id,
            state=self.state,
            waits_for=waits_for,
        )
