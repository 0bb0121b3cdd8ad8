"""How participants are called and coloured on the screen. Holds what the bridge last said about agents; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli.style import AGENTS, DIM, USER, Line, Span
from sidekicks_bridge.cli.text import clock_time, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sidekicks_bridge.protocol.types import Agent, Author


class Names:
    """The agents by name: titles, icons, a colour for each in the order of the configuration."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}

    def know(self, agents: Iterable[Agent]) -> None:
        """The agents of the configuration, all of them."""
        self.agents = {agent.name: agent for agent in agents}

    def title(self, name: str) -> str:
        """What an agent (or peer) is shown as."""
        agent = self.agents.get(name)
        return one_line(agent.title if agent else name, 64)

    def style(self, name: str) -> str:
        """The agent's colour."""
        order = list(self.agents)
        return AGENTS[order.index(name) % len(AGENTS)] if name in self.agents else ""

    def span(self, name: str) -> Span:
        """The agent's icon and title in its colour."""
        agent = self.agents.get(name)
        icon = one_line(agent.icon, 8) + " " if agent and agent.icon else ""
        return f"bold {self.style(name)}".strip(), icon + self.title(name)

    def header(self, author: Author, created_at: str) -> Line:
        """The line above a message: who, and when."""
        who = (USER, "❯ You") if author.kind == "user" else self.span(author.name or "?")
        return [who, (DIM, f" · {clock_time(created_at)}")]
