"""The scripted model as an HTTP server on 127.0.0.1: agents are pointed at it instead of at a real one.

Owns connections and the memory of what was asked. The first part of a path names the agent that asks:
``/codex/v1/responses``.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from scripts.real_agents.dialects import DIALECTS
from scripts.real_agents.script import Fail, acts, structured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.real_agents.script import JSON

MODEL = "scripted"


@dataclass(frozen=True)
class Request:
    """What an agent asked its model: the whole body as text, for a check to look into."""

    agent: str
    path: str
    body: str


class ScriptedModel(ThreadingHTTPServer):
    """``requests``: what was asked so far, oldest first. A stream that the agent gives up just ends."""

    daemon_threads = True
    block_on_close = False  # a slow answer that nobody reads any more need not be waited for

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        """Where it listens; an agent's own address is ``url/NAME``."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked(self, agent: str, since: int = 0) -> list[Request]:
        """What one agent asked, from the request number ``since`` on."""
        return [request for request in self.requests[since:] if request.agent == agent]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def do_GET(self) -> None:
        """A list of models, or nothing in particular."""
        one = {"id": MODEL, "object": "model", "type": "model", "display_name": "Scripted", "created": 1}
        found = {"object": "list", "data": [{**one, "owned_by": "script"}], "models": [], "has_more": False}
        self._json(found if self.path.partition("?")[0].endswith("/models") else {})

    def do_POST(self) -> None:
        """A request to the model."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        agent = path.split("/")[1]
        self.server.requests.append(Request(agent, path, raw.decode("utf-8", "replace")))
        dialect = next((known for end, known in DIALECTS.items() if path.endswith(end)), None)
        try:
            body: JSON = json.loads(raw or b"{}")
        except ValueError:
            self._json({"error": {"message": "This is no JSON."}}, 400)
            return
        if dialect is None:
            self._json({"input_tokens": 100, "totalTokens": 100} if "ount" in path.rpartition("/")[2] else {})
            return
        asked = dialect.read(body)
        todo = structured(asked.schema) if asked.schema else acts(asked.turns, asked.tools, agent)
        failure = next((act for act in todo if isinstance(act, Fail)), None)
        if failure is not None:
            error = {"type": "invalid_request_error", "message": "The script says that this fails."}
            self._json({"type": "error", "error": error}, failure.status)
            return
        events = dialect.events(todo, str(body.get("model") or MODEL))
        if not (body.get("stream") or path.endswith(":streamGenerateContent")):
            self._json(dialect.whole(events))
            return
        self.send_response(200)
        self._head("text/event-stream")
        for event in events:
            time.sleep(event.pause)
            self.wfile.write(event.encode())

    def _json(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self._head("application/json")
        self.wfile.write(data)

    def _head(self, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()

    def handle(self) -> None:
        """Serve one connection; that the agent hangs up is its right."""
        try:
            super().handle()
        except ConnectionError:
            pass

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A model that listens as long as the block lasts."""
    with ScriptedModel() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
