"""The composer: where a person types. Completion and route preview come from the bridge; nothing is decided here.

Nothing typed is ever a command of this client (design rule 10).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import InMemoryHistory

from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.text import index_to_utf16, one_line, utf16_to_index
from sidekicks_bridge.protocol.requests import CompleteText, Completions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from sidekicks_bridge.protocol.routes import RouteProblem

_TOKEN = re.compile(r"(?:@\S*|^\s*/\S*|(?<=\s)/\S*)$")


class BridgeCompleter(Completer):
    """Completion of `@` and `/` from the bridge, for the channel that ``channel_id`` names at that moment."""

    def __init__(self, client: Callable[[], BridgeClient], channel_id: Callable[[], str | None]) -> None:
        self._client = client
        self._channel_id = channel_id

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Nothing: the bridge answers later, see `get_completions_async`."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The items of `message/complete`; none when the bridge refuses or is gone."""
        channel_id = self._channel_id()
        if channel_id is None:
            return
        offset = index_to_utf16(document.text, document.cursor_position)
        asked = CompleteText(channel_id=channel_id, text=document.text, offset=offset)
        try:
            answer = await self._client().request("sidekicks/message/complete", asked, Completions)
        except (BridgeError, BridgeGone):
            return
        for item in answer.items:
            yield completion(item, document.text, document.cursor_position)


def _about(item: dict[str, Any], label: str) -> str:
    """What stands beside an item: an agent's title, if that is not its name; what it does; a command's hint."""
    detail, about = str(item.get("detail") or ""), item.get("documentation") or ""
    if isinstance(about, dict):
        about = about.get("value", "")
    if label.startswith("/"):
        detail, about = about, re.sub(r"^@\S+ ?", "", detail)  # whose it is: the label or the route says that
    elif re.match(re.escape(label.lstrip("@")) + r"(?: \(|$)", detail, re.IGNORECASE):
        detail = detail[len(label.lstrip("@")) :].strip()
    return one_line(" · ".join(filter(None, (detail, str(about)))), 80)


def completion(item: dict[str, Any], text: str, cursor: int) -> Completion:
    """An LSP CompletionItem as the composer takes it; without a text edit it replaces the word before the cursor.

    A blank comes with it where none follows: people go on typing.
    """
    edit = item.get("textEdit")
    if isinstance(edit, dict):
        new = str(edit.get("newText", ""))
        start = _index(edit.get("range", {}).get("start", {}), text)
    else:
        new = str(item.get("insertText") or item.get("label", ""))
        word = _TOKEN.search(text[:cursor])
        start = word.start() if word else cursor
    label = str(item.get("label", new))
    return Completion(
        new if text[cursor : cursor + 1] in (" ", "\t") else new + " ",
        start_position=min(start - cursor, 0),
        display=one_line(label, 60),
        display_meta=_about(item, label),
    )


def _index(position: dict[str, Any], text: str) -> int:
    lines = text.split("\n")
    line = min(int(position.get("line", 0)), len(lines) - 1)
    before = sum(len(other) + 1 for other in lines[:line])
    return before + utf16_to_index(lines[line], int(position.get("character", 0)))


class Composer:
    """The text being written, with its history and completion."""

    def __init__(self, completer: Completer, on_change: Callable[[], None]) -> None:
        self.buffer = Buffer(
            name="composer",
            completer=completer,
            complete_while_typing=Condition(self._completes),
            multiline=True,
            on_text_changed=lambda _: on_change(),
            history=InMemoryHistory(),
        )
        self._taken: Document | None = None

    @property
    def completed(self) -> bool:
        """Whether the cursor stands behind the blank of a completion, and nothing was typed since."""
        state = self.buffer.complete_state
        if state is not None and state.current_completion is not None:
            return state.current_completion.text.endswith(" ")
        return self._taken == self.buffer.document

    def take_completion(self) -> None:
        """The completion that is marked is the one."""
        blank = self.completed
        self.buffer.complete_state = None
        self._taken = self.buffer.document if blank else None

    @property
    def text(self) -> str:
        """What stands in the composer."""
        return self.buffer.text

    def take(self) -> str:
        """The text, leaving the composer empty and the text in its history."""
        text = self.buffer.text
        self.buffer.append_to_history()
        self.buffer.reset()
        return text

    def put(self, text: str) -> None:
        """Put a text into the composer, the cursor at its end."""
        self.buffer.text = text
        self.buffer.cursor_position = len(text)

    def remember(self, texts: list[str]) -> None:
        """Make ``texts``, oldest first, what the up arrow brings back."""
        kept = self.buffer.text
        self.buffer.history = InMemoryHistory(texts)
        self.buffer.reset()
        if kept:
            self.put(kept)

    def accept(self, problem: RouteProblem | None) -> bool:
        """Put the suggestion of a route's problem in place of what is wrong; False if it has none."""
        if problem is None or problem.suggestion is None or problem.start is None or problem.end is None:
            return False
        text = self.buffer.text
        start, end = utf16_to_index(text, problem.start), utf16_to_index(text, problem.end)
        moved = start + len(problem.suggestion)
        self.buffer.text = text[:start] + problem.suggestion + text[end:]
        self.buffer.cursor_position = moved if self.buffer.text[moved:].strip() else len(self.buffer.text)
        return True

    def _completes(self) -> bool:
        return _TOKEN.search(self.buffer.document.text_before_cursor) is not None
