""" "What did Bob see?" in `sidekicks chat`: picks an answer, prints exactly what its agent was sent for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.picker import Item, Question
from sidekicks_bridge.cli.style import BOLD, DIM, Line, indented, wrap
from sidekicks_bridge.cli.text import counted, one_line, safe
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import ListMessages, MessagePage, MessageRef, Prompt

if TYPE_CHECKING:
    from typing import Any

    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.protocol.types import Message

_INDENT: Line = [(DIM, "  │ ")]


class ChatPrompts:
    """What F2 offers: the last answers of the channel, the newest first."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def menu(self) -> None:
        """The answers to pick from."""
        self._app.do(self._menu)

    async def _menu(self) -> None:
        channel_id = self._app.channel_id()
        if channel_id is None:
            return
        page = await self._app.client.request(
            "sidekicks/message/list", ListMessages(channel_id=channel_id), MessagePage
        )
        answers = [message for message in reversed(page.messages) if message.author.kind == "agent"]
        self._app.ask(Question("What was sent for", [self._item(answer) for answer in answers]))

    def _item(self, answer: Message) -> Item:
        said = one_line(" ".join(part.text for part in answer.parts if isinstance(part, TextPart)))
        name = answer.author.name or ""

        async def show() -> None:
            prompt = await self._app.client.request(
                "sidekicks/message/prompt", MessageRef(message_id=answer.id), Prompt
            )
            model = self._app.model
            head: Line = [("", "What "), model.names.span(name), ("", " was sent "), (DIM, _told(prompt))]
            model.show([[], head, *indented(_lines(prompt, model.columns - 4), _INDENT)])
            self._app.changed()

        return Item([self._app.model.names.span(name), (DIM, f"  {said}")], f"{name} {said}", show)


def _told(prompt: Prompt) -> str:
    session = {"resumed": "in its session", "loaded": "in the session it loaded", "fresh": "in a new session"}
    cut = f", {prompt.cut} of them cut or left out" if prompt.cut else ""
    return f"{session[prompt.session]}; {counted(prompt.unseen, 'message')} it had not seen{cut}"


def _lines(prompt: Prompt, columns: int) -> list[Line]:
    """The content blocks: text as it was sent, anything else by its kind and where it points."""
    lines: list[Line] = []
    for block in prompt.blocks:
        if block.get("type") == "text":
            for line in safe(str(block.get("text", ""))).split("\n"):
                lines += wrap([("", line)], columns) if line else [[("", " ")]]
        else:
            lines += wrap([(BOLD, f"[{safe(str(block.get('type')))}] "), ("", _pointer(block))], columns)
    return lines


def _pointer(block: dict[str, Any]) -> str:
    inner = block.get("resource", block)
    uri = inner.get("uri") if isinstance(inner, dict) else None
    return one_line(uri if isinstance(uri, str) else json.dumps(block, ensure_ascii=False))
