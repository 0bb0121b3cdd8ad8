"""The ACP sessions of a channel's members: which root, which stored id, what the user set (design rules 6 and 13)."""

from __future__ import annotations

import logging
from copy import copy
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
    from sidekicks_bridge.store.contract import StoredMember

_log = logging.getLogger(__name__)


class Sessions:
    """Opens sessions and remembers them with the membership."""

    def __init__(self, state: ChannelState, inbox: Inbox) -> None:
        self._state = state
        self._inbox = inbox
        self._live: dict[str, Session] = {}
        self._picked: set[str] = set()
        self.tell: Callable[[str, str], Awaitable[None]] = self._untold

    async def _untold(self, _code: str, text: str) -> None:
        _log.warning("%s: %s", self._state.title, text)

    async def open(self, agent: str, lease: Lease, folder: str | None) -> Session:
        """The member's session, opened if need be; runs in the task of a turn (or of *prepare*)."""
        root = self._state.stored.root or folder or str(Path.home())
        stored_id = await self._inbox.call(self._before, agent, root)
        session = await lease.session(root, stored_id)
        self._state.env.auth_settled(agent)
        chosen = await self._inbox.call(self._opened, agent, session, root)
        if chosen is not None:
            await self._restore_settings(chosen, session)
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

    async def _opened(self, agent: str, session: Session, root: str) -> StoredMember | None:
        """Note the session; what the user chose so far if it was not already in use. A new one has heard nothing."""
        member = self._member(agent)
        news = self._live.get(agent) is not session
        if agent in self._picked:
            self._picked.discard(agent)
            if session.origin == "fresh":
                text = f"@{agent} could not go on with the session you picked; this one is new."
                self._state.env.spawn(self._inbox.call, self.tell, "settings", text)
        self._live[agent] = session
        member.session_root = root
        if news:
            member.origin = session.origin
            if session.origin == "fresh":
                member.reset_session(session.id)
            member.stored.session_id = session.id
            await self._state.env.journal.keep(PutMember(member.stored))
            self._state.env.channel_changed()
        return copy(member.stored) if news else None  # what is chosen from now on goes to the session itself

    async def _restore_settings(self, stored: StoredMember, session: Session) -> None:
        """Set anew what the user chose for this channel; what the agent refuses is said, and the turn goes on.

        A choice that it no longer offers is forgotten.
        """
        steps: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        if stored.mode is not None:
            steps.append(("mode", partial(session.set_mode, stored.mode)))
        if stored.model is not None:
            steps.append(("model", partial(session.set_model, stored.model)))
        steps += [(name, partial(session.set_option, name, value)) for name, value in stored.options.items()]
        for what, step in steps:
            try:
                await step()
            except SidekicksError as error:
                if error.code == "agentExited":
                    raise
                await self._inbox.call(self._refused, stored.name, what, error)

    async def _refused(self, agent: str, what: str, error: SidekicksError) -> None:
        stored = self._member(agent).stored
        if error.code == "invalidParams":
            stored.mode = None if what == "mode" else stored.mode
            stored.model = None if what == "model" else stored.model
            stored.options = {name: value for name, value in stored.options.items() if name != what}
            await self._state.env.journal.keep(PutMember(stored))
        await self.tell("settings", f"Your choice of {what} for @{stored.name} was not taken: {error.message}")

    async def set_mode(self, agent: str, mode_id: str | None, model_id: str | None) -> None:
        """Set (and remember for this channel) a mode or legacy model; without a session it is set when one opens."""

        async def apply(session: Session) -> None:
            if mode_id is not None:
                await session.set_mode(mode_id)
            if model_id is not None:
                await session.set_model(model_id)

        await self._choose(agent, apply, mode_id, model_id, None)

    async def set_option(self, agent: str, option_id: str, value: str | bool) -> None:
        """Set (and remember for this channel) an option, as `set_mode`."""
        await self._choose(agent, lambda session: session.set_option(option_id, value), None, None, (option_id, value))

    async def _choose(
        self,
        agent: str,
        apply: Callable[[Session], Awaitable[None]],
        mode_id: str | None,
        model_id: str | None,
        option: tuple[str, str | bool] | None,
    ) -> None:
        """Apply a choice to the open session, then remember it; one that opens meanwhile gets it, too."""
        session = self.live(agent)
        if session is not None:
            await apply(session)
        opened = await self._inbox.call(self._chose, agent, mode_id, model_id, option)
        if session is None and opened is not None:
            await apply(opened)

    async def _chose(
        self, agent: str, mode_id: str | None, model_id: str | None, option: tuple[str, str | bool] | None
    ) -> Session | None:
        """Remember a choice; the session that was opened without it."""
        member = self._state.members.get(agent)
        if member is None:
            raise SidekicksError("notMember", f"@{agent} is not a member of {self._state.title}.", {"agent": agent})
        member.stored.mode = mode_id or member.stored.mode
        member.stored.model = model_id or member.stored.model
        if option is not None:
            member.stored.options = {**member.stored.options, option[0]: option[1]}
        await self._state.env.journal.keep(PutMember(member.stored))
        return self.live(agent)

    def live(self, agent: str) -> Session | None:
        """The session the agent has open in its running process."""
        session = self._live.get(agent)
        return session if agent in self._state.members and session is not None and session.live else None

    async def pick_up(self, agent: str, session_id: str) -> None:
        """The next prompt goes on with a session that the agent remembers; it has not seen this channel."""
        await self._inbox.call(self._pick_up, agent, session_id)

    async def _pick_up(self, agent: str, session_id: str) -> None:
        self.forget(agent)
        member = self._state.members[agent]
        member.reset_session(session_id)
        member.stored.fresh = False
        self._picked.add(agent)
        await self._state.env.journal.keep(PutMember(member.stored))
        self._state.env.channel_changed()

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
