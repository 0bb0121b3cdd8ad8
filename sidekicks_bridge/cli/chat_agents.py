"""The agents' menu of `sidekicks chat`: signing in and out, restarting. Makes the lists and does what was picked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

from sidekicks_bridge.cli.chat_forms import ChatForms
from sidekicks_bridge.cli.picker import Item, Question, sure
from sidekicks_bridge.cli.sign_in import run_here, sign_in
from sidekicks_bridge.cli.style import DIM, OK, WARN, Line
from sidekicks_bridge.cli.text import one_line
from sidekicks_bridge.protocol.agent_requests import AgentSessions, ListSessions, PickUpSession
from sidekicks_bridge.protocol.requests import AgentRef, Empty, MessageRef, SetMode, SetOption, State
from sidekicks_bridge.protocol.types import OptionChoice, SessionOption

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from sidekicks_bridge.cli.chat_app import ChatApp
    from sidekicks_bridge.protocol.agent_requests import TerminalCommand
    from sidekicks_bridge.protocol.types import AgentSession, SignInMethod


class ChatAgents:
    """What Ctrl-G offers: what is needed first."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._forms = ChatForms(app)

    def menu(self) -> None:
        """Everything that can be done about the agents here, as they are now."""
        self._app.do(self._menu)

    async def _menu(self) -> None:
        state = await self._app.client.request("sidekicks/state/get", Empty(), State)
        self._app.model.refresh(state)
        items = [*self._forms.items(), *self._sign_ins(), *self._retries(), *self._settings(), *self._processes()]
        items += [
            self._sessions(name) for name in self._members() if self._app.model.names.agents[name].origin == "config"
        ]
        self._app.ask(Question("Agents", items))

    def _retries(self) -> Iterator[Item]:
        names = self._app.model.names
        for agent, message in self._app.model.failed.items():
            why = message.turn.stop_reason if message.turn else ""
            line: Line = [("", "ask again "), names.span(agent), (DIM, f"  its answer ended: {why}")]

            async def go(message_id: str = message.id) -> None:
                await self._app.client.request("sidekicks/turn/retry", MessageRef(message_id=message_id), Empty)

            yield Item(line, f"ask again {agent}", go)

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

    def _settings(self) -> Iterator[Item]:
        """What each member's session can be set to, with what it is now."""
        channel = self._app.model.channel
        for member in channel.members if channel else []:
            for name, modes in (("mode", member.modes), ("model", member.models)):
                if modes is not None and modes.available:
                    choices = [OptionChoice(value=one.id, name=one.name) for one in modes.available]
                    option = SessionOption(
                        id=name, name=name.capitalize(), kind="select", value=modes.current, choices=choices
                    )
                    yield self._setting(member.name, option, name)
            for option in member.options:
                if option.kind != "other":
                    yield self._setting(member.name, option, "option")

    def _setting(self, agent: str, option: SessionOption, how: str) -> Item:
        names = self._app.model.names
        now = next((one.name for one in option.choices if one.value == option.value), None)
        shown = now or {True: "on", False: "off"}.get(option.value is True, "")
        line: Line = [names.span(agent), ("", f": {one_line(option.name, 40)} "), (DIM, f"is {one_line(shown, 40)}")]

        async def go() -> None:
            if option.kind == "boolean":
                await self._set(agent, option.id, how, option.value is not True)
                return
            items = [self._choice(agent, option, one, how) for one in option.choices]
            self._app.ask(Question(f"{names.title(agent)}: {one_line(option.name, 40)}", items))

        return Item(line, f"{agent} {option.name}", go)

    def _choice(self, agent: str, option: SessionOption, choice: OptionChoice, how: str) -> Item:
        line: Line = [(OK if choice.value == option.value else "", one_line(choice.name, 60))]
        for more in (choice.group, choice.description):
            if more:
                line.append((DIM, f"  {one_line(more, 60)}"))

        async def go() -> None:
            await self._set(agent, option.id, how, choice.value)

        return Item(line, f"{choice.group or ''} {choice.name}", go)

    async def _set(self, agent: str, option_id: str, how: str, value: str | bool) -> None:
        channel_id = self._app.channel_id()
        if channel_id is None:
            return
        if how == "option":
            option = SetOption(channel_id=channel_id, agent=agent, option_id=option_id, value=value)
            await self._app.client.request("sidekicks/session/setOption", option, Empty)
        else:
            mode_id, model_id = (str(value), None) if how == "mode" else (None, str(value))
            mode = SetMode(channel_id=channel_id, agent=agent, mode_id=mode_id, model_id=model_id)
            await self._app.client.request("sidekicks/session/setMode", mode, Empty)
        said = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
        self._app.model.say(f"{self._app.model.names.title(agent)}: {option_id} is {one_line(str(said))} now.", DIM)

    def _processes(self) -> Iterator[Item]:
        names, waiting = self._app.model.names, self._app.model.sign_ins
        for name in self._members():
            agent = names.agents[name]
            if name not in waiting:
                for method in agent.sign_in:
                    yield self._sign_in(name, method, needed=False)
            if agent.state != "stopped":
                yield self._simple("restart", name, "agent/restart")
                yield self._simple("stop", name, "agent/stop")
            if agent.can_log_out:
                yield self._simple("sign out of", name, "agent/logout")

    def _sessions(self, agent: str) -> Item:
        """Go on here with a session that the agent remembers; asking starts it."""
        names = self._app.model.names

        async def go() -> None:
            asked = ListSessions(agent=agent)
            found = await self._app.client.request("sidekicks/agent/sessions", asked, AgentSessions)
            items = [self._session(agent, session) for session in found.sessions if session.channel_id is None]
            if items:
                self._app.ask(Question(f"Go on with a session of {names.title(agent)}", items))
            else:
                self._app.model.say(f"{names.title(agent)} remembers no other session.", DIM)

        return Item([("", "go on with a session of "), names.span(agent)], f"session {agent}", go)

    def _session(self, agent: str, session: AgentSession) -> Item:
        title = one_line(session.title or session.session_id, 60)
        more = "  ".join(one_line(word, 40) for word in (session.cwd, session.updated_at) if word)

        async def go() -> None:
            channel_id = self._app.channel_id()
            if channel_id is None:
                return
            picked = PickUpSession(channel_id=channel_id, agent=agent, session_id=session.session_id)
            await self._app.client.request("sidekicks/session/pickUp", picked, Empty)
            self._app.model.say(f"{self._app.model.names.title(agent)} goes on with: {title}", OK)

        return Item([("", title), (DIM, f"  {more}")], f"{title} {more}", go)

    def _simple(self, words: str, agent: str, method: str) -> Item:
        """Done after a question, which says whether the agent is at work."""
        names = self._app.model.names

        async def ask() -> None:
            busy = names.agents[agent].state == "busy" if agent in names.agents else False
            title = f"{words.capitalize()} {names.title(agent)}?" + (" Its answer is cut off." if busy else "")
            self._app.ask(sure(title, f"yes, {words} {names.title(agent)}", self._request(method, agent)))

        return Item([("", f"{words} "), names.span(agent)], f"{words} {agent}", ask)

    def _request(self, method: str, agent: str) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            await self._app.client.request(f"sidekicks/{method}", AgentRef(agent=agent), Empty)

        return go
