"""Requests about agents, their sessions and the configuration. Each method is one request of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.agent_requests import AgentSessions
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.requests import AgentLogs, ConfigView, Empty, Problems, RecentConfigs

if TYPE_CHECKING:
    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.protocol import agent_requests as agent_wire
    from sidekicks_bridge.protocol import requests as wire


class AgentRequests:
    """What can be asked about agents."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def start(self, client: Client, params: wire.AgentRef) -> Empty:
        """`agent/start`."""
        _check_trusted(client)
        await self._bridge.agents.start(self._name(params.agent))
        return Empty()

    async def stop(self, _client: Client, params: wire.AgentRef) -> Empty:
        """`agent/stop`."""
        await self._bridge.stop_agent(self._name(params.agent))
        return Empty()

    async def restart(self, client: Client, params: wire.AgentRef) -> Empty:
        """`agent/restart`."""
        await self._bridge.stop_agent(self._name(params.agent))
        return await self.start(client, params)

    async def logs(self, client: Client, params: wire.AgentRef) -> AgentLogs:
        """`agent/logs`: and the client follows from now on."""
        agent = self._name(params.agent)
        self._bridge.clients.follow(agent, client)
        return AgentLogs(lines=self._bridge.agents.logs(agent))

    async def set_mode(self, _client: Client, params: wire.SetMode) -> Empty:
        """`session/setMode`."""
        channel, agent = self._member(params.channel_id, params.agent)
        if params.mode_id is None and params.model_id is None:
            raise SidekicksError("invalidParams", "Name a modeId or a modelId.")
        await channel.sessions.set_mode(agent, params.mode_id, params.model_id)
        return Empty()

    async def set_option(self, _client: Client, params: wire.SetOption) -> Empty:
        """`session/setOption`."""
        channel, agent = self._member(params.channel_id, params.agent)
        await channel.sessions.set_option(agent, params.option_id, params.value)
        return Empty()

    async def sessions(self, client: Client, params: agent_wire.ListSessions) -> AgentSessions:
        """`agent/sessions`."""
        _check_trusted(client)
        agent = self._name(params.agent)
        found = await self._bridge.errands.sessions(agent, params.folder)
        used = {
            member.stored.session_id: channel.id
            for channel in self._bridge.directory.all()
            for name, member in channel.state.members.items()
            if name == agent
        }
        for session in found:
            session.channel_id = used.get(session.session_id)
        return AgentSessions(sessions=found)

    async def delete_session(self, client: Client, params: agent_wire.SessionRef) -> Empty:
        """`agent/deleteSession`."""
        _check_trusted(client)
        await self._bridge.errands.delete_session(self._name(params.agent), params.session_id)
        return Empty()

    async def pick_up(self, client: Client, params: agent_wire.PickUpSession) -> Empty:
        """`session/pickUp`."""
        _check_trusted(client)
        channel, agent = self._member(params.channel_id, params.agent)
        if any(turn.agent == agent for turn in channel.turns()):
            raise SidekicksError("invalidParams", f"@{agent} is answering here. Wait, or cancel that first.")
        if not await self._bridge.errands.can_pick_up(agent):
            raise SidekicksError("notSupported", f"@{agent} cannot go on with an earlier session.", {"agent": agent})
        await channel.sessions.pick_up(agent, params.session_id)
        return Empty()

    def _name(self, agent: str) -> str:
        return self._bridge.directory.agent_name(agent)

    def _member(self, channel_id: str, agent: str) -> tuple[Channel, str]:
        channel = self._bridge.directory.get(channel_id)
        name = self._name(agent)
        if name not in channel.state.members:
            raise SidekicksError("notMember", f"@{name} is not a member of {channel.state.title}.", {"agent": agent})
        return channel, name


def _check_trusted(client: Client) -> None:
    if client.trusted is False:
        raise SidekicksError("untrusted", "This folder is not trusted, so no agent is started from it.")


class ConfigRequests:
    """What can be asked about the configuration."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def get(self, _client: Client, _params: wire.Empty) -> ConfigView:
        """`config/get`."""
        return await self._bridge.configuration.view()

    async def validate(self, _client: Client, params: wire.ConfigText) -> Problems:
        """`config/validate`."""
        return Problems(problems=await self._bridge.configuration.validate(params.text))

    async def edit(self, _client: Client, params: wire.EditConfig) -> Problems:
        """`config/edit`."""
        problems = await self._bridge.configuration.edit(params.path, params.value)
        await self._bridge.config_changed()
        return Problems(problems=problems)

    async def recent(self, _client: Client, _params: wire.Empty) -> RecentConfigs:
        """`config/recent`."""
        return RecentConfigs(paths=self._bridge.recent.recent())


async def not_supported(_client: Client, _params: object) -> Empty:
    """What a later version will do."""
    raise SidekicksError("notSupported", "This version of the bridge keeps no permission rules yet.")
