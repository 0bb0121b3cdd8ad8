"""The configuration in force: reading, reloading, editing its file. A broken file changes nothing.

File work runs in worker threads; the heavy parsers are imported there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from sidekicks_bridge.config.model import Config
from sidekicks_bridge.paths import default_config_path
from sidekicks_bridge.protocol.requests import ConfigView
from sidekicks_bridge.protocol.types import ConfigState, Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from sidekicks_bridge.config.watch import Signature


class Configuration:
    """What is configured. ``current`` is always whole; ``problems`` are those of the file as it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.current = Config()
        self.problems: list[Problem] = []
        self._read_once = False
        self._seen: Signature | None = None
        self._reading = anyio.Lock()

    @property
    def state(self) -> ConfigState:
        """The file and its problems, as clients see them."""
        return ConfigState(path=str(self.path), problems=self.problems)

    def add_problem(self, path: list[str | int], message: str) -> None:
        """Something that the file alone does not show; gone with the next reading."""
        self.problems = [*self.problems, Problem(file=str(self.path), line=1, column=1, message=message, path=path)]

    async def reload(self) -> bool:
        """Read the file; what is wrong in it leaves what was in force. True if anything is news."""
        from sidekicks_bridge.config.watch import signature

        async with self._reading:  # what was read first must not be put in force last
            previous = self.current if self._read_once else None
            self._seen = signature(self.path)
            config, problems = await anyio.to_thread.run_sync(_read, self.path, previous)
            news = config != self.current or problems != self.problems
            self.current, self.problems, self._read_once = config, problems, True
            return news

    async def watch(self, on_news: Callable[[], Awaitable[None]]) -> None:
        """Reload whenever the file changes; runs until cancelled."""
        from sidekicks_bridge.config.watch import watch

        async def changed() -> None:
            if await self.reload():
                await on_news()

        await watch(self.path, changed, self._seen)

    async def refresh_schema(self) -> None:
        """Keep the schema beside the user's own file up to date; what others named is theirs."""
        if self.path == default_config_path():
            from sidekicks_bridge.config.first_run import refresh_schema

            await anyio.to_thread.run_sync(refresh_schema, self.path)

    async def view(self) -> ConfigView:
        """The file's text and problems."""
        text = await anyio.to_thread.run_sync(_text, self.path)
        return ConfigView(path=str(self.path), text=text, problems=self.problems)

    async def validate(self, text: str | None) -> list[Problem]:
        """The problems of a text, or of the file as it is."""
        return await anyio.to_thread.run_sync(_validate, self.path, text)

    async def edit(self, path: list[str | int], value: Any) -> list[Problem]:
        """Change one value in the file, and put it in force. Raises configInvalid, configUnwritable."""
        await anyio.to_thread.run_sync(_edit, self.path, path, value)
        await self.reload()
        return self.problems


def _read(path: Path, previous: Config | None) -> tuple[Config, list[Problem]]:
    from sidekicks_bridge.config.load import load, settle

    parsed = load(path)
    return settle(previous, parsed), parsed.problems


def _text(path: Path) -> str:
    from sidekicks_bridge.config.load import read_text

    return read_text(path)


def _validate(path: Path, text: str | None) -> list[Problem]:
    from sidekicks_bridge.config.load import load, parse

    return load(path).problems if text is None else parse(text, path).problems


def _edit(file: Path, path: list[str | int], value: Any) -> None:
    from sidekicks_bridge.config.edit import edit_file

    edit_file(file, path, value)
