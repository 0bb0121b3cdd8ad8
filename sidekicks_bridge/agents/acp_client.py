"""What an agent may ask of us, ACP's client side: updates, permissions, files. Everything else is refused, in words.

Frames come raw from the transport, because the SDK's typed router loses a request whose option kind it does not know
and lets ``_meta`` override arguments. Every request is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import anyio

from sidekicks_bridge.agents.raw import integer, record, text
from sidekicks_bridge.agents.refusal import METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from sidekicks_bridge.protocol.errors import CANCELLED, INTERNAL_ERROR, INVALID_PARAMS, SidekicksError
from sidekicks_bridge.workspaces.local import LocalWorkspace, slice_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.agents.contract import ReadBuffer
    from sidekicks_bridge.agents.session import AcpSession
    from sidekicks_bridge.agents.transport import ChunkKind, RequestId

    Answer = Callable[[AcpSession, dict[str, Any]], Awaitable[dict[str, Any]]]

CLIENT_CAPABILITIES: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": False,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}},
    # Zed's extensions: without `terminal_output` some agents send output truncated, or all of it with every line.
    "auth": {"terminal": True},
    "_meta": {"terminal_output": True, "terminal-auth": True},
}
BUFFER_SECONDS = 1.0


class AcpClient:
    """Serves one agent process; implements `FrameHandler`."""

    def __init__(self, connection: AgentConnection, read_buffer: ReadBuffer) -> None:
        self._connection = connection
        self._sessions = connection.sessions
        self._read_buffer = read_buffer
        self._running: dict[RequestId, anyio.CancelScope] = {}
        self._methods: dict[str, Answer] = {
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
        }

    def on_chunk(self, session_id: str, kind: ChunkKind, words: str, message_id: str | None) -> None:
        """Text of a message or thought."""
        self._sessions.deliver(session_id, lambda session: session.on_chunk(kind, words, message_id))

    def on_update(self, params: dict[str, Any]) -> None:
        """Any other update."""
        update = params.get("update")
        if isinstance(update, dict):
            session_id = text(params.get("sessionId")) or ""
            self._sessions.deliver(session_id, lambda session: session.on_update(update))

    def on_noise(self, line: bytes) -> None:
        """A line that is no frame goes to the log."""
        self._connection.noise += 1
        self._connection.note(line)

    def on_notification(self, method: str, params: Any) -> None:
        """``$/cancel_request`` withdraws a request, ``elicitation/complete`` settles one; others say nothing to us."""
        if method == "elicitation/complete":
            for session in self._sessions:
                session.on_elicitation_complete(text(record(params).get("elicitationId")) or "")
        if method != "$/cancel_request":
            return
        request_id = record(params).get("requestId")
        if not isinstance(request_id, int | float | str):
            return
        if scope := self._running.get(request_id):
            scope.cancel()
        elif any(session.withdraw(request_id) for session in self._sessions):
            self._refuse(request_id, CANCELLED, "Request cancelled")

    def on_request(self, request_id: RequestId, method: str, params: Any) -> None:
        """Answer a request, now or when it is done."""
        given = record(params)
        session = self._sessions.find(given.get("sessionId"))
        if method == "session/request_permission":
            if session is None:
                self._connection.respond(request_id, {"outcome": {"outcome": "cancelled"}})
            else:
                session.on_permission(request_id, given)
        elif method == "elicitation/create":
            if session is None:  # of a request outside every session: nobody could be shown it in a channel
                self._connection.respond(request_id, {"action": "cancel"})
            else:
                session.on_elicitation(request_id, given)
        elif method == "session/update":  # has been taken; it should not ask for an answer
            self._connection.respond(request_id, {})
        elif method not in self._methods:
            self._refuse(request_id, METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
        elif session is None:
            self._refuse(request_id, INVALID_PARAMS, "No session has that id.")
        else:
            answer = self._methods[method]
            self._connection.spawn(self._serve, request_id, answer, session, given)

    async def _serve(self, request_id: RequestId, answer: Answer, session: AcpSession, given: dict[str, Any]) -> None:
        result = None
        with anyio.CancelScope() as scope:
            self._running[request_id] = scope
            try:
                result = await answer(session, given)
            except SidekicksError as problem:
                self._refuse(request_id, INVALID_PARAMS, problem.message)
                return
            except FileNotFoundError as problem:
                path = text(given.get("path")) or problem.filename
                # In the words that Gemini and Qwen look for, because they look at no code.
                message = f"Resource not found: ENOENT: no such file or directory, open '{path}'"
                self._refuse(request_id, RESOURCE_NOT_FOUND, message, {"uri": path})
                return
            except OSError as problem:
                self._refuse(request_id, INTERNAL_ERROR, f"{problem.strerror or problem}: {given.get('path')}")
                return
            finally:
                self._running.pop(request_id, None)
        if result is None:
            self._refuse(request_id, CANCELLED, "Request cancelled")
        else:
            self._connection.respond(request_id, result)

    async def _read(self, session: AcpSession, given: dict[str, Any]) -> dict[str, Any]:
        path, line, limit = _path(given), integer(given.get("line")), integer(given.get("limit"))
        workspace = LocalWorkspace(session.root)
        real = await anyio.to_thread.run_sync(workspace.resolve, path)
        unsaved = None
        with anyio.move_on_after(BUFFER_SECONDS):
            unsaved = await self._read_buffer(str(real))
        if unsaved is not None:
            return {"content": slice_text(unsaved, line, limit)}
        try:
            return {"content": await anyio.to_thread.run_sync(workspace.read_text, path, line, limit)}
        except FileNotFoundError:
            if self._connection.capabilities.missing_is_empty:
                return {"content": ""}
            raise

    async def _write(self, session: AcpSession, given: dict[str, Any]) -> dict[str, Any]:
        path, words = _path(given), given.get("content")
        if not isinstance(words, str):
            raise SidekicksError("invalidParams", "`content` must be a text.")
        await anyio.to_thread.run_sync(LocalWorkspace(session.root).write_text, path, words)
        return {}

    def _refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        self._connection.refuse(request_id, code, message, data)


def _path(given: dict[str, Any]) -> str:
    path = given.get("path")
    if not isinstance(path, str) or not path:
        raise SidekicksError("invalidParams", "`path` must be an absolute path.")
    return unquote(urlsplit(path).path) if path.startswith("file://") else path
