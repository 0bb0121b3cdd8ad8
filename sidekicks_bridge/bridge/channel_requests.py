"""Requests about channels. Each method is one request of the protocol: client and parameters in, result out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.bridge.export import export_channel
from sidekicks_bridge.channels.prepare import prepare
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.requests import Empty, ExportedChannel, PreparedCommand, PreparedCommands, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.protocol import requests as wire
    from sidekicks_bridge.protocol.types import Channel as ChannelView

PAGE_LIMIT = 500


class ChannelRequests:
    """What can be asked about channels."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def state(self, _client: Client, _params: wire.Empty) -> State:
        """`state/get`."""
        bridge = self._bridge
        channels = list(bridge.directory.all())
        return State(
            agents=bridge.agent_list(),
            channels=bridge.channels(),
            permissions=bridge.open_permissions(),
            turns=[turn for channel in channels for turn in channel.turns()],
            storage=bridge.storage,
            config=bridge.configuration.state,
            sign_ins=bridge.sign_ins.all(),
            elicitations=bridge.open_elicitations(),
        )

    async def create(self, _client: Client, params: wire.CreateChannel) -> ChannelView:
        """`channel/create`."""
        made = await self._bridge.directory.create(params.name, params.description, params.members, params.root)
        return made.state.view()

    async def direct(self, client: Client, params: wire.DirectChannel) -> ChannelView:
        """`channel/direct`: one conversation per agent and folder."""
        return (await self._bridge.directory.direct(params.agent, client.folder)).state.view()

    async def open(
        self, client: Client, params: wire.OpenChannel, answer: Callable[[wire.OpenedChannel], None]
    ) -> None:
        """`channel/open`: ``answer`` is called in the same step in which the client is subscribed."""
        bridge = self._bridge
        channel = bridge.directory.get(params.channel_id)
        if client.folder is not None and not params.keep_root:
            await bridge.directory.settle_root(channel, client.folder)

        def finish(opened: wire.OpenedChannel) -> None:
            opened.draft = bridge.preferences.draft(channel.id)
            opened.other_root = _other_root(channel, client)
            answer(opened)

        await channel.open(max(1, min(params.limit, PAGE_LIMIT)), client, finish)

    async def close(self, client: Client, params: wire.ChannelRef) -> Empty:
        """`channel/close`."""
        self._bridge.directory.get(params.channel_id).close(client)
        return Empty()

    async def update(self, _client: Client, params: wire.UpdateChannel) -> ChannelView:
        """`channel/update`."""
        channel = self._bridge.directory.get(params.channel_id)
        await self._bridge.directory.update(channel, params.name, params.description, params.root)
        self._bridge.mail.touched(channel.id)
        return channel.state.view()

    async def delete(self, _client: Client, params: wire.DeleteChannel) -> Empty:
        """`channel/delete`."""
        channel = self._bridge.directory.get(params.channel_id)
        await self._bridge.directory.delete(channel, params.confirm)
        self._bridge.preferences.forget(channel.id)
        self._bridge.mail.touched(channel.id)
        return Empty()

    async def invite(self, _client: Client, params: wire.ChannelAgent) -> ChannelView:
        """`channel/invite`."""
        channel = self._bridge.directory.get(params.channel_id)
        await self._bridge.directory.invite(channel, params.agent)
        return channel.state.view()

    async def remove(self, _client: Client, params: wire.ChannelAgent) -> ChannelView:
        """`channel/remove`."""
        channel = self._bridge.directory.get(params.channel_id)
        await self._bridge.directory.remove(channel, params.agent)
        self._bridge.mail.touched(channel.id)
        return channel.state.view()

    async def mark_read(self, _client: Client, params: wire.MarkRead) -> Empty:
        """`channel/markRead`: the mark never goes back, and all clients share it."""
        bridge = self._bridge
        channel = bridge.directory.get(params.channel_id)
        seq = await channel.mark_read(params.seq)
        if seq is not None:
            bridge.preferences.set_read_mark(channel.id, seq)
            bridge.overview.changed()
        return Empty()

    async def export(self, _client: Client, params: wire.ExportChannel) -> ExportedChannel:
        """`channel/export`: for the user alone, replaced in one step."""
        channel = self._bridge.directory.get(params.channel_id)
        path = Path(params.path)
        if not path.is_absolute():
            raise SidekicksError("invalidParams", f"The path {params.path!r} is not absolute.", {"path": params.path})
        count = await export_channel(self._bridge.store, channel.id, channel.state.title, params.format, path)
        return ExportedChannel(path=params.path, messages=count)

    async def prepare(self, client: Client, params: wire.ChannelRef) -> PreparedCommands:
        """`channel/prepare`: what is known now; members that never announced commands are started meanwhile."""
        bridge = self._bridge
        channel = bridge.directory.get(params.channel_id)
        if client.trusted is not False:
            bridge.spawn(prepare, channel, client.folder)
        return PreparedCommands(
            commands=[
                PreparedCommand(agent=name, name=command.name, description=command.description, hint=command.hint)
                for name in channel.state.members
                for command in bridge.announced.of(name)
            ]
        )


def _other_root(channel: Channel, client: Client) -> str | None:
    root = channel.state.stored.root
    return None if root is None or client.folder is None or same_folder(root, client.folder) else root
