"""What follows from a letter: who gets a turn for it, how far that may go, who waits for whom, what the user allows.

A letter wakes; an answer never does (design: Waking ACP agents).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import msgspec

from sidekicks_bridge.agents.contract import ToolCallUpdate
from sidekicks_bridge.channels.letters import Letter, hops_of
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.parts import PermissionOption
from sidekicks_bridge.protocol.types import Author
from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.protocol.parts import ToolStatus
    from sidekicks_bridge.protocol.types import Message

_ALLOWED = "mail/allowed/"
_OPTIONS = [
    PermissionOption(option_id="allow", name="Let them write to each other", kind="allow_always"),
    PermissionOption(option_id="reject", name="Do not", kind="reject_once"),
]


class WaitGraph:
    """Who waits for whose answer. It never has a circle: the wait that would close one is refused."""

    def __init__(self) -> None:
        self._asked: dict[str, list[str]] = {}

    @contextmanager
    def edge(self, asker: str, asked: str) -> Iterator[None]:
        """``asker`` waits for ``asked``; raises waitCircle."""
        if fold(asker) in self._reached(fold(asked)):
            raise SidekicksError(
                "waitCircle",
                f"@{asked} is itself waiting, directly or through others, for an answer of @{asker}: both would wait "
                "forever. Answer first, or `tell` instead of `ask`.",
                {"peer": asked},
            )
        waits = self._asked.setdefault(fold(asker), [])
        waits.append(fold(asked))
        try:
            yield
        finally:
            waits.remove(fold(asked))
            if not waits:
                self._asked.pop(fold(asker), None)

    def _reached(self, start: str) -> set[str]:
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self._asked.get(name, ())
        return reached


class Waking:
    """Writes letters, with the turns they give."""

    def __init__(self, env: Env, directory: Directory, attended: Callable[[], bool]) -> None:
        self._env = env
        self._directory = directory
        self._allowed: set[str] = set()
        self._refused: set[str] = set()
        self._questions: dict[str, _Question] = {}
        self._attended = attended
        self.waits = WaitGraph()

    async def load(self) -> None:
        """Read which pairs the user has allowed."""
        self._allowed = {key.removeprefix(_ALLOWED) for key in await self._env.store.values(_ALLOWED)}

    async def write(self, caller: Caller, channel: Channel, text: str, agents: list[str]) -> tuple[Message, list[str]]:
        """Write what ``caller`` says, and wake these agents if it may still wake anybody; notes for the sender."""
        cause, hops = self._cause(caller, channel)
        limit = self._env.config().limits.max_hops
        wakes, notice, notes = agents, None, []
        if agents and hops > limit:
            names = ", ".join(f"@{agent}" for agent in agents)
            sentence = (
                f"@{caller.name} wrote because of {hops} messages of agents before it; that is past limits.maxHops "
                f"({limit}), so {names} was not woken. Write to start it again."
            )
            wakes, notice, notes = [], ("hopLimit", sentence), [sentence]
        origin = msgspec.structs.replace(caller.origin, cause=cause, hops=hops)
        author = Author(kind=caller.kind, name=caller.name)
        with anyio.CancelScope(shield=True):  # whoever wrote is answered, even by a bridge that ends in this instant
            message = await channel.letters.write(Letter(author, text, origin, wakes, notice))
        return message, notes

    def _cause(self, caller: Caller, to: Channel) -> tuple[str | None, int]:
        """The message because of which somebody writes, and how far from a person that makes the letter.

        An agent's is that of its turn. A peer may be a person, or not: it is taken to answer what agents have written
        to it since it last wrote.
        """
        if caller.kind == "peer":
            read = to.state.prompted.get(caller.name)
            return (None, 0) if read is None else (read.id, 1 + hops_of(read))
        channel = self._directory.find(caller.channel_id) if caller.channel_id is not None else None
        message = channel.state.prompted.get(caller.name) if channel is not None else None
        return (None, 1) if message is None else (message.id, 1 + hops_of(message))

    # ── what the user allows ─────────────────────────────────────────────────────────────────────────────────────

    async def allow(self, caller: Caller, agents: list[str]) -> None:
        """Whether an agent may write to these agents; the user is asked once per pair. Raises messagingRefused."""
        if caller.kind != "agent":
            return
        for agent in agents:
            mode = self._env.config().messaging.agents
            pair = "--".join(sorted((fold(caller.name), fold(agent))))
            if mode == "off":
                raise _refused(caller.name, agent, "`messaging.agents` is off in the configuration.")
            if mode == "ask" and pair not in self._allowed:
                await self._ask(caller, agent, pair)

    async def _ask(self, caller: Caller, agent: str, pair: str) -> None:
        if pair in self._refused:
            raise _refused(caller.name, agent, "The user has said no.")
        question = self._questions.get(pair)
        if question is None:
            if not self._attended():
                raise _refused(
                    caller.name,
                    agent,
                    "The user must allow it first, and no editor or terminal is attached to ask in. "
                    "(`messaging.agents: on` in the configuration allows it for all.)",
                )
            question = self._questions[pair] = self._question(caller, agent, pair)
        await question.done.wait()
        if pair not in self._allowed:
            raise _refused(caller.name, agent, "The user has not allowed it.")

    def _question(self, caller: Caller, agent: str, pair: str) -> _Question:
        assert caller.channel_id is not None
        channel = self._directory.get(caller.channel_id)
        call = ToolCallUpdate(
            f"mail-{self._env.ids.new()}",
            title=f"@{caller.name} and @{agent} write to each other (asked once)",
            kind="other",
            status="pending",
        )

        def answered(option_id: str | None) -> None:
            del self._questions[pair]
            if option_id == "allow":
                self._allowed.add(pair)
                self._env.spawn(self._env.journal.keep, PutValue(_ALLOWED + pair, True))
            elif option_id == "reject":
                self._refused.add(pair)
            ended: ToolStatus = "completed" if option_id == "allow" else "failed"
            channel.update(caller.name, ToolCallUpdate(call.id, status=ended))

        question = _Question(caller.name, channel.id, call, answered)
        channel.permission_asked(question)
        return question


class _Question:
    """A permission question of mail's own (a `PermissionAsk`)."""

    def __init__(
        self, agent: str, channel_id: str, tool_call: ToolCallUpdate, answered: Callable[[str | None], None]
    ) -> None:
        self.agent = agent
        self.channel_id = channel_id
        self.tool_call = tool_call
        self.options = _OPTIONS
        self.done = anyio.Event()
        self._answered = answered

    def answer(self, option_id: str | None) -> None:
        """Take the first answer; later ones do nothing."""
        if not self.done.is_set():
            self._answered(option_id)
            self.done.set()


def _refused(caller: str, agent: str, why: str) -> SidekicksError:
    return SidekicksError("messagingRefused", f"@{caller} may not write to @{agent}: {why}", {"peer": agent})
