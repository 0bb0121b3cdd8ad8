"""A client for the built-in agents: a real process, real frames, each checked against the ACP SDK's models.

Owns the process and the order of reading. Reads block: a frame comes, or the process ended and the test fails
at once with its stderr (pytest-timeout is the last resort).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from acp import schema

from sidekicks_bridge.builtin import BUILTIN_AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from pydantic import BaseModel

Json = dict[str, Any]

_FROM_AGENT: dict[str, type[BaseModel]] = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
    "fs/write_text_file": schema.WriteTextFileRequest,
}
_RESPONSES: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "session/new": schema.NewSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/close": schema.CloseSessionResponse,
}


class Refused(Exception):
    """Raised by a handler to refuse the agent's request, and by `finish` when the agent refused ours."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def conforms(model: type[BaseModel], raw: Json) -> None:
    """Fail unless a model takes the JSON whole: the models repair what is wrong, so compare the way back."""
    assert model.model_validate(raw).model_dump(mode="json", by_alias=True, exclude_unset=True) == raw


class AgentClient:
    """One agent process with one client; use it in a ``with`` block."""

    def __init__(
        self,
        name: str,
        *,
        called: str | None = None,
        fs: Json | None = None,
        cwd: Path | None = None,
        python: list[str] | None = None,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        command = [sys.executable, *(python or []), *BUILTIN_AGENTS[name].argv(called)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=cwd or tempfile.gettempdir(),
        )
        self._capabilities: Json = {"fs": fs or {}}
        self.ignore_stderr = False
        self._last_id = 0
        self._methods: dict[int, str] = {}
        self.updates: list[Json] = []
        self.asked: list[tuple[str, Json]] = []
        self.handlers: dict[str, Callable[[Json], Json]] = {}

    def __enter__(self) -> AgentClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
            self.process.stdout.read()
            status = self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            errors = self.stderr()
            self._errors.close()
        if kind is None:
            assert status == 0
            assert errors == "" or self.ignore_stderr

    def stderr(self) -> str:
        """Return what the agent logged so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def send_line(self, line: bytes) -> None:
        """Write a raw line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, frame: Json) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **frame}).encode())

    def start(self, method: str, params: Json) -> int:
        """Send a request and return its id."""
        self._last_id += 1
        self._methods[self._last_id] = method
        self.send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def read(self) -> Json:
        """Return the next frame, checked; the agent's requests are answered by the handlers on the way."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the agent ended: {self.stderr()}"
        frame: Json = json.loads(line)
        assert frame.pop("jsonrpc") == "2.0"
        method = frame.get("method")
        if method is None:
            if "result" in frame:
                conforms(_RESPONSES[self._methods[frame["id"]]], frame["result"])
            else:
                conforms(schema.Error, frame["error"])
            return frame
        conforms(_FROM_AGENT[method], frame["params"])
        if method == "session/update":
            self.updates.append(frame["params"]["update"])
        else:
            self.asked.append((method, frame["params"]))
            self._answer(frame)
        return frame

    def _answer(self, frame: Json) -> None:
        handler = self.handlers.get(frame["method"])
        if handler is None:
            return
        try:
            self.send({"id": frame["id"], "result": handler(frame["params"])})
        except Refused as error:
            self.send({"id": frame["id"], "error": {"code": error.code, "message": error.message}})

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """Read until a frame is wanted, and return it."""
        while True:
            frame = self.read()
            if wanted(frame):
                return frame

    def finish(self, request_id: int) -> Json:
        """Read until the response to a request, and return its result; raise Refused for an error."""
        frame = self.until(lambda frame: frame.get("id") == request_id and "method" not in frame)
        if "error" in frame:
            raise Refused(frame["error"]["code"], frame["error"]["message"])
        result: Json = frame["result"]
        return result

    def call(self, method: str, params: Json) -> Json:
        return self.finish(self.start(method, params))

    def initialize(self) -> Json:
        return self.call("initialize", {"protocolVersion": 1, "clientCapabilities": self._capabilities})

    def open(self, root: Path) -> str:
        """Initialize, open a session and read until its commands are announced; return the session's id."""
        self.initialize()
        session_id: str = self.call("session/new", {"cwd": str(root), "mcpServers": []})["sessionId"]
        self.until(lambda frame: frame.get("method") == "session/update")
        return session_id

    def prompt(self, session_id: str, text: str, **link: str) -> int:
        """Start a prompt with a text, and a resource link if its ``uri`` and ``name`` are given."""
        blocks: list[Json] = [{"type": "text", "text": text}]
        if link:
            blocks.append({"type": "resource_link", **link})
        self.updates.clear()
        return self.start("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def ask(self, session_id: str, text: str, **link: str) -> str:
        """Prompt, expect the turn to end by itself, and return what was said."""
        assert self.finish(self.prompt(session_id, text, **link)) == {"stopReason": "end_turn"}
        return self.said()

    def said(self) -> str:
        chunks = [update for update in self.updates if update["sessionUpdate"] == "agent_message_chunk"]
        return "".join(update["content"]["text"] for update in chunks)

    def tool_updates(self) -> list[Json]:
        return [update for update in self.updates if update["sessionUpdate"].startswith("tool_call")]

    def tool(self) -> Json:
        """Return the turn's only tool call as its updates left it."""
        merged: Json = {}
        for update in self.tool_updates():
            merged |= update
        return merged


def framed(*messages: str, text: str, channel: str = "#general") -> str:
    """Return a prompt as the bridge frames it; continuation lines of the messages are indented here."""
    lines = [f"[Messages in {channel} you have not seen yet]"]
    lines += [message.replace("\n", "\n  ") for message in messages]
    lines += [
        "[End of the messages]",
        "The user now writes to you (answer directly, without your name in front):",
        text,
    ]
    return "\n".join(lines)
