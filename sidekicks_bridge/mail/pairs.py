"""Pairs: two participants who write to each other; who can be written to, `tell` and `ask` (design: Verbs)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sidekicks_bridge.mail.mailbox import Waits, wait_for, with_peer
from sidekicks_bridge.mail.shown import letter, timed_out
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import Answered, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.channels.letters import Mail as Unread
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.mail.registry import Registry
    from sidekicks_bridge.mail.waking import Waking
    from sidekicks_bridge.protocol.types import Message


class PairVerbs:
    """What can be done between two."""

    def __init__(self, env: Env, directory: Directory, registry: Registry, waking: Waking, waits: Waits) -> None:
        self._env = env
        self._directory = directory
        self._registry = registry
        self._waking = waking
        self._waits = waits

    def resolve(self, caller: Caller, name: str) -> tuple[str, str]:
        """The participant of that name, as (name, kind). Raises peerNotFound, invalidParams for oneself."""
        wanted = fold(name.removeprefix("@"))
        found = [(spec.name, "agent") for spec in self._env.config().agents if fold(spec.name) == wanted]
        if not found and (peer := self._registry.live(wanted)) is not None:
            found = [(peer.name, "peer")]
        if not found:
            raise SidekicksError(
                "peerNotFound", f"Nobody is named {name!r}. `agents` lists who can be written to.", {"peer": name}
            )
        if fold(found[0][0]) == fold(caller.name):
            raise SidekicksError("invalidParams", "Nobody writes to themselves; name another peer.", {"peer": name})
        return found[0]

    async def tell(self, caller: Caller, peer: str, body: str) -> Told:
        """Write to a peer or agent."""
        target = self.resolve(caller, peer)
        await self._waking.allow(caller, _agents(target))
        channel = await self._pair(caller, target)
        message, notes = await self._waking.write(caller, channel, body, _agents(target))
        return Told(channel_id=channel.id, peer=target[0], seq=message.seq or 0, notes=notes)

    async def ask(self, caller: Caller, peer: str, body: str, patience: float) -> Answered:
        """Write, and wait for the next message from there; what was unread before it comes along."""
        target = self.resolve(caller, peer)
        await self._waking.allow(caller, _agents(target))
        with (
            self._waking.waits.edge(caller.name, target[0]),
            self._waits.waiting(caller.name, with_peer(target[0])) as wait,
        ):
            channel = await self._pair(caller, target)
            message, _ = await self._waking.write(caller, channel, body, _agents(target))
            told = message.seq or 0

            def answer(unread: list[Message]) -> int:
                for index, one in enumerate(unread):
                    if (one.seq or 0) > told and one.author.name == target[0]:
                        return index + 1
                return 0

            async def look() -> Unread | None:
                taken = await channel.letters.take(caller.name, answer, None)
                return taken if taken.messages else None

            with self._idle(caller):
                found = await wait_for(wait, patience, look)
        if found is None and patience <= 0:
            return Answered(seq=told, peer=target[0])
        if found is None:
            raise timed_out(f"@{target[0]} has not answered", {"peer": target[0], "seq": told})
        *older, last = [letter(one) for one in found.messages]
        return Answered(seq=told, peer=target[0], older=older, message=last)

    @contextmanager
    def _idle(self, caller: Caller) -> Iterator[None]:
        """While an agent waits for others it holds no slot: they may need it."""
        if caller.kind != "agent":
            yield
            return
        self._env.agents.set_waiting(caller.name, True)
        try:
            yield
        finally:
            self._env.agents.set_waiting(caller.name, False)

    async def _pair(self, caller: Caller, target: tuple[str, str]) -> Channel:
        # Always by the directory's task, also where the channel is there: what one caller sends keeps its order.
        home = self._directory.find(caller.channel_id) if caller.channel_id else None
        root = home.state.stored.root if home is not None else caller.folder
        return await self._directory.pair((caller.name, caller.kind), target, root)


def _agents(target: tuple[str, str]) -> list[str]:
    return [target[0]] if target[1] == "agent" else []
