"""What agents of a channel ask the user for, while it is open. Lives in the channel's task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sidekicks_bridge.protocol.events import ElicitationResolved
from sidekicks_bridge.protocol.types import Elicitation

if TYPE_CHECKING:
    from sidekicks_bridge.agents.contract import ElicitationAsk
    from sidekicks_bridge.channels.answer import Answer
    from sidekicks_bridge.channels.state import ChannelState

Outcome = Literal["accepted", "declined", "cancelled"]
_OUTCOMES: dict[str, Outcome] = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}


_DONE: dict[Outcome, str] = {"accepted": "done", "declined": "declined", "cancelled": "not answered"}


def trace(asked: Elicitation, outcome: Outcome) -> str:
    """What stays of it in the history, as a sentence: who asked what and what came of it, never what was filled in."""
    what = f"to open {asked.url}: {asked.message}" if asked.url else f"for {_titles(asked)}: {asked.message}"
    return f"@{asked.agent} asked {what} ({_DONE[outcome]})"


def _titles(asked: Elicitation) -> str:
    return ", ".join(field.title for field in asked.fields) or "a confirmation"


class OpenElicitations:
    """The open ones, in the order they came; each belongs to the answer that streamed when it came."""

    def __init__(self, state: ChannelState) -> None:
        self._state = state
        self._open: dict[str, tuple[Elicitation, ElicitationAsk, Answer]] = {}

    def all(self) -> list[Elicitation]:
        """The open ones."""
        return [asked for asked, _, _ in self._open.values()]

    def ask(self, ask: ElicitationAsk, answer: Answer) -> None:
        """Announce one."""
        env = self._state.env
        asked = Elicitation(
            request_id=env.ids.new(),
            channel_id=self._state.id,
            agent=ask.agent,
            mode="form" if ask.url is None else "url",
            message=ask.message,
            fields=ask.fields,
            url=ask.url,
            requested_at=env.clock.now(),
        )
        self._open[asked.request_id] = (asked, ask, answer)
        env.to_all(asked)

    def answer(self, request_id: str, action: Literal["accept", "decline", "cancel"], content: dict[str, Any]) -> bool:
        """Take an answer. False: too late. Raises invalidParams for content that does not fit; the form stays."""
        if request_id not in self._open:
            return False
        self._open[request_id][1].answer(action, content)
        self._close(request_id, _OUTCOMES[action])
        return True

    def withdraw(self, ask: ElicitationAsk) -> None:
        """It became void."""
        for request_id, (_, open_ask, _) in list(self._open.items()):
            if open_ask is ask:
                self._close(request_id, "cancelled")

    def cancel_all(self, answer: Answer) -> None:
        """The message they belong to ends."""
        for request_id, (_, ask, owner) in list(self._open.items()):
            if owner is answer:
                ask.answer("cancel")
                self._close(request_id, "cancelled")

    def waiting(self, answer: Answer) -> bool:
        """Whether one of this message waits."""
        return any(owner is answer for _, _, owner in self._open.values())

    def cancel_every(self) -> None:
        """The channel ends."""
        for request_id, (_, ask, _) in list(self._open.items()):
            ask.answer("cancel")
            self._close(request_id, "cancelled")

    def _close(self, request_id: str, outcome: Outcome) -> None:
        asked, _, answer = self._open.pop(request_id)
        for delta in [*answer.flush(), answer.add_notice("elicitation", trace(asked, outcome))]:
            self._state.emit(delta)
        self._state.env.to_all(ElicitationResolved(request_id=request_id, channel_id=self._state.id, outcome=outcome))
