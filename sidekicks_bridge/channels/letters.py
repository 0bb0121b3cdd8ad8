"""Mail inside a channel: what is written by agents and peers, who is woken by it, what each member has read of it.

Lives in the channel's task. A mailbox is nothing but what lies after a member's position and was not written by that
member; who may write and who waits is decided above.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.turns import Delivery, PendingTurn
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import MessageUpdated
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.routes import Route, RouteTarget
from sidekicks_bridge.protocol.types import Message
from sidekicks_bridge.store.contract import DeleteMember, PutChannel, PutMember, PutMessage, PutTurn, StoredMember

if TYPE_CHECKING:
    from sidekicks_bridge.channels.inbox import Inbox
    from sidekicks_bridge.channels.state import ChannelState
    from sidekicks_bridge.channels.turn_flow import TurnFlow
    from sidekicks_bridge.protocol.mail import MailOrigin
    from sidekicks_bridge.protocol.types import Author

_PAGE = 200
Count = Callable[[list[Message]], int]
"""How many of the unread messages to consume; 0: not yet."""


@dataclass(frozen=True)
class Letter:
    """A message to be written. ``wakes``: the agents that get a turn for it, in order. ``notice``: code and text."""

    author: Author
    text: str
    origin: MailOrigin | None = None
    wakes: list[str] = field(default_factory=list)
    notice: tuple[str, str] | None = None


@dataclass(frozen=True)
class Mail:
    """Unread messages in order; ``dropped``: how many older ones the mailbox did not keep."""

    messages: list[Message]
    dropped: int = 0


class Letters:
    """Writes and reads mail in one channel."""

    def __init__(
        self, state: ChannelState, flow: TurnFlow, inbox: Inbox, load_log: Callable[[], Awaitable[None]]
    ) -> None:
        self._state = state
        self._flow = flow
        self._inbox = inbox
        self._load_log = load_log

    # Each of these is done by the channel's task.

    async def write(self, letter: Letter) -> Message:
        """Append what an agent or peer writes: durable when this returns. Raises storeUnavailable, notMember."""
        return await self._inbox.call(self._append, letter)

    async def join(self, name: str, kind: str, most_peers: int | None = None) -> None:
        """Make an agent or peer a member; raises roomFull when ``most_peers`` are here already."""
        await self._inbox.call(self._join, name, kind, most_peers)

    async def leave(self, name: str) -> None:
        """End a peer's membership."""
        await self._inbox.call(self._leave, name)

    async def take(self, name: str, count: Count, keep: int | None, first: int | None = None) -> Mail:
        """Consume a member's unread messages, as many as ``count`` says of them; ``keep``, ``first`` as in `unread`."""
        return await self._inbox.call(self._take, name, count, keep, first)

    async def unread(self, name: str, keep: int | None, first: int | None = None) -> Mail:
        """A member's unread messages: of a mailbox that keeps ``keep`` those, of another one at least the ``first``."""
        return await self._inbox.call(self._unread, name, keep, first)

    async def _append(self, letter: Letter) -> Message:
        """Write a letter: durable when this returns, then shown, then answered. Raises storeUnavailable, notMember."""
        await self._load_log()
        state, env = self._state, self._state.env
        name = letter.author.name
        if name is not None and name not in state.members:
            raise SidekicksError("notMember", f"@{name} is not a member of {state.title}.", {"name": name})
        message = Message(
            id=env.ids.new(),
            seq=state.next_seq(),
            channel_id=state.id,
            author=letter.author,
            parts=[TextPart(text=letter.text)],
            created_at=env.clock.now(),
            state="finished",
            mail=letter.origin,
        )
        turns = self._turns(message, letter.wakes)
        written = [message]
        if letter.notice is not None:
            written.append(self._flow.system_message(*letter.notice))
        try:
            await env.journal.write(*[PutMessage(one) for one in written], *[PutTurn(turn.stored()) for turn in turns])
        except SidekicksError:
            state.last_seq -= len(written)  # refused whole: the numbers were never given out
            raise
        if letter.author.kind == "peer":
            state.prompted.pop(letter.author.name or "", None)
        state.unread += 1
        self._show(written)
        if turns:
            state.turns += turns
            self._flow.announce()
            self._flow.advance()
        return message

    def _turns(self, message: Message, wakes: list[str]) -> list[PendingTurn]:
        """A turn for each agent that is woken; agents that have left meanwhile are not."""
        present = [agent for agent in wakes if agent in self._state.members]
        to = [RouteTarget(agent=agent, invited=False, unseen=0, cut=0, fresh=False) for agent in present]
        delivery = Delivery(message, Route(to=to), None)
        ids = self._state.env.ids
        return [PendingTurn(ids.new(), self._state.id, agent, None, delivery) for agent in present]

    def _show(self, messages: list[Message]) -> None:
        state = self._state
        for message in messages:
            state.remember(message)
            state.last_message_at = message.created_at
            state.emit(MessageUpdated(channel_id=state.id, message=message))
        state.env.channel_changed()

    async def notify(self, code: str, text: str) -> None:
        """Write a system message."""
        message = self._flow.system_message(code, text)
        await self._state.env.journal.keep(PutMessage(message))
        self._show([message])

    # ── members ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _join(self, name: str, kind: str, most_peers: int | None = None) -> None:
        """Make somebody a member: a peer's mail begins now, an agent's with the channel. Raises roomFull."""
        state, env = self._state, self._state.env
        present = state.members.get(name)
        if present is not None and present.stored.kind == kind:
            return
        peers = [member for member in state.members.values() if member.stored.kind == "peer"]
        if kind == "peer" and most_peers is not None and len(peers) >= most_peers:
            raise SidekicksError("roomFull", f"{state.title} has {most_peers} peers, as many as a room may have.")
        start = state.last_seq if kind == "peer" else 0
        member = StoredMember(
            channel_id=state.id, name=name, kind=kind, joined_at=env.clock.now(), cursor=start, read=start
        )
        projects = kind == "peer" and state.stored.kind == "named" and not state.stored.projected
        state.stored.projected = state.stored.projected or projects
        await env.journal.write(PutMember(member), PutChannel(state.stored))
        state.add_member(member)
        if projects:
            await self.notify(
                "projected",
                f"@{name} has joined by mail: {state.title} is written to the transcript (a git repository) from now.",
            )
        else:
            env.channel_changed()

    async def _leave(self, name: str) -> None:
        """End a peer's membership."""
        if self._state.members.pop(name, None) is not None:
            await self._state.env.journal.keep(DeleteMember(self._state.id, name))
            self._state.env.channel_changed()

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _unread(self, name: str, keep: int | None, first: int | None = None) -> Mail:
        member = self._member(name)
        start = position = max(member.cursor, member.read)
        mine: list[Message] = []
        more = position < self._state.last_seq
        while more:
            page = await self._state.env.store.page(self._state.id, after=position, limit=_PAGE)
            mine += [message for message in page.messages if _is_mail(message, member, start)]
            if keep is None and first is not None and len(mine) >= first:
                return Mail(mine)
            more = page.has_more
            position = page.messages[-1].seq or position if page.messages else position
        known = {message.id for message in mine}
        unsaved = [message for message in self._state.env.journal.unsaved(self._state.id) if message.id not in known]
        mine += [message for message in unsaved if _is_mail(message, member, start)]
        dropped = 0 if keep is None else max(0, len(mine) - keep)
        return Mail(mine[dropped:], dropped)

    async def _take(self, name: str, count: Count, keep: int | None, first: int | None) -> Mail:
        """Consume the first ``count(unread)`` messages, and with them what was dropped; durable when this returns."""
        unread = await self._unread(name, keep, first)
        taken = unread.messages[: count(unread.messages)] if unread.messages else []
        if not taken:
            return Mail([])
        member = self._member(name)
        upto = taken[-1].seq or 0
        if member.cursor >= member.read:
            member.cursor = max(member.cursor, upto)
        member.read = upto
        if member.kind == "peer":
            self._note_cause(name, taken)
        await self._state.env.journal.keep(PutMember(member))
        await self._drop_turns(name, {message.id for message in taken})
        return Mail(taken, unread.dropped)

    def _note_cause(self, peer: str, read: list[Message]) -> None:
        """What a peer has read since it last wrote, of that the farthest from a person: it writes because of it."""
        far = max(read, key=hops_of)
        known = self._state.prompted.get(peer)
        if hops_of(far) > (hops_of(known) if known is not None else 0):
            self._state.prompted[peer] = far

    async def _drop_turns(self, agent: str, read: set[str]) -> None:
        """What an agent has read itself it need not be prompted with: each message reaches it once."""
        turns = [turn for turn in self._state.turns if turn.agent == agent and turn.delivery.message.id in read]
        if waiting := [turn for turn in turns if not turn.begun]:
            await self._flow.cancel(waiting)

    def _member(self, name: str) -> StoredMember:
        member = self._state.members.get(name)
        if member is None:
            raise SidekicksError("notMember", f"@{name} is not a member of {self._state.title}.", {"name": name})
        return member.stored


def hops_of(message: Message) -> int:
    """How far a message is from a person: 0 if a person wrote it, or an agent to whoever gave it its turn."""
    return message.mail.hops if message.mail is not None else 0


def _is_mail(message: Message, member: StoredMember, position: int) -> bool:
    seq = message.seq or 0
    if seq <= position or seq in member.heard or message.author.kind == "system":
        return False
    return message.author.name != member.name
