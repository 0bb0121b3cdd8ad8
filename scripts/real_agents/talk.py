"""A user of the real bridge for the checks: sends, answers questions, waits, and says what is wrong in words."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.support.conditions import Answered
from tests.support.room import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.real_agents.model import Request, ScriptedModel
    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

SECONDS = 180.0
"""The longest wait for an agent; some need half a minute to start on a busy machine."""
Choice = Literal["allow", "reject", "cancel"]


class Finding(Exception):
    """A check did not find what it should; the message says what was found instead."""


@dataclass
class Talk:
    """What came of one message: the finished answer, the questions for permission, how long it took."""

    answer: JSON
    questions: list[JSON]
    seconds: float

    @property
    def text(self) -> str:
        """The answer's words, or why it has none."""
        error = (self.answer.get("turn") or {}).get("error") or {}
        return text_of(self.answer) or str(error.get("message", ""))

    @property
    def stop(self) -> str:
        """The stop reason."""
        return str((self.answer.get("turn") or {}).get("stopReason"))

    @property
    def tools(self) -> list[JSON]:
        """The tool calls of the answer."""
        return [part for part in self.answer["parts"] if part["type"] == "toolCall"]


@dataclass(frozen=True)
class AnsweredOrAsked:
    """What came first: ``("answer", message)`` or ``("question", permission)``."""

    answered: Answered

    def __call__(self, client: Client) -> tuple[str, JSON] | None:
        """Look."""
        for asked in client.of("permission/requested"):
            if asked["channelId"] == self.answered.channel and not client.was_given(asked["requestId"]):
                client.give(asked["requestId"])
                return "question", asked
        answer = self.answered(client)
        return None if answer is None else ("answer", answer)


@dataclass
class Desk:
    """One agent in a bridge with its model. ``said``: what a check wants told beside its result."""

    agent: str
    client: Client
    model: ScriptedModel
    folder: Path
    said: list[str] = field(default_factory=list)

    async def room(self, *members: str) -> Room:
        """A new channel with the agent (or ``members``), opened."""
        known = len((await self.client.state())["channels"])
        name = f"{self.agent}-{known}"
        made = await self.client.request("channel/create", name=name, members=list(members or [self.agent]))
        return await self.client.open_id(made["id"])

    async def ask(self, room: Room, text: str, choice: Choice = "allow", *, by: str | None = None) -> Talk:
        """Send, answer each question for permission as ``choice`` says, wait for the answer."""
        began = time.monotonic()
        next_ = self.answered_or_asked(room, await room.send(text), by=by)
        questions: list[JSON] = []
        while True:
            kind, found = await self.client.until(next_, seconds=SECONDS)
            if kind == "answer":
                return Talk(found, questions, time.monotonic() - began)
            questions.append(found)
            await self.answer(found, choice)

    def answered_or_asked(self, room: Room, sent: JSON, *, by: str | None = None) -> AnsweredOrAsked:
        """The condition: the agent has answered a sent message, or asks for permission meanwhile (each once)."""
        return AnsweredOrAsked(Answered(room.id, sent["messageId"], by or self.agent))

    async def answer(self, question: JSON, choice: Choice) -> None:
        """Answer a question: about a silence by stopping, else as ``choice`` says."""
        options = question["options"]
        option: str | None = "stop"
        if question.get("about") == "silence":
            self.said.append("it fell silent, and the bridge asked what to do")
        else:
            kinds = [f"{choice}_once", f"{choice}_always"]
            fitting = [one["optionId"] for kind in kinds for one in options if one["kind"] == kind]
            option = fitting[0] if fitting else None
        chosen = {} if option is None else {"optionId": option}
        await self.client.request("permission/answer", requestId=question["requestId"], **chosen)

    def asked(self, since: int = 0) -> list[Request]:
        """What the agent asked its model, from the request number ``since`` on."""
        return self.model.asked(self.agent, since)

    async def still_answers(self, room: Room) -> None:
        """After something went wrong: it works again."""
        talk = await self.ask(room, "hello again")
        need(f"{self.agent} has answered" in talk.text, f"afterwards it said: {talk.stop}, {talk.text[:200]!r}")


def need(fact: object, otherwise: str) -> None:
    """Raise `Finding` unless ``fact``."""
    if not fact:
        raise Finding(otherwise)
