"""The agent side of ACP: initialize, signing in, sessions and their settings, and the start of turns.

It owns the sessions and answers every request but the prompts, which their turns answer. Static misbehaviour
of the options (hang, error, hold, …) is applied here, around every method alike.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from tests.fake_agent import shapes
from tests.fake_agent.gates import Gates
from tests.fake_agent.turn import Turn
from tests.fake_agent.wire import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    RefusedError,
    Wire,
)

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    from tests.fake_agent.log import Recorder
    from tests.fake_agent.options import Options
    from tests.fake_agent.wire import Id

    JSON = dict[str, Any]

CAP_OF = {
    "load": "load",
    "resume": "resume",
    "list": "list",
    "close": "close",
    "delete": "delete",
    "fork": "fork",
}
BLOCK_CAP = {"image": "image", "audio": "audio", "resource": "embedded"}


class Session:
    """One conversation: its folder and settings."""

    def __init__(self, session_id: str, cwd: str, options: Options, title: str = "") -> None:
        self.id, self.cwd, self.title = session_id, cwd, title
        self.mode = options.modes[0] if options.modes else ""
        self.model = options.models[0] if options.models else ""
        self.config = shapes.config_options(options.config_options)
        self.turn: Turn | None = None
        self.commands_announced = False
        self.mcp_servers: list[JSON] = []
        self._count = 0

    def next_id(self, letter: str) -> str:
        """A fresh id for a tool call, a message or the like; unique within the session."""
        self._count += 1
        return f"{letter}{self._count}"


class Agent:
    """One agent process."""

    def __init__(self, options: Options, recorder: Recorder, wire: Wire) -> None:
        self.options, self.recorder, self.wire = options, recorder, wire
        self.gates = Gates(os.environ.get("FAKE_AGENT_GATES", ""))
        self.sessions = {s: Session(s, "/", options, title=f"Session {s}") for s in options.sessions}
        self._initialized = False
        self._authenticated = False

    def receive(self, message: JSON) -> None:
        """Act on one message; only prompts and held answers go on elsewhere."""
        method = message.get("method")
        if method is None:
            self.wire.settle(message)
        elif "id" in message:
            self._requested(method, message["id"], message.get("params") or {})
        elif method == "session/cancel":
            session = self.sessions.get(message["params"]["sessionId"])
            if session and session.turn:
                session.turn.cancelled.set()

    def _requested(self, method: str, request_id: Id, params: JSON) -> None:
        short = method.rpartition("/")[2]
        if short in self.options.exit_in:
            sys.stderr.write(f"fake agent: told to end in {short}\n")
            sys.stderr.flush()
            os._exit(int(self.options.exit_in[short]))
        if short in self.options.hang:
            return
        gate = self.options.hold.get(short)
        if gate:
            held = threading.Thread(target=self._held, args=(gate, method, request_id, params), daemon=True)
            held.start()
        else:
            self._answer(method, request_id, params)

    def _held(self, gate: str, method: str, request_id: Id, params: JSON) -> None:
        self.recorder.write("holding", gate=gate, method=method)
        self.gates.wait(gate)
        self._answer(method, request_id, params)

    def _answer(self, method: str, request_id: Id, params: JSON) -> None:
        short = method.rpartition("/")[2]
        try:
            self._admit(method, short, params)
            if method == "session/prompt":
                self._start_turn(request_id, params)
                return
            result = getattr(self, f"_on_{method.replace('/', '_')}", self._unknown)(params)
            if short in ("new", "load", "resume"):
                opened = self.sessions[params.get("sessionId") or result["sessionId"]]
                opened.mcp_servers = params.get("mcpServers") or []
            self.wire.answer(request_id, None if short in self.options.null else result)
        except RefusedError as error:
            self.wire.refuse(request_id, error)
            return
        if short in ("new", "load", "resume") and self.options.commands_at == "after":
            self._announce_commands(self.sessions[params.get("sessionId") or result["sessionId"]])

    def _admit(self, method: str, short: str, params: JSON) -> None:
        """Refuse what the options or the protocol refuse."""
        if short in self.options.error:
            code, _, text = self.options.error[short].partition(":")
            raise RefusedError(int(code), text or f"told to fail in {short}")
        cap = CAP_OF.get(short) if method.startswith("session/") else None
        if short in self.options.unserved or (cap and cap not in self.options.caps):
            raise RefusedError(METHOD_NOT_FOUND, "Method not found", {"method": method})
        if method != "initialize" and not self._initialized:
            self._violated(f"{method} before initialize")
        if short in self.options.auth_required and not self._signed_in():
            raise RefusedError(AUTH_REQUIRED, "Authentication required")
        if short in ("new", "load", "resume"):
            if not os.path.isabs(str(params.get("cwd"))):  # noqa: PTH117 - pathlib costs 4 ms at start
                self._violated(f"cwd is not absolute: {params.get('cwd')}")
            if short != "resume" and not isinstance(params.get("mcpServers"), list):
                self._violated("mcpServers is not a list")

    def _violated(self, what: str) -> None:
        self.recorder.write("violation", what=what)
        raise RefusedError(INVALID_PARAMS, what)

    def _signed_in(self) -> bool:
        credentials = os.environ.get("FAKE_AGENT_CREDENTIALS", "")
        return (
            (self._authenticated and not self.options.auth_stale)
            or "FAKE_AGENT_KEY" in os.environ
            or (bool(credentials) and os.path.exists(credentials))  # noqa: PTH110
        )

    # --- turns

    def _start_turn(self, request_id: Id, params: JSON) -> None:
        session = self._session(params)
        if session.turn:
            self._violated("a prompt while another is running in this session")
        for block in params["prompt"]:
            cap = BLOCK_CAP.get(block["type"])
            if cap and cap not in self.options.caps:
                self._violated(f"a block of type {block['type']} without the capability")
        if self.options.commands_at == "prompt":
            self._announce_commands(session)
        session.turn = Turn(self, session, request_id, params["prompt"])
        threading.Thread(target=session.turn.run, daemon=True).start()

    def _session(self, params: JSON) -> Session:
        session = self.sessions.get(params["sessionId"])
        if session is None:
            raise RefusedError(NOT_FOUND, "Resource not found", {"uri": params["sessionId"]})
        return session

    def _announce_commands(self, session: Session) -> None:
        if self.options.commands and not session.commands_announced:
            session.commands_announced = True
            commands = shapes.command_list(self.options.commands)
            self.update(session, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def update(self, session: Session, update: JSON) -> None:
        self.wire.notify("session/update", {"sessionId": session.id, "update": update})

    # --- methods, found by name

    def _unknown(self, _params: JSON) -> JSON:
        raise RefusedError(METHOD_NOT_FOUND, "Method not found")

    def _on_initialize(self, params: JSON) -> JSON:
        if not isinstance(params.get("protocolVersion"), int):
            self._violated("protocolVersion is not a number")
        self._initialized = True
        return shapes.initialized(self.options)

    def _on_authenticate(self, params: JSON) -> JSON:
        if params.get("methodId") != "agent":
            self._violated(f"authenticate with {params.get('methodId')}, which is not called but run or set")
        self._authenticated = True
        return {}

    def _on_logout(self, _params: JSON) -> JSON:
        self._authenticated = False
        return {}

    def _on_session_new(self, params: JSON) -> JSON:
        session = Session(f"{self.options.name}-{os.getpid()}-{len(self.sessions) + 1}", params["cwd"], self.options)
        return {"sessionId": session.id, **self._open(session)}

    _on_session_fork = _on_session_new

    def _on_session_load(self, params: JSON) -> JSON:
        session = Session(params["sessionId"], params["cwd"], self.options)
        for n in range(1, self.options.replay + 1):
            for kind, text in (("user_message_chunk", "question"), ("agent_message_chunk", "answer")):
                block = {"type": "text", "text": f"replayed {text} {n}"}
                self.update(session, {"sessionUpdate": kind, "content": block})
        return self._open(session)

    def _on_session_resume(self, params: JSON) -> JSON:
        return self._open(Session(params["sessionId"], params["cwd"], self.options))

    def _open(self, session: Session) -> JSON:
        self.sessions[session.id] = session
        if self.options.commands_at == "before":
            self._announce_commands(session)
        state: JSON = {}
        if session.mode:
            state["modes"] = shapes.mode_state(self.options.modes, session.mode)
        if session.model:
            state["models"] = shapes.model_state(self.options.models, session.model)
        if session.config:
            state["configOptions"] = session.config
        return state

    def _on_session_list(self, params: JSON) -> JSON:
        start = int(params.get("cursor") or 0)
        size = self.options.page_size or len(self.sessions)
        everyone = list(self.sessions.values())
        page = everyone[start : start + size]
        more = start + size < len(everyone)
        return {
            "sessions": [{"sessionId": s.id, "cwd": s.cwd, "title": s.title or None} for s in page],
            "nextCursor": str(start + size) if more else None,
        }

    def _on_session_close(self, params: JSON) -> JSON:
        session = self._session(params)
        if session.turn:
            session.turn.cancelled.set()
        del self.sessions[session.id]
        return {}

    _on_session_delete = _on_session_close

    def _on_session_set_mode(self, params: JSON) -> JSON:
        session = self._session(params)
        if params["modeId"] not in self.options.modes:
            raise RefusedError(INVALID_PARAMS, f"no mode {params['modeId']}")
        session.mode = params["modeId"]
        self.update(session, {"sessionUpdate": "current_mode_update", "currentModeId": session.mode})
        return {}

    def _on_session_set_model(self, params: JSON) -> JSON:
        session = self._session(params)
        if params["modelId"] not in self.options.models:
            raise RefusedError(INVALID_PARAMS, f"no model {params['modelId']}")
        session.model = params["modelId"]
        return {}

    def _on_session_set_config_option(self, params: JSON) -> JSON:
        session = self._session(params)
        return {"configOptions": self.configure(session, params["configId"], params["value"])}

    def configure(self, session: Session, config_id: str, value: Any) -> list[JSON]:
        """Set an option of a session; all its options as they are then."""
        for option in session.config:
            if option["id"] == config_id and value in shapes.config_values(option):
                option["currentValue"] = value
                return session.config
        raise RefusedError(INVALID_PARAMS, f"no option {config_id} with the value {json.dumps(value)}")


def serve(agent: Agent) -> None:
    """Act on standard input until it ends; a malformed message is answered as an internal error."""
    for message in agent.wire.messages():
        try:
            agent.receive(message)
        except (KeyError, TypeError, AttributeError) as error:
            agent.recorder.write("violation", what=f"malformed {message.get('method')}: {error!r}")
            agent.wire.refuse(message.get("id"), RefusedError(INTERNAL_ERROR, repr(error)))
