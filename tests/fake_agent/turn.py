"""One running prompt: what directives act on.

It owns the turn's cancellation, its updates and how it ends. The directives themselves are in `talk`, `ask`,
`trouble` and `bad`; the answer to the request is sent by `Turn.run` alone.
"""

from __future__ import annotations

import threading

from tests.fake_agent import script, wire

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tests.fake_agent.agent import Agent, Session

    JSON = dict[str, Any]
    Action = Callable[["Turn", str], None]

DIRECTIVES: dict[str, Action] = {}


def directive(name: str) -> Callable[[Action], Action]:
    """Register an action under ``!name``. It gets the turn and the directive's argument, stripped, not
    unescaped."""

    def register(action: Action) -> Action:
        DIRECTIVES[name] = action
        return action

    return register


class CancelledError(Exception):
    """The client cancelled this turn."""


class SilentError(Exception):
    """The turn ends without an answer, or something else has answered for it."""


class Turn:
    """A prompt of ``session``; ``blocks`` are its content blocks."""

    def __init__(self, agent: Agent, session: Session, request_id: wire.Id, blocks: list[JSON]) -> None:
        self.agent, self.session, self.request_id = agent, session, request_id
        self.wire = agent.wire
        self.blocks = blocks
        self.cancelled = threading.Event()
        self.ignores_cancel = False
        self.stop = "end_turn"
        self.stop_when_cancelled = "cancelled"
        self.last_words = ""
        self.after: list[Callable[[], None]] = []
        self.message_id = session.next_id("m") if agent.options.message_ids else ""

    def run(self) -> None:
        """Play the script and answer the request."""
        try:
            self._play()
            self.answer(result={"stopReason": self.stop})
        except CancelledError:
            if self.last_words:
                self.say(self.last_words)
            self.answer(result={"stopReason": self.stop_when_cancelled})
        except wire.RefusedError as error:
            self.answer(error=error.body())
        except ValueError as error:
            self.answer(error={"code": wire.INVALID_PARAMS, "message": str(error)})
        except (LookupError, TypeError, OSError) as error:  # an argument that the directive cannot use
            self.answer(error={"code": wire.INVALID_PARAMS, "message": repr(error)})
        except SilentError:
            self.session.turn = None
        for step in self.after:
            step()

    def answer(self, **members: Any) -> None:
        """Send the response, with these members. The session is free before the client can know it."""
        self.session.turn = None
        self.wire.send({"jsonrpc": "2.0", "id": self.request_id, **members})

    def _play(self) -> None:
        text = "".join(b.get("text", "") for b in self.blocks if b.get("type") == "text")
        text = script.users_text(text)
        steps = script.directives(text, DIRECTIVES, self.agent.options.name)
        for name, argument in steps:
            self.check()
            DIRECTIVES[name](self, argument)
        if not steps:
            for word in script.words(f"{self.agent.options.name} heard: {text}"):
                self.check()
                self.say(word)

    @property
    def stopping(self) -> bool:
        """Whether a cancel has come that this turn obeys."""
        return self.cancelled.is_set() and not self.ignores_cancel

    def check(self) -> None:
        """End the turn here if it was cancelled."""
        if self.stopping:
            raise CancelledError

    def wait_gate(self, gate: str) -> None:
        """Block until the gate is open or the turn is cancelled."""
        self.agent.recorder.write("holding", gate=gate, session=self.session.id)
        self.agent.gates.wait(gate, lambda: self.stopping)
        self.check()

    def update(self, update: JSON) -> None:
        self.wire.notify("session/update", {"sessionId": self.session.id, "update": update})

    def chunk(self, text: str, kind: str = "agent_message_chunk") -> JSON:
        """The update that says ``text``."""
        update: JSON = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        if self.message_id:
            update["messageId"] = self.message_id
        return update

    def say(self, text: str) -> None:
        self.update(self.chunk(text))

    def tool(self, call_id: str, **fields: Any) -> None:
        """Announce a tool call."""
        self.update({"sessionUpdate": "tool_call", "toolCallId": call_id, **fields})

    def tool_update(self, call_id: str, **fields: Any) -> None:
        self.update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, **fields})

    def request(self, method: str, **params: Any) -> JSON:
        """Ask the client something for this session and wait for the whole reply."""
        return self.wire.ask(method, {"sessionId": self.session.id, **params}).wait()
