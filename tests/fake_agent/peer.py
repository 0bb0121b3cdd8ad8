"""A raw ACP client for the fake agent's own tests: frames in and out, checked against the SDK's models.

It must not be used to test the bridge: it is the other side of the same pipe.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Self

from tests.fake_agent import command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JSON = dict[str, Any]
PATIENCE = 20.0  # seconds; only a broken agent makes anyone wait this long
PERMISSION = "session/request_permission"


def model_of(method: str, *, response: bool) -> Any:
    """The SDK's model for the parameters or the result of a method; None if it has none."""
    from acp import schema

    table = {
        "initialize": schema.InitializeResponse,
        "session/new": schema.NewSessionResponse,
        "session/load": schema.LoadSessionResponse,
        "session/resume": schema.ResumeSessionResponse,
        "session/list": schema.ListSessionsResponse,
        "session/prompt": schema.PromptResponse,
        "session/set_config_option": schema.SetSessionConfigOptionResponse,
    }
    asked = {
        "session/update": schema.SessionNotification,
        PERMISSION: schema.RequestPermissionRequest,
        "fs/read_text_file": schema.ReadTextFileRequest,
        "fs/write_text_file": schema.WriteTextFileRequest,
        "terminal/create": schema.CreateTerminalRequest,
        "terminal/output": schema.TerminalOutputRequest,
        "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
        "terminal/release": schema.ReleaseTerminalRequest,
        "elicitation/complete": schema.CompleteElicitationNotification,
    }
    return (table if response else asked).get(method)


def lost(sent: Any, seen: Any) -> bool:
    """Whether something of what was sent, null aside, is not in what the SDK has seen."""
    if isinstance(sent, dict):
        return not isinstance(seen, dict) or any(lost(v, seen.get(k)) for k, v in sent.items())
    if isinstance(sent, list):
        return len(sent) != len(seen) or any(lost(a, b) for a, b in zip(sent, seen, strict=True))
    return bool(sent is not None and sent != seen)


def check(method: str, value: JSON, *, response: bool) -> None:
    """Fail unless the SDK reads the value whole: it drops in silence what is odd."""
    model = model_of(method, response=response)
    if model is not None:
        seen = model.model_validate(value).model_dump(mode="json", by_alias=True, exclude_none=True)
        assert not lost(value, seen), f"{method}: the SDK reads {seen} instead of {value}"


class Peer:
    """A started agent. ``valid`` checks each frame; ``answers`` maps a client method to its result."""

    def __init__(self, folder: Path, *options: str, valid: bool = True, env: dict[str, str] | None = None) -> None:
        self.folder, self.valid = folder, valid
        self.log = folder / "log.jsonl"
        self.answers: dict[str, Callable[[JSON], JSON]] = {}
        self.seen: list[JSON] = []
        self.lines: list[bytes] = []
        self.noise: list[bytes] = []
        self.session = ""
        variables = {"FAKE_AGENT_LOG": str(self.log), "FAKE_AGENT_GATES": str(folder)}
        self.process = subprocess.Popen(
            command(*options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={**os.environ, **variables, **(env or {})},
            start_new_session=True,
        )
        self._methods: dict[int, str] = {}
        self._lines: queue.Queue[bytes] = queue.Queue()
        self.stderr = b""
        self._readers = [threading.Thread(target=self._read_out), threading.Thread(target=self._read_err)]
        for reader in self._readers:
            reader.start()

    def _read_out(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_err(self) -> None:
        assert self.process.stderr
        while data := self.process.stderr.read1(1 << 16):  # type: ignore[attr-defined]
            self.stderr += data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it ended by itself
        self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream
            try:
                stream.close()
            except BrokenPipeError:
                pass  # what was still to be written has no reader

    def send(self, message: JSON) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; its id."""
        request_id = len(self._methods)
        self._methods[request_id] = method
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def line(self) -> bytes:
        """The next line, whatever it is; `EOFError` when the output has ended."""
        line = self._lines.get(timeout=PATIENCE)
        if not line:
            raise EOFError(f"the agent closed its output; stderr: {self.stderr[-500:].decode()}")
        self.lines.append(line)
        return line

    def next(self) -> JSON:
        """The next frame; what is none goes to ``noise``. Requests get their answer, else -32601."""
        while True:
            line = self.line()
            try:
                frame = json.loads(line)
                assert isinstance(frame, dict)
            except (ValueError, AssertionError, RecursionError):
                self.noise.append(line)
                continue
            self.seen.append(frame)
            self._judge(frame)
            if "method" in frame and "id" in frame:
                self._reply(frame)
            return frame

    def _judge(self, frame: JSON) -> None:
        if not self.valid:
            return
        if "method" in frame:
            check(frame["method"], frame["params"], response=False)
        elif frame.get("result") is not None:
            check(self._methods[frame["id"]], frame["result"], response=True)

    def _reply(self, frame: JSON) -> None:
        handler = self.answers.get(frame["method"])
        if handler:
            self.send({"id": frame["id"], "result": handler(frame["params"])})
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.send({"id": frame["id"], "error": error})

    def until(self, request_id: int) -> JSON:
        """The response to a request, everything before it taken in."""
        while True:
            frame = self.next()
            if "method" not in frame and frame.get("id") == request_id:
                return frame

    def call(self, method: str, **params: Any) -> JSON:
        """Send a request and give its response."""
        return self.until(self.ask(method, **params))

    def open(self) -> Self:
        """Initialize and open the session that `prompt` uses."""
        self.call("initialize", protocolVersion=1, clientCapabilities={})
        self.session = self.call("session/new", cwd=str(self.folder), mcpServers=[])["result"]["sessionId"]
        return self

    def prompt(self, text: str) -> int:
        """Send a prompt; the request's id."""
        blocks = [{"type": "text", "text": text}]
        return self.ask("session/prompt", sessionId=self.session, prompt=blocks)

    def turn(self, text: str) -> JSON:
        """A whole turn: its response."""
        return self.until(self.prompt(text))

    def cancel(self) -> None:
        self.send({"method": "session/cancel", "params": {"sessionId": self.session}})

    def updates(self, kind: str = "") -> list[JSON]:
        """The session updates so far, of one kind if named."""
        frames = [f for f in self.seen if f.get("method") == "session/update"]
        every: list[JSON] = [f["params"]["update"] for f in frames]
        return [u for u in every if not kind or u["sessionUpdate"] == kind]

    def said(self) -> str:
        """The text of all message chunks so far."""
        return "".join(u["content"].get("text", "") for u in self.updates("agent_message_chunk"))

    def wait_said(self, text: str) -> None:
        """Take in frames until the agent has said ``text``."""
        while text not in self.said():
            self.next()


def selects(option: str) -> Callable[[JSON], JSON]:
    """The answer to a permission that selects an option."""
    return lambda _params: {"outcome": {"outcome": "selected", "optionId": option}}


def fields(updates: list[JSON], *names: str) -> list[list[Any]]:
    """Some members of each update, None for one that is not there."""
    return [[u.get(n) for n in names] for u in updates]
