"""An editor for tests: pytest-lsp's client on a real `sidekicks serve`, and what it does with edits.

Several editors of one file of tests share a bridge: the first owns, the others relay.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_folder = tempfile.TemporaryDirectory(prefix="sidekicks-editor-")  # the configuration of a fixture is made at import
BOX = BridgeSandbox(
    Path(_folder.name),
    {"alice": "--commands plan:Plan-it,review", "bob": "--commands research", "carol": ""},
    {"general": ["alice", "bob"], "solo": ["alice"], "many": ["alice", "bob"]},
)
COMPOSER = "sidekicks://general/compose"


class Editor(LanguageClient):
    """A client that remembers the bridge's notifications and waits for them."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, Any]] = []
        self.encoding = "utf-16"
        self._version = 0
        self._news = asyncio.Event()
        for event in ("sidekicks/commands/changed", lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS):
            self.feature(event)(partial(self._remember, event))

    def _remember(self, event: str, params: Any) -> None:
        self.told.append((event, params))
        self._wake()

    def diagnostics_of(self, uri: str, version: int | None) -> list[lsp.Diagnostic] | None:
        """What was said of a document's version; None: nothing yet."""
        for event, params in self.told:
            if event == lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS and (params.uri, params.version) == (uri, version):
                found: list[lsp.Diagnostic] = params.diagnostics
                return found
        return None

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait until ``found()`` is not None."""
        async with asyncio.timeout(10):
            while (value := found()) is None:
                await self._news.wait()
        return value

    async def shake_hands(self, encodings: Sequence[str] = (), *, sidekicks: bool = True) -> lsp.InitializeResult:
        """`initialize` and `initialized`; what the server said."""
        general = lsp.GeneralClientCapabilities(
            position_encodings=[lsp.PositionEncodingKind(encoding) for encoding in encodings] or None
        )
        return await self.initialize_session(
            lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(general=general),
                initialization_options={"sidekicks": {"protocolVersion": 1}} if sidekicks else None,
                workspace_folders=[lsp.WorkspaceFolder(uri=BOX.workspace.as_uri(), name="workspace")],
            )
        )

    async def ask(self, method: str, **params: Any) -> Any:
        """One of the bridge's own requests."""
        return await self.protocol.send_request_async(f"sidekicks/{method}", params)  # type: ignore[no-untyped-call]

    async def until_ready(self) -> None:
        """Wait until the bridge behind the connection has started: until then completion says it is incomplete."""
        await self.ask("state/get")

    def open(self, uri: str, text: str, language: str = "sidekicks-compose") -> int:
        """Open a document; its version, which no other has."""
        self._version += 1
        item = lsp.TextDocumentItem(uri=uri, language_id=language, version=self._version, text=text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
        return self._version

    def change(self, uri: str, text: str) -> int:
        """Give a document another text; its new version."""
        self._version += 1
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                text_document=lsp.VersionedTextDocumentIdentifier(uri=uri, version=self._version),
                content_changes=[lsp.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )
        return self._version

    def close(self, uri: str) -> None:
        """Close it."""
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri=uri)))

    async def complete(self, uri: str, line: int, character: int) -> list[lsp.CompletionItem]:
        """The items at a position."""
        found = await self.text_document_completion_async(
            lsp.CompletionParams(
                text_document=lsp.TextDocumentIdentifier(uri=uri),
                position=lsp.Position(line=line, character=character),
            )
        )
        assert isinstance(found, lsp.CompletionList)
        assert not (found.is_incomplete and found.items), "only an empty list is asked for again"
        return list(found.items)

    async def complete_at_bar(
        self, text: str, uri: str = COMPOSER, language: str = "sidekicks-compose"
    ) -> list[lsp.CompletionItem]:
        """What completes at the ``|`` of a text, best first."""
        before, _, after = text.partition("|")
        self.open(uri, before + after, language)
        items = await self.complete(uri, before.count("\n"), units(before.rpartition("\n")[2], self.encoding))
        self.close(uri)
        return sorted(items, key=lambda item: item.sort_text or item.label)


CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-m", "sidekicks_bridge", "serve", "--config", str(BOX.config_path)],
    server_env=BOX.environment(),
    client_factory=Editor,
)


def units(text: str, encoding: str) -> int:
    """The length of ``text`` in the units of a position encoding."""
    return {"utf-8": len(text.encode()), "utf-16": len(text.encode("utf-16-le")) // 2, "utf-32": len(text)}[encoding]


def applied(text: str, edit: lsp.TextEdit | lsp.InsertReplaceEdit | None, encoding: str = "utf-16") -> str:
    """The text after an edit, as an editor with that encoding makes it."""
    assert isinstance(edit, lsp.TextEdit)
    start, end = (_offset(text, place, encoding) for place in (edit.range.start, edit.range.end))
    return text[:start] + edit.new_text + text[end:]


def _offset(text: str, position: lsp.Position, encoding: str) -> int:
    lines = text.split("\n")
    line = lines[position.line]
    for index in range(len(line) + 1):
        if units(line[:index], encoding) == position.character:
            return sum(len(one) + 1 for one in lines[: position.line]) + index
    raise AssertionError(f"{position} lies inside a character of {line!r} or behind it.")
