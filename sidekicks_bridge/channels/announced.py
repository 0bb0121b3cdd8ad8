"""What each agent announced, kept for when it does not run: its slash commands (design rule 8), and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from sidekicks_bridge.protocol.base import Wire, to_builtins
from sidekicks_bridge.protocol.types import Command, Modes, SessionOption
from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from sidekicks_bridge.channels.journal import Journal
    from sidekicks_bridge.store.contract import Store, StoredMember

_PREFIX = "commands/"
_SETTINGS = "settings/"


class Settings(Wire, kw_only=True):
    """Modes, legacy models and options of a session."""

    modes: Modes | None = None
    models: Modes | None = None
    options: list[SessionOption] = []

    def chosen(self, stored: StoredMember) -> Settings:
        """With what the user chose for a channel as the current values: so they will be when a session opens."""
        return Settings(
            modes=_current(self.modes, stored.mode),
            models=_current(self.models, stored.model),
            options=[replace(option, value=stored.options.get(option.id, option.value)) for option in self.options],
        )


def _current(modes: Modes | None, chosen: str | None) -> Modes | None:
    return modes if modes is None or chosen is None else replace(modes, current=chosen)


class AnnouncedCommands:
    """Commands by agent. An agent that never announced any is absent; one that announced none has an empty list."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._by_agent: dict[str, list[Command]] = {}
        self._settings: dict[str, Settings] = {}

    async def load(self, store: Store) -> None:
        """Read what was announced in earlier runs."""
        values: dict[str, Any] = await store.values(_PREFIX)
        for key, value in values.items():
            self._by_agent[key.removeprefix(_PREFIX)] = msgspec.convert(value, list[Command])
        for key, value in (await store.values(_SETTINGS)).items():
            self._settings[key.removeprefix(_SETTINGS)] = msgspec.convert(value, Settings)

    def of(self, agent: str) -> list[Command]:
        """The commands ``agent`` announced last."""
        return self._by_agent.get(agent, [])

    def known(self, agent: str) -> bool:
        """Whether ``agent`` ever announced its commands."""
        return agent in self._by_agent

    def names(self) -> dict[str, frozenset[str]]:
        """The names of the commands, by agent."""
        return {agent: frozenset(command.name for command in commands) for agent, commands in self._by_agent.items()}

    def settings(self, agent: str) -> Settings:
        """What a session of ``agent`` offered last; empty if none was ever opened."""
        return self._settings.get(agent, Settings())

    async def learn_settings(self, agent: str, settings: Settings) -> None:
        """Replace what it offered, if it is news."""
        if self._settings.get(agent) != settings:
            self._settings[agent] = settings
            await self._journal.keep(PutValue(_SETTINGS + agent, to_builtins(settings)))

    async def learn(self, agent: str, commands: list[Command]) -> None:
        """Replace what ``agent`` announced, if it is news."""
        if self._by_agent.get(agent) != commands:
            self._by_agent[agent] = commands
            await self._journal.keep(PutValue(_PREFIX + agent, to_builtins(commands)))
