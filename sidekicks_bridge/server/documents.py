"""Composer documents in an editor: which channel a URI belongs to, completion, problems, the fix for a slip."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types as lsp

from sidekicks_bridge.bridge.message_requests import MessageRequests, completion_items
from sidekicks_bridge.channels.prepare import prepare
from sidekicks_bridge.names import fold
from sidekicks_bridge.paths import same_folder

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer
    from pygls.workspace import TextDocument

    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.protocol.routes import RouteProblem
    from sidekicks_bridge.server.connection import Connection

_SLUG = re.compile(r"sidekicks:/{0,3}(?P<slug>[^/?#]+)(?P<compose>/compose/?)?(?:[?#].*)?$", re.IGNORECASE)
SOURCE = "sidekicks"


def slug_of(uri: str) -> str | None:
    """The channel a `sidekicks:` URI names (however an editor spells it), or None for another document."""
    found = _SLUG.match(unquote(uri))
    return found["slug"] if found else None


def is_composer(uri: str) -> bool:
    """Whether the document is one in which a message is written: a transcript is only read."""
    found = _SLUG.match(unquote(uri))
    return found is not None and found["compose"] is not None


class Documents:
    """What an editor asks about the documents it has opened on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._states: dict[str, object] = {}
        """Stands for the text of each open composer: another text is another object."""

    def register(self, server: LanguageServer) -> None:
        """Register the features with the connection's pygls server."""
        # pygls marks what it registers, which a bound method does not allow: hence partial.
        server.feature(
            lsp.TEXT_DOCUMENT_COMPLETION,
            lsp.CompletionOptions(trigger_characters=["@", "/"], resolve_provider=False),
        )(partial(self.complete))
        server.feature(
            lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
        )(partial(self.code_actions))
        server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(partial(self._changed))
        server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(partial(self._changed))
        server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(partial(self._closed))

    def _channel(self, bridge: Bridge, uri: str) -> Channel | None:
        slug = slug_of(uri)
        if slug is None:
            return None
        if not slug.startswith("@"):
            return bridge.directory.named(slug)
        here = [
            channel
            for channel in bridge.directory.all()
            if channel.state.stored.agent is not None and fold(channel.state.stored.agent) == fold(slug[1:])
        ]
        folder = self._connection.folder
        fitting = (channel for channel in here if same_folder(channel.state.stored.root, folder))
        return next(fitting, here[0] if here else None)

    def complete(self, params: lsp.CompletionParams) -> dict[str, Any]:
        """`@` and `/` in a composer; `@` alone in an ordinary buffer. A CompletionList as it goes over the wire.

        An empty one is incomplete, or some editors would ask no more when a slip is mended or commands are announced.
        """
        bridge = self._connection.ready_bridge
        if bridge is None:
            return {"isIncomplete": True, "items": []}
        document = self._open(params.text_document.uri)
        channel = self._channel(bridge, params.text_document.uri)
        if document is None or (slug_of(document.uri) is not None and channel is None):
            return {"isIncomplete": False, "items": []}
        offset = _offset(document, params.position)
        text = document.source
        items = MessageRequests(bridge).suggest(channel, text, offset)
        if channel is not None and text[:offset].lstrip().startswith("/") and self._connection.trusted is not False:
            bridge.spawn(prepare, channel, self._connection.folder)
        found = completion_items(items, lambda at: _client_position(document, at))
        return {"isIncomplete": not found, "items": found}

    def _open(self, uri: str) -> TextDocument | None:
        """The document, if the editor has opened it; pygls would read any other one from the disk."""
        document: TextDocument | None = self._connection.language.workspace.text_documents.get(unquote(uri))
        return document

    def _changed(self, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if is_composer(uri):
            self._states[uri] = object()
            self._connection.spawn(self._check, uri, params.text_document.version)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Nobody wants to know its problems any more."""
        if self._states.pop(params.text_document.uri, None) is not None:
            self._publish(params.text_document.uri, None, [])

    async def _check(self, uri: str, version: int | None) -> None:
        """Publish the route's problem; a newer text makes this one void."""
        state = self._states.get(uri)
        bridge = await self._connection.bridge()
        channel, document = self._channel(bridge, uri), self._open(uri)
        if channel is None or document is None or state is None or self._states.get(uri) is not state:
            return
        route = await MessageRequests(bridge).preview_in(channel, self._connection, document.source)
        if self._states.get(uri) is state:
            self._publish(uri, version, [self._diagnostic(document, route.problem)] if route.problem else [])

    def _diagnostic(self, document: TextDocument, problem: RouteProblem) -> lsp.Diagnostic:
        text = document.source
        place = _utf16_range(text, problem.start or 0, problem.end or min(len(text), 1))
        return lsp.Diagnostic(
            range=document.position_codec.range_to_client_units(document.lines, place),
            message=problem.text,
            severity=lsp.DiagnosticSeverity.Warning,
            source=SOURCE,
            code=problem.code,
            data={"suggestion": problem.suggestion} if problem.suggestion else None,
        )

    def _publish(self, uri: str, version: int | None, diagnostics: list[lsp.Diagnostic]) -> None:
        self._connection.language.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )

    def code_actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """ "Did you mean": replaces what a problem's range covers by its suggestion."""
        actions: list[lsp.CodeAction] = []
        for diagnostic in params.context.diagnostics:
            data: Any = diagnostic.data
            suggestion = data.get("suggestion") if isinstance(data, dict) else getattr(data, "suggestion", None)
            if diagnostic.source == SOURCE and isinstance(suggestion, str):
                edit = lsp.TextEdit(range=diagnostic.range, new_text=suggestion)
                actions.append(
                    lsp.CodeAction(
                        title=f"Change to {suggestion}",
                        kind=lsp.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=True,
                        edit=lsp.WorkspaceEdit(changes={params.text_document.uri: [edit]}),
                    )
                )
        return actions


def _offset(document: TextDocument, position: lsp.Position) -> int:
    """A position in the client's encoding as a code point offset."""
    lines = document.lines
    here = document.position_codec.position_from_client_units(lines, position)
    return sum(len(line) for line in lines[: here.line]) + here.character


def _client_position(document: TextDocument, offset: int) -> dict[str, int]:
    """A code point offset as a position in the client's encoding."""
    place = _position(document.source, offset)
    place = document.position_codec.position_to_client_units(document.lines, place)
    return {"line": place.line, "character": place.character}


def _utf16_range(text: str, start: int, end: int) -> lsp.Range:
    """A range of UTF-16 offsets as positions in code points."""
    return _range(text, _code_points(text, start), _code_points(text, end))


def _code_points(text: str, utf16: int) -> int:
    units = index = 0
    while index < len(text) and units < utf16:
        units += 2 if text[index] > "\uffff" else 1
        index += 1
    return index


def _range(text: str, start: int, end: int) -> lsp.Range:
    return lsp.Range(start=_position(text, start), end=_position(text, end))


def _position(text: str, offset: int) -> lsp.Position:
    line_start = text.rfind("\n", 0, offset) + 1
    return lsp.Position(line=text.count("\n", 0, offset), character=offset - line_start)
