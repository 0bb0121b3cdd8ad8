"""The steps of a turn: wait for the agent, begin, hand over the prompt, take what comes, finish.

Everything that changes state runs in the channel's task; only `_run` is a child task, which waits for the agent and
reports through the inbox. Lives and dies with its channel.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.agents.contract import PromptResult
from sidekicks_bridge.channels.answer import Answer, short
from sidekicks_bridge.channels.context import THE_USER, build, text_of
from sidekicks_bridge.channels.silence import Silence
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import MessageRemoved, MessageUpdated, TurnChanged
from sidekicks_bridge.protocol.parts import NoticePart
from sidekicks_bridge.protocol.requests import Prompt
from sidekicks_bridge.protocol.types import Author, Message, MessageTurn, Turn, TurnError, Usage, WaitsFor
from sidekicks_bridge.store.contract import (
    EndTurn,
    PutChannel,
    PutMember,
    PutMessage,
    PutPrompt,
    PutTurn,
    RemoveMessage,
    StoredMember,
)

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import Lease, Session
    from sidekicks_bridge.channels.inbox import Inbox
    from sidekicks_bridge.channels.permissions import OpenPermissions
    from sidekicks_bridge.channels.sessions import Sessions
    from sidekicks_bridge.channels.state import ChannelState
    from sidekicks_bridge.channels.turns import PendingTurn
    from sidekicks_bridge.protocol.types import TurnState
    from sidekicks_bridge.store.contract import Change

_log = logging.getLogger(__name__)


class TurnFlow:
    """Moves the channel's turns on, one at a time."""

    def __init__(self, state: ChannelState, inbox: Inbox, permissions: OpenPermissions, sessions: Sessions) -> None:
        self._state = state
        self._inbox = inbox
        self._permissions = permissions
        self._sessions = sessions
        self._running: PendingTurn | None = None
        sessions.tell = self.tell
        self.silence = Silence(state, inbox, permissions, self)

    @property
    def running(self) -> PendingTurn | None:
        """The turn at the head, if its agent has begun."""
        return self._running if self._running is not None and self._running.begun else None

    def views(self) -> list[Turn]:
        """The channel's turns in running order, as clients see them."""
        turns = self._state.turns
        return [turn.view(turns[index - 1] if index else None) for index, turn in enumerate(turns)]

    def announce(self) -> None:
        """Tell those who watch how the turns stand."""
        self._state.emit(TurnChanged(channel_id=self._state.id, turns=self.views()))

    def advance(self) -> None:
        """Set the next turn going, unless one is; whoever waits behind it is settled."""
        if self._running is None and self._state.turns:
            self._running = self._state.turns[0]
            self._state.env.spawn(self._run, self._running)
        for turn in self._state.turns[1:]:
            if turn.delivery is not self._state.turns[0].delivery:
                turn.delivery.settled.set()

    async def _run(self, turn: PendingTurn) -> None:
        """The child task of a turn: waits for others, changes nothing itself."""
        with turn.scope:
            try:
                async with await self._state.env.agents.lease(
                    turn.agent, self._state.id, lambda waits_for: self._inbox.cast(self._waits, turn, waits_for)
                ) as lease:
                    await self._inbox.call(self._begin, turn)
                    result = await self._converse(turn, lease)
                    await self._report(turn, result, None)
            except SidekicksError as error:
                if error.code != "shuttingDown":
                    await self._report(turn, None, error)
            except Exception as bug:  # a child task's failure is contained: the turn fails, the channel goes on
                _log.exception("turn %s of %s", turn.id, turn.agent)
                failure = SidekicksError("turnFailed", f"A bug in the bridge ended this turn ({type(bug).__name__}).")
                await self._report(turn, None, failure)
        if turn.scope.cancelled_caught:
            await self._report(turn, PromptResult("cancelled"), None)
        self._inbox.cast(self.advance)  # only now: the lease has been given back

    async def _report(self, turn: PendingTurn, result: PromptResult | None, error: SidekicksError | None) -> None:
        """Have the turn finished; a channel that was closed meanwhile has done so itself."""
        await self._inbox.call_if_open(self._finish, turn, result, error)

    async def _converse(self, turn: PendingTurn, lease: Lease) -> PromptResult:
        session = await self._sessions.open(turn.agent, lease, turn.delivery.folder)
        blocks = await self._inbox.call(self._hand_over, turn, session)
        try:
            return await session.prompt(blocks)
        except SidekicksError as error:
            if turn.cancelled or not _never_heard(error, turn):
                raise
        # Once more, in another session.
        session = await self._sessions.open(turn.agent, lease, turn.delivery.folder)
        if session.origin == "fresh":
            blocks = await self._inbox.call(self._hand_over, turn, session)
        turn.session = session
        return await session.prompt(blocks)

    def _waits(self, turn: PendingTurn, waits_for: WaitsFor | None) -> None:
        if turn in self._state.turns and not turn.begun:
            turn.waits_for = waits_for
            turn.delivery.settled.set()
            self.announce()

    async def _begin(self, turn: PendingTurn) -> None:
        """The agent is free for this turn: a message whose first turn this is enters the log (design rules 2, 4)."""
        if turn.scope.cancel_called:
            return
        state, env = self._state, self._state.env
        now = env.clock.now()
        changes: list[Change] = []
        events: list[Message] = []
        if turn.delivery.message.seq is None:
            entered = self._enter_log(turn, now)
            events += entered
            changes += [PutMessage(message) for message in entered]
            changes += [PutMember(member.stored) for member in state.members.values()]
            changes.append(self._touched(now))
        turn.started_at = now
        turn.state, turn.waits_for = "starting", None
        turn.answer = self.new_answer(turn.agent, turn.delivery.message.id, MessageTurn(id=turn.id, started_at=now))
        await env.journal.keep(*changes, PutTurn(turn.stored()))
        for message in events:
            state.emit(MessageUpdated(channel_id=state.id, message=message))
        state.emit(MessageUpdated(channel_id=state.id, message=turn.answer.short_message()))
        self.announce()
        if events:
            env.channel_changed()
        turn.delivery.settled.set()

    def _enter_log(self, turn: PendingTurn, now: str) -> list[Message]:
        """The user's message gets its seq; mentioned agents who are no members are invited, and the channel says so."""
        state = self._state
        message = turn.delivery.message
        state.queued.pop(message.id, None)
        message.seq, message.state = state.next_seq(), "finished"
        state.remember(message)
        state.last_message_at = message.created_at
        entered = [message]
        for target in turn.delivery.route.to:
            if target.agent not in state.members and state.stored.kind == "named":
                state.add_member(StoredMember(channel_id=state.id, name=target.agent, joined_at=now))
                entered.append(self.system_message("invited", f"@{target.agent} was invited to {state.title}."))
        return entered

    def system_message(self, code: str, text: str, suggestion: str | None = None) -> Message:
        """A finished system message at the end of the log; the caller writes and emits it."""
        state, env = self._state, self._state.env
        return Message(
            id=env.ids.new(),
            seq=state.next_seq(),
            channel_id=state.id,
            author=Author(kind="system"),
            parts=[NoticePart(code=code, text=text, suggestion=suggestion)],
            created_at=env.clock.now(),
            state="finished",
        )

    async def tell(self, code: str, text: str) -> None:
        """A system message, now."""
        message = self.system_message(code, text)
        self._state.remember(message)
        await self._state.env.journal.keep(PutMessage(message))
        self._state.emit(MessageUpdated(channel_id=self._state.id, message=message))

    def new_answer(self, agent: str, in_reply_to: str | None, turn: MessageTurn) -> Answer:
        """A streaming message of ``agent``."""
        env = self._state.env
        titles = [spec.title for spec in env.config().agents if spec.name == agent]
        return Answer(
            Message(
                id=env.ids.new(),
                channel_id=self._state.id,
                author=Author(kind="agent", name=agent),
                parts=[],
                created_at=env.clock.now(),
                state="streaming",
                turn=turn,
                in_reply_to=in_reply_to,
            ),
            [agent, *titles],
        )

    async def _hand_over(self, turn: PendingTurn, session: Session) -> list[dict[str, Any]]:
        """The prompt, as it is now: context up to the last message that exists; the cursor moves there."""
        state, env = self._state, self._state.env
        if turn.scope.cancel_called:
            return []
        present = state.members[turn.agent]
        member = present.stored
        message = turn.delivery.message
        state.prompted[turn.agent] = message
        if turn.command is None:
            unseen, earlier = state.unseen(member, message.seq)
            to_come = {other.delivery.message.seq for other in state.turns if other.agent == turn.agent}
            context = build(
                [said for said in unseen if said.seq not in to_come],
                text_of(message.parts),
                where=state.stored.name if state.stored.kind == "named" else None,
                limits=state.context_limits(),
                earlier=earlier,
                writer=_writer(message),
            )
            text, shown, cut = context.text, context.unseen, context.cut
        else:
            text, shown, cut = turn.command, 0, 0
        blocks = session.blocks(text, message.attachments)
        origin = "fresh" if member.fresh else present.origin
        present.origin = "resumed"
        turn.before = (member.cursor, member.heard, member.fresh)
        if turn.command is None:
            member.cursor, member.heard, member.fresh = state.last_seq, [], False
        elif message.seq is not None:
            member.heard = [*member.heard, message.seq]
        assert turn.answer is not None
        prompt = Prompt(blocks=blocks, session=origin, unseen=shown, cut=cut)
        await env.journal.keep(PutMember(member), PutPrompt(turn.answer.message.id, env.clock.now(), prompt))
        if turn.session is None:
            env.spawn(self.silence.watch, turn)
        turn.session = session
        self.set_state(turn, "thinking")
        if turn.command is None:
            env.channel_changed()  # the cursor moved
        return blocks

    def set_state(self, turn: PendingTurn, now: TurnState) -> None:
        """Show what the turn is doing, if it changed."""
        if turn.state != now and (turn.state != "cancelling" or not turn.cancelled):
            turn.state = now
            self.announce()

    async def _finish(self, turn: PendingTurn, result: PromptResult | None, error: SidekicksError | None) -> None:
        """A turn ended, however it did: its message is finished, stored, and the next turn begins."""
        if turn not in self._state.turns:
            return
        if turn.answer is None:
            await self._begin(turn)
        assert turn.answer is not None
        if result is not None and not result.sent:
            self._take_back(turn)
        reason = "cancelled" if turn.cancelled else result.stop_reason if result else "failed"
        failure = None if error is None or turn.cancelled else TurnError(code=error.code, message=error.message)
        if failure is not None and failure.code == "agentAuthRequired":
            turn.answer.add_notice("authRequired", f"@{turn.agent} wants you to sign in.")
        await self.end(turn, reason, failure, result.usage if result else None)
        if error is not None and error.code == "agentAuthRequired":
            self._state.env.auth_required(turn.agent, self._state.id, turn.answer.message.id, error)

    def _take_back(self, turn: PendingTurn) -> None:
        """The prompt that was handed over never left (it was cancelled just then): its session has seen nothing new."""
        member = self._state.members.get(turn.agent)
        session = turn.session
        if member is not None and session is not None and turn.before and member.stored.session_id == session.id:
            member.stored.cursor, member.stored.heard, member.stored.fresh = turn.before

    async def end(self, turn: PendingTurn, reason: str, failure: TurnError | None, usage: Usage | None = None) -> None:
        """Finish the turn's message; in the same step the turn leaves the list."""
        answer = turn.answer
        assert answer is not None
        for delta in answer.flush():
            self._state.emit(delta)
        self._permissions.cancel_all(answer)
        answer.end_tools(reason)
        if not answer.has_text and failure is None:
            answer.add_notice("noText", _no_text(turn.agent, reason))
        message_turn = answer.message.turn
        assert message_turn is not None
        message_turn.stop_reason, message_turn.error = reason, failure
        message_turn.usage = usage or turn.usage
        await self.finish_message(answer, turn)

    async def finish_message(self, answer: Answer, turn: PendingTurn | None) -> None:
        """Give a streamed message its seq, store it and say so."""
        state, env = self._state, self._state.env
        message = answer.message
        now = env.clock.now()
        message.seq, message.state = state.next_seq(), "finished"
        if message.turn is not None:
            message.turn.ended_at = now
        changes: list[Change] = [PutMessage(message), self._touched(now)]
        member = state.members.get(message.author.name or "")
        if member is not None:
            member.stored.heard = [*member.stored.heard, message.seq]
            changes.append(PutMember(member.stored))
        if turn is not None:
            changes.append(EndTurn(turn.id))
        state.remember(message)
        await env.journal.keep(*changes)
        state.unread += 1
        state.note_failure(message)
        state.last_message_at = message.created_at
        state.emit(MessageUpdated(channel_id=state.id, message=short(message)))
        if turn is not None:
            self._leave(turn)
            self.announce()
        env.channel_changed()

    def _leave(self, turn: PendingTurn) -> None:
        self._state.turns.remove(turn)
        turn.over.set()
        if self._running is turn:
            self._running = None

    async def cancel(self, turns: list[PendingTurn]) -> None:
        """Cancel turns: one that runs is told, queued ones disappear without their agents hearing of it."""
        waiting = [turn for turn in turns if not turn.begun]
        for turn in turns:
            turn.cancelled = True
            if turn.session is not None:
                turn.state = "cancelling"
                turn.session.cancel()
                if turn.answer is not None:  # now: an answer that comes next is too late, as the agent has been told
                    self._permissions.cancel_all(turn.answer)
                self.announce()
            else:
                turn.scope.cancel()
        await self._drop_queued(waiting)

    async def _drop_queued(self, turns: list[PendingTurn]) -> None:
        """Take queued turns away; a message none of whose turns is left, and that never began, goes with them."""
        if not turns:
            return
        changes: list[Change] = []
        for turn in turns:
            self._leave(turn)
            changes.append(EndTurn(turn.id))
            turn.delivery.settled.set()
        for message in {turn.delivery.message.id: turn.delivery.message for turn in turns}.values():
            if message.seq is None and not any(turn.delivery.message is message for turn in self._state.turns):
                self._state.queued.pop(message.id, None)
                changes.append(RemoveMessage(message.id))
                self._state.emit(MessageRemoved(channel_id=self._state.id, message_id=message.id))
        await self._state.env.journal.keep(*changes)
        self.announce()
        self.advance()

    async def interrupt(self) -> None:
        """The bridge stops: what streams is kept as far as it came; queued turns stay as they are."""
        for turn in [turn for turn in self._state.turns if turn.begun]:
            assert turn.answer is not None
            turn.answer.add_notice("interrupted", f"The bridge stopped while @{turn.agent} was answering.")
            await self.end(turn, "interrupted", None)

    def _touched(self, now: str) -> PutChannel:
        self._state.stored.updated_at = now
        return PutChannel(self._state.stored)


def _writer(message: Message) -> str:
    """Who a prompt's text is from, as its frame says it (design: Mentions)."""
    return f"{message.author.name} (not the user)" if message.author.kind in ("agent", "peer") else THE_USER


def _never_heard(error: SidekicksError, turn: PendingTurn) -> bool:
    """Whether the agent cannot have heard the prompt: it had lost the session, or had just ended by itself."""
    if error.code == "agentExited":
        return error.details.get("exitCode") == 0 and turn.answer is not None and not turn.answer.message.parts
    return error.details.get("sessionGone") is True


def _no_text(agent: str, reason: str) -> str:
    if reason == "cancelled":
        return f"@{agent} was stopped before it said anything."
    return f"@{agent} ended its turn without saying anything."
