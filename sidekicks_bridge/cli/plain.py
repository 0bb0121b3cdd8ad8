"""`sidekicks chat` without a terminal: every line of stdin is a message, sent when the one before is answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli.attach import connection
from sidekicks_bridge.cli.channel_ref import UnknownChannel, default_channel, find_channel
from sidekicks_bridge.cli.config import check_usable
from sidekicks_bridge.cli.exit_codes import INTERRUPTED, OK
from sidekicks_bridge.cli.listener import PlainListener
from sidekicks_bridge.cli.say import Interrupt, outcome, send, tell_not_kept, tell_other_root
from sidekicks_bridge.protocol.requests import Empty, OpenChannel, OpenedChannel
from sidekicks_bridge.protocol.requests import State as BridgeState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.protocol.types import Channel


async def talk_plainly(command: Sequence[str] | None, config: str | None, ref: str | None, *, allow: bool) -> int:
    """Send the lines of stdin and print the answers; the exit code is that of the last message that went wrong."""
    listener = PlainListener(allow=allow)
    async with connection(command, config, listener.on_event, folder=str(Path.cwd())) as client:
        state = await client.request("sidekicks/state/get", Empty(), BridgeState)
        check_usable(state)
        listener.know(state)
        tell_not_kept(state)
        channel = await _channel(client, state, ref)
        asked = OpenChannel(channel_id=channel.id, limit=1)
        tell_other_root(await client.request("sidekicks/channel/open", asked, OpenedChannel, listener.opened))
        async with anyio.create_task_group() as tasks:
            interrupt = Interrupt(client, listener)
            tasks.start_soon(listener.serve, client)
            tasks.start_soon(listener.waiting.run)
            tasks.start_soon(interrupt.watch)
            code = await _talk(client, listener, channel.id)
            tasks.cancel_scope.cancel()
        return INTERRUPTED if interrupt.seen else code


async def _talk(client: BridgeClient, listener: PlainListener, channel_id: str) -> int:
    code = OK
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        if line.strip():
            code = outcome(await send(client, listener, channel_id, line.rstrip("\r\n"))) or code
    return code


async def _channel(client: BridgeClient, state: BridgeState, ref: str | None) -> Channel:
    if ref is not None:
        return await find_channel(client, state, ref)
    channel = default_channel(state, str(Path.cwd()))
    if channel is None:
        raise UnknownChannel("", "There is no channel yet; name an agent: sidekicks chat @NAME", [])
    return channel
