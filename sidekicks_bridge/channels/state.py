"""What a channel holds in memory: its record, members, sequence, the recent log, queued messages, turns, watchers.

Owned by the channel's task. Answers questions about itself; does no I/O and decides nothing about turns.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.context import Limits, Utterance, beginning, build, unseen_by, utterance
from sidekicks_bridge.channels.routing import Prospect, RoutingView
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.types import Channel, Member, Usage, WaitsFor
from sidekicks_bridge.store.contract import DeleteMember, PutChannel, PutMember

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sidekicks_bridge.channels.announced import Settings
    from sidekicks_bridge.channels.env import Env, Subscriber
    from sidekicks_bridge.channels.turns import PendingTurn
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.types import Message, SessionOrigin
    from sidekicks_bridge.store.contract import Change, StoredChannel, StoredMember

LOG_MESSAGES = 200
"""How many recent messages stay in memory for context; counts of older unseen ones follow from their seq."""

LOG_CHARACTERS = 4000
"""How much of each of them stays in memory, if context does not carry more."""


@dataclass(frozen=True)
class Failure:
    """An agent's answer that failed or was interrupted and that nobody has read yet."""

    seq: int
    agent: str
    message_id: str
    text: str


@dataclass
class MemberState:
    """A member, with what its session offers (known once it has run in this bridge)."""

    stored: StoredMember
    settings: Settings | None = None
    usage: Usage | None = None
    session_root: str | None = None
    origin: SessionOrigin = "resumed"

    def reset_session(self, session_id: str | None) -> None:
        """A session that has heard nothing: everything counts as unseen (design rule 6)."""
        self.stored.session_id = session_id
        self.stored.read = max(self.stored.read, self.stored.cursor)
        self.stored.cursor = 0
        self.stored.heard = []
        self.stored.fresh = True

    def view(self, announced: Settings) -> Member:
        """The member as clients see it; ``announced``: what the agent's sessions offered before this bridge."""
        settings = self.settings or announced.chosen(self.stored)
        return Member(
            name=self.stored.name,
            kind="peer" if self.stored.kind == "peer" else "agent",
            joined_at=self.stored.joined_at,
            last_seen=self.stored.cursor,
            modes=settings.modes,
            models=settings.models,
            options=settings.options,
            usage=self.usage,
        )


class ChannelState:
    """A channel in memory."""

    def __init__(self, env: Env, stored: StoredChannel, members: Iterable[StoredMember]) -> None:
        self.env = env
        self.stored = stored
        self.members = {member.name: MemberState(member) for member in members}
        self.last_seq = 0
        self.read_mark = 0
        self.unread = 0
        self.last_message_at: str | None = None
        self.failures: list[Failure] = []
        self.queued: dict[str, Message] = {}
        self.turns: list[PendingTurn] = []
        self.subscribers: list[Subscriber] = []
        self._log: deque[Utterance] = deque()
        self._log_from = 1
        self._spoke: dict[str, int] = {}
        self.prompted: dict[str, Message] = {}
        """Each agent's last prompt here, and the letter that a peer has read since it last wrote: because of that
        message they do what they do."""

    @property
    def id(self) -> str:
        """The channel's id."""
        return self.stored.id

    @property
    def title(self) -> str:
        """How people name it: ``#general``, ``@scout``."""
        if self.stored.kind == "pair":
            return " ↔ ".join(self.stored.peers)
        return f"@{self.stored.agent}" if self.stored.kind == "direct" else f"#{self.stored.name}"

    def view(self) -> Channel:
        """The channel as clients see it."""
        stored = self.stored
        return Channel(
            id=stored.id,
            kind=stored.kind,
            name=stored.name,
            agent=stored.agent,
            peers=stored.peers,
            description=stored.description,
            root=stored.root,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
            members=[member.view(self.env.announced.settings(name)) for name, member in self.members.items()],
            unread=self.unread,
            last_message_at=self.last_message_at,
        )

    def add_member(self, member: StoredMember) -> None:
        """Make somebody a member."""
        self.members[member.name] = MemberState(member)

    def respell(self, names: Mapping[str, str]) -> list[Change]:
        """Take over how the configuration spells its agents' names (folded → as written); the changes to write.

        It is the same agent, with the same session. One that has a turn here is respelt another time.
        """
        busy = {turn.agent for turn in self.turns}
        agents = {name for name, member in self.members.items() if member.stored.kind == "agent"} - busy
        renamed = {name: names[fold(name)] for name in agents if names.get(fold(name), name) != name}
        if not renamed:
            return []
        gone = [DeleteMember(self.id, name) for name in self.members]  # all of them, so that they keep their order
        for old, new in renamed.items():
            self.members[old].stored.name = new
        self.members = {member.stored.name: member for member in self.members.values()}
        if self.stored.agent is not None:
            self.stored.agent = renamed.get(self.stored.agent, self.stored.agent)
        return [*gone, *[PutMember(member.stored) for member in self.members.values()], PutChannel(self.stored)]

    def emit(self, event: Wire, but: Subscriber | None = None) -> None:
        """Tell everybody (``but`` one) who has opened the channel; one who cannot keep up is dropped."""
        told = [subscriber for subscriber in self.subscribers if subscriber is not but]
        slow = [subscriber for subscriber in told if not subscriber.notify(event)]
        for subscriber in slow:
            self.subscribers.remove(subscriber)

    def next_seq(self) -> int:
        """The next sequence number."""
        self.last_seq += 1
        return self.last_seq

    def fill_log(self, messages: list[Message], *, complete: bool) -> None:
        """Set the recent log from the store's newest messages; ``complete``: there are none older."""
        self._log.clear()
        for message in messages:
            self._note(message)
        first = messages[0].seq if messages else None
        self._log_from = 1 if complete or first is None else first

    def remember(self, message: Message) -> None:
        """A message was finished: context, routing and mail know it from now on."""
        self._note(message)
        self.env.finished(message)

    def _note(self, message: Message) -> None:
        if message.author.kind == "agent":
            self._spoke[fold(message.author.name or "")] = message.seq or 0
        if said := utterance(message):
            while len(self._log) >= self.log_room:
                self._log_from = self._log.popleft().seq + 1
            self._log.append(beginning(said, max(LOG_CHARACTERS, self.context_limits().characters)))

    def note_failure(self, message: Message) -> None:
        """Keep a failed or interrupted answer until it was read."""
        turn, seq = message.turn, message.seq
        if turn is None or seq is None or turn.stop_reason not in ("failed", "interrupted") or seq <= self.read_mark:
            return
        why = turn.error.message.partition("\n")[0] if turn.error else "it was interrupted."
        self.failures.append(Failure(seq, message.author.name or "", message.id, why))

    @property
    def log_room(self) -> int:
        """How many recent messages are kept in memory: at least as many as context may carry."""
        return max(LOG_MESSAGES, self.context_limits().messages)

    def unseen(self, member: StoredMember | None, prompting: int | None) -> tuple[list[Utterance], int]:
        """What a session has not seen, and how many more lie before the log (None: a session yet to come)."""
        cursor, heard = (member.cursor, member.heard) if member else (0, [])
        earlier = max(0, self._log_from - 1 - cursor)
        return unseen_by(self._log, cursor, heard, prompting), earlier

    def context_limits(self) -> Limits:
        """How much context an agent gets."""
        limits = self.env.config().limits
        return Limits(limits.context_messages, limits.context_characters)

    def routing_view(self, forbidden: str | None) -> RoutingView:
        """What routing needs to know of this channel now."""
        members = [name for name, member in self.members.items() if member.stored.kind == "agent"]
        agents = [spec.name for spec in self.env.config().agents]
        return RoutingView(
            agents=[agent for agent in agents if agent in members] if self.stored.kind == "pair" else agents,
            members=members,
            prospect=self._prospect,
            direct=self.stored.agent if self.stored.kind == "direct" else None,
            peers=self.env.peers(),
            commands=self.env.announced.names(),
            last_active=self.turns[-1].agent if self.turns else self._last_author(),
            forbidden=forbidden,
        )

    def _last_author(self) -> str | None:
        """The author of the last agent message who is still a member."""
        present = [(self._spoke[fold(name)], name) for name in self.members if fold(name) in self._spoke]
        return max(present)[1] if present else None

    def _prospect(self, agent: str) -> Prospect:
        member = self.members.get(agent)
        stored_id = member.stored.session_id if member else None
        origin = self.env.agents.session_origin(agent, self.id, stored_id)
        fresh = member is None or origin == "fresh"
        unseen, earlier = self.unseen(None if fresh or member is None else member.stored, None)
        context = build(unseen, "", where=None, limits=self.context_limits(), earlier=earlier)
        waits_for = self.env.agents.waits_for(agent, self.id)
        if self.turns:
            waits_for = WaitsFor(reason="channel", channel_id=self.id, agent=self.turns[-1].agent)
        return Prospect(
            unseen=context.unseen,
            cut=context.cut,
            fresh=fresh or (member is not None and member.stored.fresh),
            waits_for=waits_for,
        )
