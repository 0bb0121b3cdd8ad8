"""What a kill left behind: unfinished turns become `interrupted` answers, queued messages enter the log (rule 9).

Runs once, before any channel's task; nothing starts by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.parts import NoticePart
from sidekicks_bridge.protocol.types import Author, Message, MessageTurn
from sidekicks_bridge.store.contract import EndTurn, PutMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.store.contract import Change, StoredTurn


async def recover(env: Env, channels: Mapping[str, Channel]) -> None:
    """Settle every turn that an earlier bridge left unfinished."""
    changes: list[Change] = []
    asked: dict[str, Message] = {}
    for turn in await env.store.turns():
        channel = channels.get(turn.channel_id)
        message = asked.get(turn.message_id) or await env.store.message(turn.message_id)
        if channel is not None and message is not None:
            asked[message.id] = message
            if message.seq is None:
                _enter(message, channel)
                changes.append(PutMessage(message))
            interrupted = _interrupted(env, turn, channel)
            changes.append(PutMessage(interrupted))
            channel.state.unread += 1
            channel.state.note_failure(interrupted)
        changes.append(EndTurn(turn.id))
    for channel in channels.values():
        for message in await env.store.queued(channel.id):
            if message.id not in asked:
                _enter(message, channel)
                changes.append(PutMessage(message))
    if changes:
        await env.journal.keep(*changes)


def _enter(message: Message, channel: Channel) -> None:
    message.seq, message.state = channel.state.next_seq(), "finished"


def _interrupted(env: Env, turn: StoredTurn, channel: Channel) -> Message:
    now = env.clock.now()
    started = turn.started_at is not None
    text = (
        f"The bridge stopped while @{turn.agent} was answering."
        if started
        else f"The bridge stopped before @{turn.agent} began to answer."
    )
    return Message(
        id=env.ids.new(),
        seq=channel.state.next_seq(),
        channel_id=turn.channel_id,
        author=Author(kind="agent", name=turn.agent),
        parts=[NoticePart(code="interrupted", text=text)],
        created_at=now,
        state="finished",
        turn=MessageTurn(id=turn.id, stop_reason="interrupted", started_at=turn.started_at or now, ended_at=now),
        in_reply_to=turn.message_id,
    )
