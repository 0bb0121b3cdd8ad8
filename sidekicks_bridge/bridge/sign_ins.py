"""Which agents want the user to sign in, and what is tried again once that is done. Owns the list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sidekicks_bridge.protocol.agent_requests import Authenticated, TerminalCommand
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import SignInResolved
from sidekicks_bridge.protocol.requests import Empty
from sidekicks_bridge.protocol.types import SignIn, SignInMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sidekicks_bridge.agents.errands import Errands
    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.protocol import agent_requests as agent_wire
    from sidekicks_bridge.protocol import requests as wire
    from sidekicks_bridge.protocol.base import Wire


class SignIns:
    """The open ones, by agent. ``failed`` answers are kept with them."""

    def __init__(self, to_all: Callable[[Wire], None]) -> None:
        self._to_all = to_all
        self._open: dict[str, SignIn] = {}
        self._failed: dict[str, list[str]] = {}

    def all(self) -> list[SignIn]:
        """The open ones."""
        return list(self._open.values())

    def required(self, agent: str, channel_id: str, message_id: str | None, why: SidekicksError) -> None:
        """An agent refused to work for want of it."""
        methods = msgspec.convert(why.details.get("methods", []), list[SignInMethod])
        needed = SignIn(agent=agent, text=why.message, methods=methods, channel_id=channel_id)
        if message_id is not None:
            self._failed.setdefault(agent, []).append(message_id)
        self._open[agent] = needed
        self._to_all(needed)

    def keep_only(self, agents: Collection[str]) -> None:
        """These agents are configured; of the others nobody wants anything any more."""
        for agent in [agent for agent in self._open if agent not in agents]:
            self.settled(agent)

    def settled(self, agent: str) -> list[str]:
        """It took a session, or says that it signed the user in: the answers that had failed, oldest first."""
        failed = self._failed.pop(agent, [])
        if self._open.pop(agent, None) is not None:
            self._to_all(SignInResolved(agent=agent))
        return failed


class SignInRequests:
    """What can be asked about signing in."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    @property
    def _errands(self) -> Errands:
        return self._bridge.errands

    async def authenticate(self, client: Client, params: agent_wire.Authenticate) -> Authenticated:
        """`agent/authenticate`."""
        bridge = self._bridge
        if client.trusted is False:
            raise SidekicksError("untrusted", "This folder is not trusted, so no agent is started from it.")
        agent = bridge.directory.agent_name(params.agent)
        method = await self._method(agent, params.method_id)
        if method.kind == "agent":
            await self._errands.authenticate(agent, method.id)
            return await self._signed_in(agent, client.folder)
        if method.kind == "terminal":
            return await self._in_terminal(client, agent, method, ran=params.ran)
        if method.kind == "envVar":
            return self._by_variables(agent, method)
        raise SidekicksError(
            "notSupported", f"{method.name!r} is of a kind that this bridge does not know. Sign in to @{agent} by hand."
        )

    async def _method(self, agent: str, method_id: str) -> SignInMethod:
        methods = self._errands.sign_in_methods(agent)
        if not methods:  # nobody has met it yet
            await self._bridge.agents.start(agent)
            methods = self._errands.sign_in_methods(agent)
        for method in methods:
            if method.id == method_id:
                return method
        offered = ", ".join(method.id for method in methods) or "nothing"
        raise SidekicksError("invalidParams", f"@{agent} does not offer {method_id!r}. It offers: {offered}.")

    async def _in_terminal(self, client: Client, agent: str, method: SignInMethod, *, ran: bool) -> Authenticated:
        if ran:
            await self._bridge.stop_agent(agent)
            return await self._signed_in(agent, client.folder)
        folder = client.folder or str(Path.home())
        command = self._errands.sign_in_command(agent, method.id, folder)
        assert command is not None
        terminal = TerminalCommand(command=command.program, args=command.args, env=command.env, cwd=folder)
        return Authenticated(done=False, text=f"{method.name}: run this in a terminal.", terminal=terminal)

    def _by_variables(self, agent: str, method: SignInMethod) -> Authenticated:
        names = " and ".join(variable.name for variable in method.variables) or "the variable that its makers name"
        where = f"under `env` of agent {agent} in {self._bridge.configuration.path}"
        more = f" {method.link} says more." if method.link else ""
        text = f"Set {names} {where} (best as ${{NAME}}, taken from your environment), then send again.{more}"
        return Authenticated(done=False, text=text, variables=method.variables)

    async def _signed_in(self, agent: str, folder: str | None) -> Authenticated:
        """Try again, once, what had failed: another failure asks anew."""
        bridge = self._bridge
        retried: list[str] = []
        for message_id in bridge.sign_ins.settled(agent):
            message = await bridge.store.message(message_id)
            channel = bridge.directory.find(message.channel_id) if message else None
            if message is None or channel is None or message.in_reply_to in retried:
                continue
            try:
                await channel.retry(message, folder)
                retried.append(message.in_reply_to or "")
            except SidekicksError:
                continue  # what was asked is gone, or the channel is
        text = f"Signed in to @{agent}." + (" What had failed is tried again." if retried else "")
        return Authenticated(done=True, text=text)

    async def log_out(self, _client: Client, params: wire.AgentRef) -> Empty:
        """`agent/logout`."""
        await self._errands.log_out(self._bridge.directory.agent_name(params.agent))
        return Empty()
