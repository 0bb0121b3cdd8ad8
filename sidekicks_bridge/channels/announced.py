"""The slash commands each agent announced, kept so that `/` suggests them before the agent runs (design rule 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.types import Command
from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from sidekicks_bridge.channels.journal import Journal
    from sidekicks_bridge.store.contract import Store

_PREFIX = "commands/"


class AnnouncedCommands:
    """Commands by agent. An agent that never announced any is absent; one that announced none has an empty list."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._by_agent: dict[str, list[Command]] = {}

    async def load(self, store: Store) -> None:
        """Read what was announced in earlier runs."""
        values: dict[str, Any] = await store.values(_PREFIX)
        for key, value in values.items():
            self._by_agent[key.removeprefix(_PREFIX)] = msgspec.convert(value, list[Command])

    def of(self, agent: str) -> list[Command]:
        """The commands ``agent`` announced last."""
        return self._by_agent.get(agent, [])

    def known(self, agent: str) -> bool:
        """Whether ``agent`` ever announced its commands."""
        return agent in self._by_agent

    def names(self) -> dict[str, frozenset[str]]:
        """The names of the commands, by agent."""
        return {agent: frozenset(command.name for command in commands) for agent, commands in self._by_agent.items()}

    async def learn(self, agent: str, commands: list[Command]) -> None:
        """Replace what ``agent`` announced, if it is news."""
        if self._by_agent.get(agent) != commands:
            self._by_agent[agent] = commands
            await self._journal.keep(PutValue(_PREFIX + agent, to_builtins(commands)))
