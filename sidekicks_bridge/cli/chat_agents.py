"""The agents' menu of `sidekicks chat`: signing in and out, restarting. Makes the lists and does what was picked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

from sidekicks_bridge.cli.picker import Item, Question
from sidekicks_bridge.cli.sign_in import run_here, sign_in
from sidekicks_bridge.cli.style import DIM, OK, WARN, Line
from sidekicks_bridge.cli.text import one_line
from sidekicks_bridge.protocol.requests import AgentRef, Empty

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.protocol.requests import TerminalCommand
    from sidekicks_bridge.protocol.types import SignInMethod


class ChatAgents:
    """What Ctrl-G offers: what is needed first."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def menu(self) -> None:
        """Everything that can be done about the agents here."""
        items = [*self._sign_ins(), *self._processes()]
        self._app.ask(Question("Agents", items))

    def _members(self) -> list[str]:
        channel, names = self._app.model.channel, self._app.model.names
        members = [member.name for member in channel.members] if channel else []
        return [name for name in members if name in names.agents]

    def _sign_ins(self) -> Iterator[Item]:
        for needed in self._app.model.sign_ins.values():
            for method in needed.methods:
                yield self._sign_in(needed.agent, method, needed=True)

    def _sign_in(self, agent: str, method: SignInMethod, *, needed: bool) -> Item:
        names = self._app.model.names
        line: Line = [
            (WARN if needed else "", "sign in to "),
            names.span(agent),
            ("", f": {one_line(method.name, 60)}"),
        ]
        if method.description:
            line.append((DIM, f"  {one_line(method.description, 60)}"))

        async def go() -> None:
            self._app.model.say(f"Signing in to {names.title(agent)}: {one_line(method.name)} …", DIM)
            self._app.changed()
            result = await sign_in(self._app.client, agent, method.id, self._run)
            self._app.model.say(result.text, OK if result.done else WARN)

        return Item(line, f"sign in {agent} {method.name}", go)

    async def _run(self, command: TerminalCommand) -> int:
        """The command gets the terminal; the conversation comes back when it has ended."""
        return await run_in_terminal(lambda: run_here(command), in_executor=True)

    def _processes(self) -> Iterator[Item]:
        names, waiting = self._app.model.names, self._app.model.sign_ins
        for name in self._members():
            agent = names.agents[name]
            if name not in waiting:
                for method in agent.sign_in:
                    yield self._sign_in(name, method, needed=False)
            if agent.can_log_out:
                yield self._simple("sign out of", name, "agent/logout")
            if agent.state != "stopped":
                yield self._simple("restart", name, "agent/restart")
                yield self._simple("stop", name, "agent/stop")

    def _simple(self, words: str, agent: str, method: str) -> Item:
        line: Line = [("", f"{words} "), self._app.model.names.span(agent)]
        return Item(line, f"{words} {agent}", self._request(method, agent))

    def _request(self, method: str, agent: str) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            await self._app.client.request(f"sidekicks/{method}", AgentRef(agent=agent), Empty)

        return go
