"""The files that go with the next message of `sidekicks chat`: attached by their path, or an image pasted as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli.attached import NoFileError, attached, pasted_image
from sidekicks_bridge.cli.picker import Item, Question
from sidekicks_bridge.cli.style import BOLD, DIM, WARN, Line
from sidekicks_bridge.cli.text import one_line

if TYPE_CHECKING:
    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.protocol.types import Attachment


class ChatFiles:
    """Holds them until the message is sent. They stay when another channel comes on screen, in sight."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._files: list[Attachment] = []

    @property
    def waiting(self) -> bool:
        """Whether there are any."""
        return bool(self._files)

    def take(self) -> list[Attachment]:
        """All of them; none is left."""
        files, self._files = self._files, []
        return files

    def put_back(self, files: list[Attachment]) -> None:
        """They were not sent."""
        self._files = [*files, *self._files]
        self._app.changed()

    def lines(self) -> list[Line]:
        """What stands below the composer about them."""
        names = ", ".join(one_line(file.title or file.uri, 40) for file in self._files)
        return [[("", f"📎 {names}"), (DIM, "  goes with the next message · Ctrl-F")]] if names else []

    def pasted(self, text: str) -> bool:
        """Attach the image whose path was pasted; False: it is none, and the paste is text."""
        image = pasted_image(text, self._app.model.folder)
        if image is None:
            return False
        self._add(image)
        return True

    def _add(self, file: Attachment) -> None:
        self._files.append(file)
        self._app.changed()

    def menu(self) -> None:
        """Ctrl-F: attach a file by its path; take one off."""
        items = [self._removal(file) for file in self._files]
        self._app.ask(Question("Attach a file", items, self._typed, "type its path · Enter attaches it · Esc closes"))

    def _typed(self, words: str) -> Item:
        async def attach() -> None:
            try:
                self._add(attached(words, self._app.model.folder))
            except NoFileError as problem:
                self._app.model.say(one_line(str(problem)), WARN)

        try:
            line: Line = [("", "attach "), (BOLD, one_line(attached(words, self._app.model.folder).title or words, 60))]
        except (NoFileError, OSError) as problem:
            return Item([(WARN, one_line(str(problem), 90))], words, None)
        return Item(line, words, attach)

    def _removal(self, file: Attachment) -> Item:
        name = one_line(file.title or file.uri, 60)

        async def remove() -> None:
            self._files = [other for other in self._files if other is not file]

        return Item([("", f"leave {name} out")], name, remove)
