"""The two agents that ship with the bridge: who they are and how they are started.

Owns the table of the built-in agents. Importing it costs nothing (the bridge reads it at every start), so it
imports nothing; the agents themselves run as processes of their own and speak ACP, like every other agent.
"""

from __future__ import annotations


class BuiltinAgent:
    """What a person sees of a built-in agent, and the arguments after the Python executable that start it."""

    __slots__ = ("description", "icon", "name", "title")

    def __init__(self, name: str, title: str, icon: str, description: str) -> None:
        self.name = name
        self.title = title
        self.icon = icon
        self.description = description

    def argv(self, called: str | None = None) -> tuple[str, ...]:
        """Return what follows the Python executable; ``called`` is the agent's name in the configuration.

        The main file is given by its path and ``-P`` keeps the working directory off the module path: agents
        are started in the user's folder, where a ``json.py`` must not be imported instead of Python's own.
        """
        main_file = __file__.removesuffix("__init__.py") + "__main__.py"
        return ("-P", main_file, self.name, called or self.name)


BUILTIN_AGENTS: dict[str, BuiltinAgent] = {
    agent.name: agent
    for agent in (
        BuiltinAgent(
            "scout",
            "Scout",
            "🔭",
            "Finds the passages of the workspace that answer a question; needs no model.",
        ),
        BuiltinAgent(
            "scribe",
            "Scribe",
            "✍️",
            "Keeps notes of the conversation in NOTES.md, after asking; needs no model.",
        ),
    )
}
