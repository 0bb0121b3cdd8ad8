"""The agent's side of ACP v1 for the built-in agents: handshake, sessions, a thread for each running turn.

Owns the sessions. The main thread reads, so a cancel is seen while a turn runs; what a turn may do is in
`Turn`, what is answered is the business of a `Behaviour`. Standard library only, and little of it: an agent
must be there in a tenth of a second.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sidekicks_bridge import __version__
from sidekicks_bridge.builtin.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Json,
    RpcError,
    Wire,
    parse_line,
)
from sidekicks_bridge.builtin.turn import ClientFiles, Turn, TurnCancelledError

if TYPE_CHECKING:
    from collections.abc import Callable

PROTOCOL_VERSION = 1
LAST_WORDS = 2.0  # seconds that running turns get to stop once stdin has ended


class Command(NamedTuple):
    """A slash command as it is announced; ``hint`` names its argument, or is empty."""

    name: str
    description: str
    hint: str = ""


class Behaviour(Protocol):
    """What one session of an agent does: its commands, and the answer to a prompt."""

    commands: tuple[Command, ...]

    def answer(self, turn: Turn) -> None:
        """Answer the turn's prompt; raise TurnCancelledError when it was cancelled."""


class Session:
    """One conversation: its behaviour and the turn that runs now, if any."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.turn: Turn | None = None


class AcpAgent:
    """Serves ACP on two file descriptors until the first one ends."""

    def __init__(
        self,
        name: str,
        title: str,
        open_session: Callable[[str], Behaviour],
        source: int = 0,
        sink: int = 1,
    ) -> None:
        self._identity: Json = {"name": f"sidekicks-{name}", "title": title, "version": __version__}
        self._open_session = open_session
        self._wire = Wire(source, sink)
        self._files = ClientFiles(reads=False, writes=False)
        self._sessions: dict[str, Session] = {}
        self._threads: list[threading.Thread] = []
        self._requests: dict[str, Callable[[Any, Json], None]] = {
            "initialize": self._initialize,
            "session/new": self._new_session,
            "session/prompt": self._prompt,
            "session/close": self._close_session,
        }

    def run(self) -> None:
        """Read until the client closes stdin, then stop what still runs."""
        for line in self._wire.lines():
            if line.strip():
                self._receive(line)
        for session_id in list(self._sessions):
            self._cancel(session_id)
        for thread in self._threads:
            thread.join(LAST_WORDS)

    def _receive(self, line: bytes) -> None:
        frame: Json = {}
        try:
            frame = parse_line(line)
            self._dispatch(frame)
        except RpcError as error:
            self._wire.refuse(frame.get("id"), error)

    def _dispatch(self, frame: Json) -> None:
        method = frame.get("method")
        params = frame.get("params")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            if "result" not in frame and "error" not in frame:
                raise RpcError(INVALID_REQUEST, "A frame must have a method, a result or an error.")
            self._wire.settle(frame)
        elif "id" in frame:
            handler = self._requests.get(method)
            if handler is None:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
            handler(frame["id"], params)
        elif method == "session/cancel":
            self._cancel(str(params.get("sessionId")))

    def _initialize(self, request_id: Any, params: Json) -> None:
        capabilities = params.get("clientCapabilities")
        files = capabilities.get("fs") if isinstance(capabilities, dict) else None
        files = files if isinstance(files, dict) else {}
        self._files = ClientFiles(files.get("readTextFile") is True, files.get("writeTextFile") is True)
        self._wire.respond(
            request_id,
            {
                "protocolVersion": PROTOCOL_VERSION,
                "agentInfo": self._identity,
                "agentCapabilities": {"loadSession": False, "sessionCapabilities": {"close": {}}},
                "authMethods": [],
            },
        )

    def _new_session(self, request_id: Any, params: Json) -> None:
        root = params.get("cwd")
        if not isinstance(root, str) or not os.path.isabs(root):  # noqa: PTH117 - pathlib costs 10 ms at start
            raise RpcError(INVALID_PARAMS, f"cwd must be the absolute path of a folder, not {root!r}.")
        if not os.path.isdir(root):  # noqa: PTH112
            raise RpcError(INVALID_PARAMS, f"The folder {root} does not exist.")
        session_id = os.urandom(8).hex()
        session = self._sessions[session_id] = Session(self._open_session(root))
        self._wire.respond(request_id, {"sessionId": session_id})
        announced = [_announcement(command) for command in session.behaviour.commands]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": announced}
        self._wire.notify("session/update", {"sessionId": session_id, "update": update})

    def _prompt(self, request_id: Any, params: Json) -> None:
        session_id, session = self._session(params)
        prompt = params.get("prompt")
        if not isinstance(prompt, list) or not all(isinstance(block, dict) for block in prompt):
            raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks.")
        if session.turn is not None:
            raise RpcError(INVALID_REQUEST, "This session is still answering: cancel that prompt or wait for it.")
        turn = session.turn = Turn(self._wire, session_id, prompt, self._files)
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._answer, args=(request_id, session, turn), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _answer(self, request_id: Any, session: Session, turn: Turn) -> None:
        failure: RpcError | None = None
        try:
            session.behaviour.answer(turn)
        except TurnCancelledError:
            turn.cancel()  # so it is reported as cancelled also when the client withdrew a question instead
        except Exception as error:  # mapped to the wire; the traceback goes to the log
            traceback.print_exc(file=sys.stderr)
            failure = RpcError(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        session.turn = None  # before the response: the next prompt may follow it at once
        if failure is None:
            self._wire.respond(request_id, {"stopReason": "cancelled" if turn.cancelled else "end_turn"})
        else:
            self._wire.refuse(request_id, failure)

    def _close_session(self, request_id: Any, params: Json) -> None:
        session_id, _ = self._session(params)
        self._cancel(session_id)
        del self._sessions[session_id]
        self._wire.respond(request_id, {})

    def _cancel(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        turn = session.turn if session is not None else None
        if turn is not None:
            turn.cancel()

    def _session(self, params: Json) -> tuple[str, Session]:
        session_id = params.get("sessionId")
        session = self._sessions.get(session_id) if isinstance(session_id, str) else None
        if not isinstance(session_id, str) or session is None:
            raise RpcError(INVALID_PARAMS, f"There is no session {session_id!r}: make one with session/new.")
        return session_id, session


def _announcement(command: Command) -> Json:
    announced: Json = {"name": command.name, "description": command.description}
    return {**announced, "input": {"hint": command.hint}} if command.hint else announced
