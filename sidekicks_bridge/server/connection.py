"""One attached client: its frames, its requests, its outbox. Implements the bridge's `Client`.

Requests of the protocol go straight to the bridge; everything else is LSP and goes to this connection's pygls object.
A connection ends without the owner ending: `exit` is only its own (trap T2).
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio

from sidekicks_bridge.protocol import PROTOCOL_VERSION
from sidekicks_bridge.protocol.base import decode_params, encode
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.handshake import ClientOptions
from sidekicks_bridge.protocol.methods import METHOD_BY_NAME
from sidekicks_bridge.server import errors
from sidekicks_bridge.server.documents import Documents
from sidekicks_bridge.server.features import OPEN
from sidekicks_bridge.server.framing import frame
from sidekicks_bridge.server.incoming import INVALID_REQUEST, NotAMessage, RequestId, is_request_id, parse
from sidekicks_bridge.server.language import SidekicksProtocol, language_server
from sidekicks_bridge.server.outbox import Outbox
from sidekicks_bridge.server.plain_client import Dialogs
from sidekicks_bridge.server.roots import folder_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.server.features import Handler
    from sidekicks_bridge.server.language import QuietServer
    from sidekicks_bridge.server.outbox import SharedFrames
    from sidekicks_bridge.server.owner import Owner

_log = logging.getLogger(__name__)
NOT_INITIALIZED = -32002
MAIL = "sidekicks/mail/"
_TOO_EARLY = {"code": NOT_INITIALIZED, "message": "Send `initialize` first."}
_TOO_LATE = {"code": INVALID_REQUEST, "message": "After `shutdown` only `exit` may follow."}


class Connection:
    """A client. Feed it bodies with `accept`; what it has to say is in ``outbox``."""

    def __init__(self, owner: Owner, task_group: TaskGroup, wake: Callable[[], None], frames: SharedFrames) -> None:
        self.id = owner.ids.new()
        self.name = "an LSP client"
        self.attached_at = ""
        self.folder: str | None = None
        self.trusted: bool | None = None
        self.document_read = False
        self.plain = True
        self.outbox = Outbox(wake, frames)
        self.ended = anyio.Event()
        self.orderly = False
        self._owner = owner
        self._task_group = task_group
        self._initialized = False
        self._requests: dict[RequestId, anyio.CancelScope] = {}
        self._asked: dict[str, anyio.Event] = {}
        self._answers: dict[str, Any] = {}
        self._count = 0
        self._dialogs = Dialogs(self)

    @cached_property
    def language(self) -> QuietServer:
        """The connection's pygls server, once LSP is spoken: a script that sends one letter need not pay for it."""
        server = language_server(self.outbox.put_frame)
        Documents(self).register(server)
        return server

    # ── what comes in ────────────────────────────────────────────────────────────────────────────────────────────

    def accept(self, body: bytes) -> None:
        """Take one message; answers it now or starts a task that will."""
        try:
            message = parse(body)
        except NotAMessage as problem:
            self._send_error(problem.request_id, {"code": problem.code, "message": str(problem)})
            return
        try:
            self._take(message)
        except Exception as failure:  # mapped to the wire: one bug loses one message
            error = errors.error_of(failure)
            if "method" in message and message.get("id") is not None:
                self._send_error(message["id"], error)

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        request_id = message.get("id")
        if method is None:
            self._answered(message)
        elif self.ended.is_set():
            if request_id is not None:
                self._send_error(request_id, errors.error_of(SidekicksError("shuttingDown", "The bridge is ending.")))
        elif method == "exit":
            self.ended.set()
        elif method == "$/cancelRequest":
            self._cancel(message)
        elif method == "initialize":
            self._initialize(message)
        elif not self._initialized and method.startswith(MAIL):  # it says by itself who asks, and asks for no events
            self._request(request_id, method, message.get("params"))
        elif not self._initialized or self.orderly:
            if request_id is not None:
                self._send_error(request_id, _TOO_LATE if self.orderly else _TOO_EARLY)
        elif method.startswith("sidekicks/"):
            self._request(request_id, method, message.get("params"))
        else:
            self.orderly = method == "shutdown"
            self._to_language(message)

    def _to_language(self, message: dict[str, Any]) -> bool:
        """Give pygls a message; whether its parameters were as LSP says."""
        protocol = self.language.protocol
        assert isinstance(protocol, SidekicksProtocol)
        message.setdefault("params", None)
        message["jsonrpc"] = "2.0"  # pygls says nothing at all to a message without it
        return protocol.accept(message)

    def _initialize(self, message: dict[str, Any]) -> None:
        if self._initialized:
            error = {"code": INVALID_REQUEST, "message": "This connection is initialized already."}
            self._send_error(message.get("id"), error)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        given = params.get("initializationOptions")
        options = given.get("sidekicks") if isinstance(given, dict) else None
        try:
            if options is not None:
                self._take_options(decode_params(options, ClientOptions))
        except SidekicksError as refusal:
            self._send_error(message.get("id"), errors.error_of(refusal))
            return
        self.folder = folder_of(params)
        info = params.get("clientInfo")
        if isinstance(info, dict) and isinstance(info.get("name"), str):
            self.name = info["name"]
        params.pop("initializationOptions", None)
        self._initialized = self._to_language(message)
        if self._initialized:
            self._task_group.start_soon(self._attach)

    def _take_options(self, options: ClientOptions) -> None:
        if options.protocol_version != PROTOCOL_VERSION:
            raise SidekicksError(
                "protocolMismatch",
                f"This client speaks protocol version {options.protocol_version}, the bridge {PROTOCOL_VERSION}. "
                "Install the same version of both.",
                {"client": options.protocol_version, "bridge": PROTOCOL_VERSION},
            )
        self.plain = False
        self.trusted = options.workspace_trusted
        self.document_read = options.document_read

    async def _attach(self) -> None:
        bridge = await self.bridge()
        self.attached_at = bridge.clock.now()
        bridge.clients.attach(self)
        if self.plain:  # others ask for the state
            for question in bridge.open_questions():
                self._dialogs.notify(question)

    def _cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        wanted = params.get("id") if isinstance(params, dict) else None
        if not is_request_id(wanted):
            return
        if wanted in self._requests:
            self._requests[wanted].cancel()
        elif self._initialized:
            self._to_language(message)

    # ── requests of the protocol ─────────────────────────────────────────────────────────────────────────────────

    @property
    def ready_bridge(self) -> Bridge | None:
        """The bridge, if it has started."""
        return self._owner.bridge if self._owner.ready.is_set() else None

    async def bridge(self) -> Bridge:
        """The bridge, as soon as it has started."""
        await self._owner.ready.wait()
        return self._owner.bridge

    def _request(self, request_id: RequestId | None, method: str, params: object) -> None:
        described = METHOD_BY_NAME.get(method)
        if described is None or described.side != "bridge":
            if request_id is not None:
                self._send_error(request_id, errors.unknown_method(method))
            return
        scope = anyio.CancelScope()
        if request_id is not None:
            self._requests[request_id] = scope
        self._task_group.start_soon(self._answer, request_id, method, {} if params is None else params, scope)

    async def _answer(
        self, request_id: RequestId | None, method: str, params: object, scope: anyio.CancelScope
    ) -> None:
        """Run one request and answer it, whatever happens: one bug loses one request."""
        answered = False

        def answer(result: Wire) -> None:
            nonlocal answered
            answered = True
            if self._initialized:  # it is told events: those of what the answer shows come first
                self._owner.bridge.overview.flush()
            self._send_result(request_id, result)

        try:
            with scope:
                await self.bridge()
                handler: Handler = self._owner.handlers[method]
                arguments = decode_params(params, METHOD_BY_NAME[method].params)
                if method == OPEN:
                    await handler(self, arguments, answer)
                else:
                    answer(await handler(self, arguments))
            if scope.cancelled_caught and not answered:
                self._send_error(request_id, errors.cancelled())
        except Exception as failure:  # mapped to the wire
            if not answered:
                self._send_error(request_id, errors.error_of(failure))
            else:
                errors.bug(failure)
        finally:
            if request_id is not None and self._requests.get(request_id) is scope:
                del self._requests[request_id]

    def _send_result(self, request_id: RequestId | None, result: Wire) -> None:
        if request_id is not None:
            body = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encode(result))
            self.outbox.put_frame(frame(body))

    def _send_error(self, request_id: object, error: dict[str, Any]) -> None:
        self.outbox.put_frame(frame(encode({"jsonrpc": "2.0", "id": request_id, "error": error})))

    # ── what goes out (Client) ───────────────────────────────────────────────────────────────────────────────────

    def notify(self, event: Wire) -> bool:
        """Queue an event; a plain LSP client gets what agents ask as dialogs and nothing else."""
        if self.plain:
            self._dialogs.notify(event)
            return True
        fits = self.outbox.put(event)
        if self.outbox.overrun:
            _log.warning("client %s does not read; it is given up", self.id)
            self.ended.set()
        return fits

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification of LSP's own."""
        self.outbox.put_frame(frame(encode({"jsonrpc": "2.0", "method": method, "params": params})))

    async def read_document(self, path: str) -> str | None:
        """The unsaved text of a buffer, or None."""
        result = await self.ask("sidekicks/document/read", {"path": path})
        text = result.get("text") if isinstance(result, dict) else None
        return text if isinstance(text, str) else None

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send the client a request; its result, or None if it failed. Cancelling tells the client."""
        self._count += 1
        request_id = f"bridge-{self._count}"
        event = self._asked[request_id] = anyio.Event()
        self.outbox.put_frame(frame(encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})))
        try:
            await event.wait()
        except anyio.get_cancelled_exc_class():
            self.tell("$/cancelRequest", {"id": request_id})
            raise
        finally:
            self._asked.pop(request_id, None)
        return self._answers.pop(request_id, None)

    def _answered(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        if isinstance(request_id, str) and request_id in self._asked:
            self._answers[request_id] = message.get("result")
            self._asked[request_id].set()

    def spawn(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Start a task that ends with this connection; its failure ends nothing else."""
        self._task_group.start_soon(_contained, task, args)


async def _contained(task: Callable[..., Awaitable[object]], args: tuple[object, ...]) -> None:
    try:
        await task(*args)
    except Exception as failure:  # a child task's failure is contained
        errors.bug(failure)
