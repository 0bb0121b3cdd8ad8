"""*Prepare*: learn the commands of members that never announced theirs, one by one (design rule 8).

Opens their sessions, which the first answer then uses; never stops an agent that has answered to make room.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from sidekicks_bridge.channels.channel import Channel

_log = logging.getLogger(__name__)


async def prepare(channel: Channel, folder: str | None) -> None:
    """Start the members of ``channel`` whose commands nobody knows yet."""
    env = channel.state.env
    for name, member in list(channel.state.members.items()):
        if member.stored.kind != "agent" or env.announced.known(name):
            continue
        try:
            lease = env.agents.try_lease(name, channel.id)  # agentNotFound: it is in the configuration no more
            if lease is None:
                continue
            async with lease:
                await channel.sessions.open(name, lease, folder)
        except SidekicksError as error:
            if error.code == "agentAuthRequired":
                env.auth_required(name, channel.id, None, error)
            _log.info("%s could not be asked for its commands: %s", name, error.message)
