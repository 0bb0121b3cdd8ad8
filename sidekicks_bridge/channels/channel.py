"""A channel: one task that owns everything about one conversation. Requests and agents' updates reach it by its inbox.

What a turn does is `turn_flow`, who answers is `routing`, what is held is `state`; here is what can be asked of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.channels.answer import short
from sidekicks_bridge.channels.context import text_of
from sidekicks_bridge.channels.inbox import Inbox
from sidekicks_bridge.channels.letters import Letters
from sidekicks_bridge.channels.permissions import OpenPermissions
from sidekicks_bridge.channels.routing import explain
from sidekicks_bridge.channels.sent import SentTokens
from sidekicks_bridge.channels.sessions import Sessions
from sidekicks_bridge.channels.state import ChannelState
from sidekicks_bridge.channels.turn_flow import TurnFlow
from sidekicks_bridge.channels.turns import Delivery, PendingTurn
from sidekicks_bridge.channels.voices import Voices
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import MessageUpdated
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import MessagePage, OpenedChannel
from sidekicks_bridge.protocol.types import Author, Message
from sidekicks_bridge.store.contract import DeleteChannel, DeleteMember, PutMessage, PutTurn

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from sidekicks_bridge.agents.contract import ElicitationAsk, PermissionAsk, SessionUpdate
    from sidekicks_bridge.channels.env import Env, Subscriber
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.routes import Route
    from sidekicks_bridge.protocol.types import Attachment, Permission, Turn
    from sidekicks_bridge.store.contract import PutValue, StoredChannel, StoredMember


class Channel:
    """One conversation. Public methods may be called from anywhere on the loop."""

    def __init__(self, env: Env, stored: StoredChannel, members: list[StoredMember]) -> None:
        self.state = ChannelState(env, stored, members)
        self.inbox = Inbox()
        self.permissions = OpenPermissions(self.state)
        self.sessions = Sessions(self.state, self.inbox)
        self.flow = TurnFlow(self.state, self.inbox, self.permissions, self.sessions)
        self.voices = Voices(self.state, self.flow, self.permissions)
        self.letters = Letters(self.state, self.flow, self.inbox, self._load_log)
        self.sent = SentTokens(env.store, self.id)
        self._log_loaded = False

    @property
    def id(self) -> str:
        """The channel's id."""
        return self.state.id

    async def run(self) -> None:
        """The channel's task."""
        await self.inbox.serve(self.voices.patience, self.voices.end_late)

    async def open(self, limit: int, subscriber: Subscriber, answer: Callable[[OpenedChannel], None]) -> None:
        """Subscribe a client. ``answer`` gets the snapshot in the same step, so that every later event follows it."""
        await self.inbox.call(self._open, limit, subscriber, answer)

    async def _open(self, limit: int, subscriber: Subscriber, answer: Callable[[OpenedChannel], None]) -> None:
        page = await self.page(None, None, limit)
        answer(
            OpenedChannel(
                channel=self.state.view(),
                messages=page.messages,
                has_more=page.has_more,
                turns=self.flow.views(),
                permissions=self.permissions.all(),
            )
        )
        if subscriber not in self.state.subscribers:
            self.state.subscribers.append(subscriber)

    def close(self, subscriber: Subscriber) -> None:
        """Unsubscribe a client."""
        self.inbox.cast(self._close, subscriber)

    def _close(self, subscriber: Subscriber) -> None:
        if subscriber in self.state.subscribers:
            self.state.subscribers.remove(subscriber)

    def tell_others(self, event: Wire, client: Subscriber) -> None:
        """Tell everybody who has opened the channel but the one that caused the event."""
        self.inbox.cast(self.state.emit, event, client)

    async def mark_read(self, seq: int) -> int | None:
        """Move the read mark to ``seq``, or as far as there is something to read; None if it is there already."""
        return await self.inbox.call(self._mark_read, seq)

    async def _mark_read(self, seq: int) -> int | None:
        state = self.state
        seq = min(seq, state.last_seq)
        if seq <= state.read_mark:
            return None
        state.read_mark = seq
        state.unread = await state.env.store.unread(self.id, seq)
        state.failures = [failure for failure in state.failures if failure.seq > seq]
        return seq

    async def page(self, before: int | None, after: int | None, limit: int) -> MessagePage:
        """A page of messages; the newest page ends with the unfinished ones."""
        state = self.state
        page = await state.env.store.page(self.id, before=before, after=after, limit=limit)
        messages = page.messages
        if before is None:
            known = {message.id for message in messages}
            messages = messages + [
                short(message) for message in state.env.journal.unsaved(self.id) if message.id not in known
            ]
        if before is None and not (after is not None and page.has_more):
            messages = messages + self._unfinished()
        return MessagePage(messages=messages, has_more=page.has_more)

    def _unfinished(self) -> list[Message]:
        """What streams, then what is queued, each by id."""
        answers = [turn.answer for turn in self.state.turns if turn.answer is not None]
        streaming = [answer.short_message() for answer in answers + self.voices.late_answers()]
        return sorted(streaming, key=lambda message: message.id) + list(self.state.queued.values())

    def streaming(self, message_id: str) -> Message | None:
        """A message that streams here, whole."""
        answers = [turn.answer for turn in self.state.turns if turn.answer is not None] + self.voices.late_answers()
        return next((answer.message for answer in answers if answer.message.id == message_id), None)

    def turns(self) -> list[Turn]:
        """All turns of the channel, in running order."""
        return self.flow.views()

    def open_permissions(self) -> list[Permission]:
        """The questions that wait here."""
        return self.permissions.all()

    async def preview(self, text: str, forbidden: str | None, *, attached: bool = False) -> Route:
        """Where ``text`` would go; starts nobody."""
        return await self.inbox.call(self._preview, text, forbidden, attached)

    async def _preview(self, text: str, forbidden: str | None, attached: bool) -> Route:
        await self._load_log()
        return explain(text, self.state.routing_view(forbidden), attached=attached)

    async def send(
        self,
        text: str,
        attachments: list[Attachment],
        *,
        token: str | None,
        folder: str | None,
        forbidden: str | None,
    ) -> Delivery:
        """Accept a user's message; returns when its first turn has begun, or waits, or it goes to nobody."""
        delivery = await self.inbox.call(self._accept, text, attachments, token, folder, forbidden)
        await delivery.settled.wait()
        return delivery

    async def _accept(
        self, text: str, attachments: list[Attachment], token: str | None, folder: str | None, forbidden: str | None
    ) -> Delivery:
        if token is not None and (known := await self._sent_before(token)):
            return known
        await self._load_log()
        state, env = self.state, self.state.env
        route = explain(text, state.routing_view(forbidden), attached=bool(attachments))
        message = Message(
            id=env.ids.new(),
            channel_id=self.id,
            author=Author(kind="user"),
            parts=[TextPart(text=text)],
            created_at=env.clock.now(),
            state="queued",
            attachments=attachments,
        )
        delivery = Delivery(message, route, folder)
        remember = [] if token is None else [await self.sent.note(token, message.id)]
        if route.to:
            await self._queue(delivery, token, remember)
        else:
            await self._store_unanswered(delivery, token, remember)
        if token is not None:
            self.sent.accepted(token, delivery)
        return delivery

    async def _sent_before(self, token: str) -> Delivery | None:
        """What the token was sent with: by this bridge, or by one before it; None if that is gone without trace."""
        if delivery := self.sent.delivery(token):
            return delivery
        message_id = await self.sent.message_id(token)
        message = await self.state.env.store.message(message_id) if message_id is not None else None
        if message is None:
            return None
        await self._load_log()
        delivery = Delivery(message, self._route_of(message), None)
        delivery.settled.set()
        return delivery

    async def _queue(self, delivery: Delivery, token: str | None, remember: list[PutValue]) -> None:
        state, env = self.state, self.state.env
        turns = [
            PendingTurn(env.ids.new(), self.id, target.agent, target.command, delivery) for target in delivery.route.to
        ]
        await env.journal.write(PutMessage(delivery.message), *[PutTurn(turn.stored()) for turn in turns], *remember)
        await self.voices.end_late()
        state.queued[delivery.message.id] = delivery.message
        state.turns += turns
        state.emit(MessageUpdated(channel_id=self.id, message=delivery.message, client_token=token))
        self.flow.announce()
        self.flow.advance()

    async def _store_unanswered(self, delivery: Delivery, token: str | None, remember: list[PutValue]) -> None:
        """Nobody answers: the message is in the log at once, with one system message that carries the problem."""
        state, env = self.state, self.state.env
        message, problem = delivery.message, delivery.route.problem
        message.seq, message.state = state.next_seq(), "finished"
        told = [message]
        if problem is not None:
            told.append(self.flow.system_message(problem.code, problem.text, problem.suggestion))
        try:
            await env.journal.write(*[PutMessage(one) for one in told], *remember)
        except SidekicksError:
            state.last_seq -= len(told)  # refused whole: the seqs were never given out
            raise
        for one in told:
            state.remember(one)
            mine = token if one is message else None
            state.emit(MessageUpdated(channel_id=self.id, message=one, client_token=mine))
        state.last_message_at = message.created_at
        env.channel_changed()
        delivery.settled.set()

    async def _load_log(self) -> None:
        if not self._log_loaded:
            page = await self.state.env.store.page(self.id, limit=self.state.log_room)
            self.state.fill_log(page.messages, complete=not page.has_more)
            self._log_loaded = True

    async def retry(self, message: Message, folder: str | None = None) -> None:
        """Prompt the agent of an answer that did not end as it should anew, with the same user's message."""
        await self.inbox.call(self._retry, message, folder)

    async def _retry(self, answer: Message, folder: str | None) -> None:
        env = self.state.env
        asked = await env.store.message(answer.in_reply_to) if answer.in_reply_to else None
        agent = answer.author.name
        if asked is None or agent is None or answer.turn is None or answer.author.kind != "agent":
            raise SidekicksError("messageNotFound", "Only an agent's answer to a message can be tried again.")
        if answer.turn.stop_reason == "end_turn":
            raise SidekicksError("invalidParams", f"@{agent} answered that in full. Write again instead.")
        if any(turn.agent == agent and turn.delivery.message.id == asked.id for turn in self.state.turns):
            return  # it is being tried again
        if agent not in self.state.members:
            raise SidekicksError("notMember", f"@{agent} is no longer a member of {self.state.title}.")
        await self._load_log()
        route = self._route_of(asked)
        command = next((target.command for target in route.to if target.agent == agent), None)
        command = command if asked.author.kind == "user" else None  # what comes by mail is never a command
        delivery = Delivery(asked, route, folder)
        turn = PendingTurn(env.ids.new(), self.id, agent, command, delivery)
        await env.journal.write(PutTurn(turn.stored()))
        self.state.turns.append(turn)
        self.flow.announce()
        self.flow.advance()

    def _route_of(self, message: Message) -> Route:
        """Where a message would go if it were sent now."""
        view = self.state.routing_view(None)
        return explain(text_of(message.parts), view, attached=bool(message.attachments))

    async def cancel(self, turn_id: str | None) -> None:
        """Cancel one turn; without an id the running one and the rest of its message."""
        await self.inbox.call(self._cancel, turn_id)

    async def _cancel(self, turn_id: str | None) -> None:
        turns = self.state.turns
        if turn_id is not None:
            chosen = [turn for turn in turns if turn.id == turn_id]
        else:
            chosen = [turn for turn in turns if turn.delivery is turns[0].delivery]
        await self.flow.cancel(chosen)

    async def remove_queued(self, message_id: str) -> bool:
        """Remove a queued message without trace; False when it is not queued (any more)."""
        return await self.inbox.call(self._remove_queued, message_id)

    async def _remove_queued(self, message_id: str) -> bool:
        if message_id not in self.state.queued:
            return False
        await self.flow.cancel([turn for turn in self.state.turns if turn.delivery.message.id == message_id])
        return True

    async def answer_permission(self, request_id: str, option_id: str | None) -> bool:
        """Answer a question; False: too late."""
        return await self.inbox.call(self._answer_permission, request_id, option_id)

    async def _answer_permission(self, request_id: str, option_id: str | None) -> bool:
        accepted = self.permissions.answer(request_id, option_id)
        self._asked_no_more()
        return accepted

    async def answer_elicitation(
        self, request_id: str, action: Literal["accept", "decline", "cancel"], content: dict[str, Any]
    ) -> bool:
        """Give what an agent asked for, or not; False: too late."""
        return await self.inbox.call(self._answer_elicitation, request_id, action, content)

    async def _answer_elicitation(
        self, request_id: str, action: Literal["accept", "decline", "cancel"], content: dict[str, Any]
    ) -> bool:
        accepted = self.permissions.forms.answer(request_id, action, content)
        self._asked_no_more()
        return accepted

    def _asked_no_more(self) -> None:
        """A question is over: without another one the turn goes on."""
        running = self.flow.running
        if running is None or running.answer is None or running.state != "awaitingPermission":
            return
        if not self.permissions.waiting(running.answer):
            self.flow.set_state(running, "tool")

    async def delete(self) -> None:
        """End, with every turn and question here, and delete the history. Raises storeUnavailable."""
        await self.inbox.call(self._delete)

    async def _delete(self) -> None:
        await self.flow.cancel(list(self.state.turns))
        self.permissions.cancel_every()
        # In the channel's own step, so that nothing of it is written after this.
        await self.state.env.journal.write(DeleteChannel(self.id), self.sent.forget())
        self.sessions.forget_all()
        self._end(SidekicksError("channelNotFound", f"{self.state.title} was deleted.", {"channelId": self.id}))

    async def end_turns_of(self, agent: str) -> None:
        """Cancel every turn of an agent here: it was stopped. A channel that was deleted meanwhile has none."""
        await self.inbox.call_if_open(self._end_turns_of, agent)

    async def _end_turns_of(self, agent: str) -> None:
        await self.flow.cancel([turn for turn in self.state.turns if turn.agent == agent])

    async def remove(self, agent: str) -> None:
        """End a membership: the agent's turns here are cancelled, its session closed."""
        await self.inbox.call(self._remove, agent)

    async def _remove(self, agent: str) -> None:
        await self._end_turns_of(agent)
        self.sessions.forget(agent)
        self.state.members.pop(agent, None)
        await self.state.env.journal.keep(DeleteMember(self.id, agent))
        self.state.env.channel_changed()

    def update(self, agent: str, update: SessionUpdate) -> None:
        """An agent's session here said something."""
        self.inbox.cast(self.voices.update, agent, update)

    def permission_asked(self, ask: PermissionAsk) -> None:
        """An agent asks for permission here."""
        self.inbox.cast(self.voices.permission_asked, ask)

    def elicitation_asked(self, ask: ElicitationAsk) -> None:
        """An agent asks the user for something here."""
        self.inbox.cast(self.voices.elicitation_asked, ask)

    def elicitation_withdrawn(self, ask: ElicitationAsk) -> None:
        """That is void."""
        self.inbox.cast(self._withdraw_form, ask)

    def _withdraw_form(self, ask: ElicitationAsk) -> None:
        self.permissions.forms.withdraw(ask)
        self._asked_no_more()

    def permission_withdrawn(self, ask: PermissionAsk) -> None:
        """A question is void."""
        self.inbox.cast(self._withdraw, ask)

    def _withdraw(self, ask: PermissionAsk) -> None:
        self.permissions.withdraw(ask)
        self._asked_no_more()

    async def interrupt(self) -> None:
        """The bridge stops: keep what streams, marked interrupted, then take no more."""
        await self.inbox.call_if_open(self._interrupt)
        self._end(SidekicksError("shuttingDown", "The bridge is stopping."))

    def _end(self, why: SidekicksError) -> None:
        """Take no more."""
        self.inbox.close(why)
        for turn in self.state.turns:
            turn.over.set()

    async def _interrupt(self) -> None:
        await self.voices.end_late(asking=True)
        await self.flow.interrupt()
