"""Answering what agents ask for in `sidekicks chat`: a form, one field after the other, or a page to visit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidekicks_bridge.cli.picker import Item, Question
from sidekicks_bridge.cli.style import BOLD, DIM, WARN, Line
from sidekicks_bridge.cli.text import one_line, safe
from sidekicks_bridge.protocol.agent_requests import AnswerElicitation
from sidekicks_bridge.protocol.requests import Accepted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Literal

    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.protocol.types import Elicitation, FormField

    Action = Literal["accept", "decline", "cancel"]


class ChatForms:
    """Makes the questions. Nothing is sent before the last one is answered."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def items(self) -> Iterator[Item]:
        """Everything that is asked for now."""
        for asked in self._app.model.forms.values():
            words = one_line(asked.message, 60)
            who = self._app.model.names.span(asked.agent)
            yield Item(
                [(WARN, "answer "), who, ("", f": {words}")], f"answer {asked.agent} {words}", self._begin(asked)
            )
            yield Item(
                [("", "decline "), who, ("", f": {words}")], f"decline {words}", self._reply(asked, "decline", {})
            )

    def _begin(self, asked: Elicitation) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            self._app.model.say(safe(asked.message))
            if asked.url is not None:
                self._app.model.say(f"Open this page yourself, if you trust it: {safe(asked.url)}")
                done = Item([("", "I have been there")], "done", self._reply(asked, "accept", {}))
                no = Item([("", "I will not")], "no", self._reply(asked, "decline", {}))
                self._app.ask(Question("The page", [done, no]))
            else:
                await self._next(asked, 0, {})

        return go

    async def _next(self, asked: Elicitation, at: int, values: dict[str, Any]) -> None:
        """Ask for the field number ``at``, or send what was collected."""
        if at == len(asked.fields):
            await self._reply(asked, "accept", values)()
            return
        field = asked.fields[at]

        def take(line: Line, words: str, value: Any) -> Item:
            async def go() -> None:
                now = values if value is None else {**values, field.name: value}
                await self._next(asked, at + 1, now)

            return Item(line, words, go)

        self._app.ask(_question(field, take))

    def _reply(self, asked: Elicitation, action: Action, content: dict[str, Any]) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            answer = AnswerElicitation(request_id=asked.request_id, action=action, content=content)
            counted = await self._app.client.request("sidekicks/elicitation/answer", answer, Accepted)
            if not counted.accepted:
                self._app.model.say("That was answered or withdrawn already.", DIM)

        return go


def _question(field: FormField, take: Callable[[Line, str, Any], Item]) -> Question:
    """The list for one field; texts and numbers are typed."""
    title = one_line(field.title, 60) + ("" if field.required else " (may be left out)")
    if field.description:
        title += f": {one_line(field.description, 80)}"
    items: list[Item] = []
    if field.kind == "boolean":
        items = [take([("", word)], word, value) for word, value in (("yes", True), ("no", False))]
    elif field.kind == "choice":
        items = [take([("", one_line(one.title, 60))], one.title, one.value) for one in field.choices]
    if field.default is not None:
        items.insert(
            0, take([("", one_line(str(field.default), 60)), (DIM, "  as suggested")], "default", field.default)
        )
    if not field.required:
        items.append(take([(DIM, "leave it out")], "leave", None))
    typed = field.kind in ("string", "number", "integer", "choices")

    def read(text: str) -> Item:
        value = _value(field, text)
        shown = one_line(str(value), 60)
        return take([(BOLD, shown)], text, value)

    hint = "several, with commas · Enter" if field.kind == "choices" else "type it · Enter · Esc closes"
    return Question(title, items, read if typed else None, hint if typed else "↑ ↓ Enter · Esc closes")


def _value(field: FormField, text: str) -> Any:
    """What was typed, as the field wants it; what is no number goes as it is, and the bridge says so."""
    if field.kind == "choices":
        titles = {one.title.casefold(): one.value for one in field.choices}
        words = [word.strip() for word in text.split(",") if word.strip()]
        return [titles.get(word.casefold(), word) for word in words]
    try:
        return int(text) if field.kind == "integer" else float(text) if field.kind == "number" else text
    except ValueError:
        return text
