"""Everything that waits for the user, over all channels: permissions, errors, unread messages, queued ones. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.types import AttentionItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.protocol.types import SignIn, Turn


def attention(
    channels: Iterable[Channel], agents: Iterable[str], sign_ins: Iterable[SignIn] = ()
) -> list[AttentionItem]:
    """The list: questions first, then who wants signing in, then what is unread, then what is queued and why.

    ``agents`` are configured: about a failure of another one nothing can be done any more.
    """
    known = {fold(agent) for agent in agents}
    items = [item for channel in channels for item in _of(channel, known)]
    for needed in sign_ins:
        text = f"@{needed.agent} wants you to sign in"
        items.append(AttentionItem(kind="error", channel_id=needed.channel_id or "", agent=needed.agent, text=text))
    rank = {"permission": 0, "error": 1, "unread": 2, "queued": 3}
    return sorted(items, key=lambda item: rank[item.kind])


def _of(channel: Channel, agents: set[str]) -> Iterator[AttentionItem]:
    title = channel.state.title
    for permission in channel.open_permissions():
        yield AttentionItem(
            kind="permission",
            channel_id=channel.id,
            agent=permission.agent,
            request_id=permission.request_id,
            text=f"@{permission.agent} asks in {title}: {permission.tool_call.title}",
        )
    for asked in channel.permissions.forms.all():
        text = f"@{asked.agent} asks you in {title}: {asked.message}"
        yield AttentionItem(kind="permission", channel_id=channel.id, agent=asked.agent, text=text)
    for failure in channel.state.failures:
        if fold(failure.agent) not in agents:
            continue
        yield AttentionItem(
            kind="error",
            channel_id=channel.id,
            agent=failure.agent,
            message_id=failure.message_id,
            text=f"@{failure.agent} could not answer in {title}: {failure.text}",
        )
    if channel.state.unread and channel.state.stored.kind != "pair":  # mail between others waits for them
        count = channel.state.unread
        text = f"{count} unread {'message' if count == 1 else 'messages'} in {title}"
        yield AttentionItem(kind="unread", channel_id=channel.id, count=count, text=text)
    for turn in channel.turns():
        if turn.state == "queued" and turn.waits_for is not None and turn.waits_for.reason != "channel":
            yield AttentionItem(
                kind="queued",
                channel_id=channel.id,
                agent=turn.agent,
                message_id=turn.in_reply_to,
                text=f"@{turn.agent} in {title} waits: {_why(turn)}",
            )


def _why(turn: Turn) -> str:
    if turn.waits_for is not None and turn.waits_for.reason == "agentBusy":
        return "it is busy in another channel"
    return "as many agents run as may"
