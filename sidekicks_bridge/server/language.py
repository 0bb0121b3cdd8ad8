"""The LSP part of a connection: one pygls server object, its writer replaced, its traps mended.

pygls parses, keeps documents and positions and builds capabilities; frames come from our reader and go to our outbox.
It never sees `exit`, never writes to a stream, and what it would say of an exception stays in the log.
"""

from __future__ import annotations

import logging
import sys
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec
from lsprotocol import types as lsp
from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from sidekicks_bridge import __version__
from sidekicks_bridge.protocol import PROTOCOL_VERSION
from sidekicks_bridge.protocol.errors import INTERNAL_ERROR, INVALID_PARAMS
from sidekicks_bridge.server import errors
from sidekicks_bridge.server.framing import frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from cattrs import Converter


# It logs what clients say wrongly with tracebacks, as if that were its own bugs; those we log ourselves.
logging.getLogger("pygls").setLevel(logging.CRITICAL)


class SidekicksProtocol(LanguageServerProtocol):
    """pygls' protocol object, writing where the connection says."""

    send_frame: Callable[[bytes], None]

    def _send_data(self, data: Any) -> None:
        """Encode with the message's own converter; errors lose the traceback that pygls puts into them."""
        result = getattr(data, "result", None)
        if isinstance(result, dict):  # in the wire's form already
            self.send_frame(frame(msgspec.json.encode({"jsonrpc": "2.0", "id": data.id, "result": result})))
            return
        if isinstance(result, lsp.InitializeResult):
            result.capabilities.experimental = {
                "sidekicks": {"protocolVersion": PROTOCOL_VERSION, "bridgeVersion": __version__}
            }
        if isinstance(data, lsp.ResponseErrorMessage) and data.error is not None:
            data.error = _without_traceback(data.error)
        self.send_frame(frame(msgspec.json.encode(self._converter.unstructure(data))))

    def accept(self, message: dict[str, Any]) -> bool:
        """Handle one parsed message (only its top level is taken for one: trap T1). Always answers a request.

        False: its parameters are not what LSP says.
        """
        try:
            structured = self.structure_message(message)
        except JsonRpcException:
            if message.get("id") is not None:
                sentence = f"The parameters of {message['method']} are not as LSP describes them."
                error = {"code": INVALID_PARAMS, "message": sentence}
                self.send_frame(frame(msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "error": error})))
            return False
        if not self._changes_nothing(structured):
            self.handle_message(structured)
        return True

    def _changes_nothing(self, message: Any) -> bool:
        """Whether it changes a document that is not open: a client's slip, which pygls takes for a bug."""
        if not isinstance(message, lsp.DidChangeTextDocumentNotification):
            return False
        return unquote(message.params.text_document.uri) not in self.workspace.text_documents

    # pygls' own two remember their arguments, and with them every connection that ever was.
    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of a message."""
        return lsp.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of the answer to it."""
        return lsp.METHOD_TO_TYPES.get(method, (None, None))[1]


def _without_traceback(error: lsp.ResponseError) -> lsp.ResponseError:
    """pygls puts the traceback into ``data`` (trap T4). A bug is logged here and gets an id instead."""
    if error.code != INTERNAL_ERROR:
        return lsp.ResponseError(code=error.code, message=error.message)
    failure = sys.exc_info()[1] or RuntimeError(error.message)
    return lsp.ResponseError(**errors.bug(failure))


class QuietServer(LanguageServer):
    """A pygls server that reports its own failures to the log instead of to the user's screen."""

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A handler failed: that is a bug of ours, and logged already if a request was answered with it."""
        if source is not FeatureRequestError:
            errors.bug(error.__cause__ or error.__context__ or error)


@cache
def _converter() -> Converter:
    """pygls' converter, with untyped parameters left as plain dicts instead of namedtuples.

    One for all connections: it compiles code for each type it meets, which takes tens of milliseconds each time anew.
    """
    from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls leaves it untyped
    for kind in (JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, _structure_plainly)
    return converter


def _structure_plainly(data: dict[str, Any], kind: type[Any]) -> Any:
    import attrs

    return kind(**{field.name: data.get(field.name) for field in attrs.fields(kind)})


def language_server(send_frame: Callable[[bytes], None]) -> QuietServer:
    """A server object for one connection; features are registered by the caller."""
    server = QuietServer(
        "sidekicks", __version__, protocol_cls=SidekicksProtocol, converter_factory=_converter, max_workers=1
    )
    protocol = server.protocol
    assert isinstance(protocol, SidekicksProtocol)
    protocol.send_frame = send_frame
    return server
