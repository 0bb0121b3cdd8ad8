"""Requests about the owner itself: its status, and ending it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sidekicks_bridge import __version__
from sidekicks_bridge.bridge.channel_requests import ChannelRequests
from sidekicks_bridge.protocol import PROTOCOL_VERSION
from sidekicks_bridge.protocol.requests import AttachedClient, BridgeStatus, Empty

if TYPE_CHECKING:
    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client


class OwnerRequests:
    """What can be asked about the process that owns."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def status(self, client: Client, params: Empty) -> BridgeStatus:
        """`bridge/status`."""
        bridge = self._bridge
        return BridgeStatus(
            pid=os.getpid(),
            bridge_version=__version__,
            protocol_version=PROTOCOL_VERSION,
            kind=bridge.kind,
            started_at=bridge.started_at,
            clients=[
                AttachedClient(name=one.name, folder=one.folder, attached_at=one.attached_at, you=one is client)
                for one in bridge.clients
            ],
            state=await ChannelRequests(bridge).state(client, params),
        )

    async def stop(self, _client: Client, _params: Empty) -> Empty:
        """`bridge/stop`: every client is told before its connection ends."""
        self._bridge.on_stop()
        return Empty()
