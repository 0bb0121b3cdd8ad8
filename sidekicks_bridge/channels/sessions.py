"""The ACP sessions of a channel's members: which root, which stored id, what the user set (design rules 6 and 13)."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import PutMember

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.agents.contract import Lease, Session
    from sidekicks_bridge.channels.inbox import Inbox
    from sidekicks_bridge.channels.state import ChannelState, MemberState

_log = logging.getLogger(__name__)


class Sessions:
    """Opens sessions and remembers them with the membership."""

    def __init__(self, state: ChannelState, inbox: Inbox) -> None:
        self._state = state
        self._inbox = inbox
        self._live: dict[str, Session] = {}

    async def open(self, agent: str, lease: Lease, folder: str | None) -> Session:
        """The member's session, opened if need be; runs in the task of a turn (or of *prepare*)."""
        root = self._state.stored.root or folder or str(Path.home())
        stored_id = await self._inbox.call(self._before, agent, root)
        session = await lease.session(root, stored_id)
        self._state.env.auth_settled(agent)
        anew = await self._inbox.call(self._opened, agent, session, root)
        if anew is not None:
            await self._restore_settings(anew, session)
        return session

    async def _before(self, agent: str, root: str) -> str | None:
        member = self._member(agent)
        if member.session_root not in (None, root):
            self.forget(agent)
        return member.stored.session_id

    def _member(self, agent: str) -> MemberState:
        member = self._state.members.get(agent)
        if member is None:
            self._state.env.agents.close_session(agent, self._state.id)
            raise SidekicksError("notMember", f"@{agent} is no longer a member of {self._state.title}.")
        return member

    async def _opened(self, agent: str, session: Session, root: str) -> MemberState | None:
        """Note the session; the member if it was not already in use. A new one has heard nothing."""
        member = self._member(agent)
        news = self._live.get(agent) is not session
        self._live[agent] = session
        member.session_root = root
        if news:
            member.origin = session.origin
            if session.origin == "fresh":
                member.reset_session(session.id)
            member.stored.session_id = session.id
            await self._state.env.journal.keep(PutMember(member.stored))
            self._state.env.channel_changed()
        return member if news else None

    async def _restore_settings(self, member: MemberState, session: Session) -> None:
        """Set anew what the user chose for this channel; an agent that refuses only loses the choice."""
        stored = member.stored
        steps: list[Callable[[], Awaitable[None]]] = []
        if stored.mode is not None:
            steps.append(partial(session.set_mode, stored.mode))
        if stored.model is not None:
            steps.append(partial(session.set_model, stored.model))
        steps += [partial(session.set_option, option_id, value) for option_id, value in stored.options.items()]
        for step in steps:
            try:
                await step()
            except SidekicksError as error:
                _log.warning("%s in %s: %s", stored.name, self._state.title, error.message)

    async def set_mode(self, agent: str, mode_id: str | None, model_id: str | None) -> None:
        """Set (and remember for this channel) a mode or legacy model; without a session it is set when one opens."""
        session = self.live(agent)
        if session is not None and mode_id is not None:
            await session.set_mode(mode_id)
        if session is not None and model_id is not None:
            await session.set_model(model_id)
        await self._inbox.call(self._chose, agent, mode_id, model_id, None)

    async def set_option(self, agent: str, option_id: str, value: str | bool) -> None:
        """Set (and remember for this channel) an option, as `set_mode`."""
        session = self.live(agent)
        if session is not None:
            await session.set_option(option_id, value)
        await self._inbox.call(self._chose, agent, None, None, (option_id, value))

    async def _chose(
        self, agent: str, mode_id: str | None, model_id: str | None, option: tuple[str, str | bool] | None
    ) -> None:
        member = self._state.members.get(agent)
        if member is None:
            raise SidekicksError("notMember", f"@{agent} is not a member of {self._state.title}.", {"agent": agent})
        member.stored.mode = mode_id or member.stored.mode
        member.stored.model = model_id or member.stored.model
        if option is not None:
            member.stored.options = {**member.stored.options, option[0]: option[1]}
        await self._state.env.journal.keep(PutMember(member.stored))

    def live(self, agent: str) -> Session | None:
        """The session the agent has open in its running process."""
        member = self._state.members.get(agent)
        session = self._live.get(agent)
        if member is None or session is None:
            return None
        origin = self._state.env.agents.session_origin(agent, self._state.id, None)
        return session if origin == "resumed" else None

    def forget(self, agent: str) -> None:
        """Close the agent's session here; its next prompt is fresh."""
        self._live.pop(agent, None)
        self._state.env.agents.close_session(agent, self._state.id)
        if member := self._state.members.get(agent):
            member.reset_session(None)
            member.session_root = None

    def forget_all(self) -> None:
        """Close every session of the channel."""
        for name, member in self._state.members.items():
            if member.stored.kind == "agent":
                self.forget(name)
