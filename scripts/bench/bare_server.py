"""The baseline for the LSP face: a pygls server that completes with 200 fixed items and does nothing else."""

from __future__ import annotations

import sys

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 0


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["@", "/"]))
def complete(_params: lsp.CompletionParams) -> lsp.CompletionList:
    """The same items, whatever is asked."""
    items = [lsp.CompletionItem(label=f"agent-{number:03d}") for number in range(ITEMS)]
    return lsp.CompletionList(is_incomplete=False, items=items)


server.start_io()
