"""What an editor gets by plain LSP: capabilities, completion, diagnostics and their fix, over pytest-lsp."""

from __future__ import annotations

from collections.abc import AsyncIterator  # noqa: TC003  # pytest-lsp looks at a fixture's annotations

import pytest
import pytest_lsp
from lsprotocol import types as lsp

from sidekicks_bridge import __version__
from tests.server.editor import BOX, COMPOSER, CONFIG, Editor, applied

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIDE = ["", "é", "中文字", "😀", "e\u0301", "👩\u200d👩\u200d👧", "\U0001f600中é "]


@pytest_lsp.fixture(scope="module", config=CONFIG)  # type: ignore[untyped-decorator]
async def editor(lsp_client: Editor) -> AsyncIterator[None]:
    await lsp_client.shake_hands()
    await lsp_client.until_ready()
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(scope="module", config=CONFIG, params=["utf-8", "utf-16", "utf-32"])  # type: ignore[untyped-decorator]
async def encoded(lsp_client: Editor, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    lsp_client.encoding = request.param
    result = await lsp_client.shake_hands([request.param])
    assert result.capabilities.position_encoding == request.param
    await lsp_client.until_ready()
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(scope="module", config=CONFIG)  # type: ignore[untyped-decorator]
async def newcomer(lsp_client: Editor) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


def labels(items: list[lsp.CompletionItem]) -> list[str]:
    return [item.label for item in items]


async def test_capabilities(newcomer: Editor) -> None:
    result = await newcomer.shake_hands()
    assert result.server_info is not None
    assert (result.server_info.name, result.server_info.version) == ("sidekicks", __version__)
    capabilities = result.capabilities
    assert capabilities.completion_provider is not None
    assert capabilities.completion_provider.trigger_characters == ("@", "/")
    assert capabilities.position_encoding == "utf-16"
    assert isinstance(capabilities.code_action_provider, lsp.CodeActionOptions)
    assert capabilities.code_action_provider.code_action_kinds == (lsp.CodeActionKind.QuickFix,)
    assert capabilities.experimental == {"sidekicks": {"protocolVersion": 1, "bridgeVersion": __version__}}


# ── completion ───────────────────────────────────────────────────────────────────────────────────────────────────

ALL = ["@alice", "@bob", "@carol"]


@pytest.mark.parametrize(
    "uri",
    [
        "sidekicks://general/compose",
        "sidekicks:/general/compose",
        "sidekicks:///general/compose",
        "sidekicks:general/compose",
        "sidekicks%3A//general/compose",
        "sidekicks%3A%2F%2F%2Fgeneral%2Fcompose",
        "Sidekicks://General/compose",
        "sidekicks://general/compose?x=1#y",
        "sidekicks://%67eneral/compose",
    ],
)
async def test_every_spelling_of_a_composer(editor: Editor, uri: str) -> None:
    items = await editor.complete_at_bar("@|", uri)
    assert labels(items) == ALL
    assert [item.detail for item in items] == ["alice", "bob", "carol (will be invited)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@|", ALL),
        ("hello @|", ALL),
        ("a\nb\n @|\nc", ALL),
        ("@ali|", ["@alice"]),
        ("@AL|", ["@alice", "@carol"]),  # letters in their order
        ("@ob|", ["@bob"]),
        ("(@c|", ["@alice", "@carol"]),
        ("@bob @b|", ["@bob"]),
        ("@zzz|", []),
        ("foo@|", []),
        ("me@example.com|", []),
        ("foo@al|", []),
        ("`@|`", []),
        ("```\n@|\n```", []),
        ("```\n@|", []),
        ("\\@|", []),
        ("a / b|", []),
        ("|", []),
        ("@| trailing", ALL),
    ],
)
async def test_mentions_in_a_composer(editor: Editor, text: str, expected: list[str]) -> None:
    assert labels(await editor.complete_at_bar(text)) == expected


async def test_a_direct_conversation_has_no_mentions(editor: Editor) -> None:
    await editor.ask("channel/direct", agent="alice")
    for uri in ("sidekicks://@alice/compose", "sidekicks:/%40alice/compose", "sidekicks:///@ALICE/compose"):
        assert await editor.complete_at_bar("@|", uri) == []


@pytest.mark.parametrize("uri", ["sidekicks://nowhere/compose", "sidekicks://@nobody/compose"])
async def test_a_channel_that_does_not_exist_offers_nothing(editor: Editor, uri: str) -> None:
    assert await editor.complete_at_bar("@|", uri) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see @|", ALL),
        ("/|", []),
        ("@alice /|", []),
        ("`@|`", []),
        ("foo@|", []),
        ("# Title\n\nask @b|\n", ["@bob"]),
    ],
)
async def test_an_ordinary_buffer_offers_agents_only(editor: Editor, text: str, expected: list[str]) -> None:
    for uri in ("file:///x/notes.md", "untitled:Untitled-1"):
        assert labels(await editor.complete_at_bar(text, uri, "markdown")) == expected


async def test_commands_of_the_members(editor: Editor) -> None:
    """The first `/` starts who has not said its commands yet; they come by themselves."""
    state = await editor.ask("state/get")
    ids = {channel.name: channel.id for channel in state.channels if hasattr(channel, "name")}
    await editor.ask("channel/open", channelId=ids["general"])
    await editor.complete_at_bar("/|")
    await editor.until(lambda: {"alice", "bob"} <= {p.agent for name, p in editor.told if "commands" in name} or None)
    expected = {
        "/|": ["/alice:plan", "/alice:review", "/bob:research"],
        "  /re|": ["/alice:review", "/bob:research"],
        "@alice /|": ["/plan", "/review"],
        "@alice, /p|": ["/plan"],
        "@alice @bob /|": ["/plan", "/review", "/research"],
        "hello /|": [],
        "a/|": [],
        "`/|`": [],
        "/plan /|": [],
    }
    assert {text: labels(await editor.complete_at_bar(text)) for text in expected} == expected
    assert labels(await editor.complete_at_bar("/|", "sidekicks://solo/compose")) == ["/plan", "/review"]
    assert labels(await editor.complete_at_bar("/|", "sidekicks://@alice/compose")) == ["/plan", "/review"]
    kinds = {item.label[0]: item.kind for text in ("@al|", "/pl|") for item in await editor.complete_at_bar(text)}
    assert kinds == {"@": lsp.CompletionItemKind.Reference, "/": lsp.CompletionItemKind.Event}, "editors add no ()"


async def test_a_new_text_has_no_blank(editor: Editor) -> None:
    """Neovim's own completion cuts an inserted text at the first blank."""
    for text in ("@|", "/|", "@alice /|"):
        for item in await editor.complete_at_bar(text):
            assert isinstance(item.text_edit, lsp.TextEdit)
            assert item.text_edit.new_text == item.label
            assert " " not in item.label


@pytest.mark.parametrize("before", WIDE, ids=ascii)
async def test_edits_fit_in_every_encoding(encoded: Editor, before: str) -> None:
    """Wide characters before the mention, on its line and on earlier ones; the editor's units, the right text."""
    for lead in (before, f"{before}\n{before}", f"x{before}\r\n\n"):
        text = f"{lead} @bo"
        (item,) = await encoded.complete_at_bar(f"{text}| end {before}")
        assert applied(f"{text} end {before}", item.text_edit, encoded.encoding) == f"{lead} @bob end {before}"


# ── diagnostics ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("before", ["", "\n\n", "\u3000", "\u2003\r\n\u3000 "], ids=ascii)
async def test_a_slip_is_marked_and_mended(encoded: Editor, before: str) -> None:
    """A slip counts at the beginning of a message, where only blanks may stand before it: wide ones, too."""
    uri = COMPOSER
    text = f"{before}@alcie explain 😀"
    first = encoded.open(uri, text)
    (problem,) = await encoded.until(lambda: encoded.diagnostics_of(uri, first))
    assert (problem.source, problem.code) == ("sidekicks", "unknownAgent")
    assert "@alcie" in problem.message
    assert "@alice" in problem.message
    identifier = lsp.TextDocumentIdentifier(uri=uri)
    context = lsp.CodeActionContext(diagnostics=[problem])
    (action,) = (
        await encoded.text_document_code_action_async(
            lsp.CodeActionParams(text_document=identifier, range=problem.range, context=context)
        )
        or ()
    )
    assert isinstance(action, lsp.CodeAction)
    assert (action.title, action.kind, action.is_preferred) == ("Change to @alice", lsp.CodeActionKind.QuickFix, True)
    assert action.edit is not None
    assert action.edit.changes is not None
    (edit,) = action.edit.changes[uri]
    mended = applied(text, edit, encoded.encoding)
    assert mended == text.replace("@alcie", "@alice")
    second = encoded.change(uri, mended)
    assert await encoded.until(lambda: encoded.diagnostics_of(uri, second)) == ()
    encoded.close(uri)


async def test_only_composers_are_judged(editor: Editor) -> None:
    """Not ordinary buffers, not channels that do not exist, and not a transcript: it is what was said."""
    others = ("file:///x/notes.md", "sidekicks://elsewhere/compose", "sidekicks://general")
    for uri in others:
        editor.open(uri, "@alcie hello")
    version = editor.open(COMPOSER, "@alcie hello")
    await editor.until(lambda: editor.diagnostics_of(COMPOSER, version))
    assert not {params.uri for name, params in editor.told if "diagnostics" in name.lower()} & set(others)
    for uri in (*others, COMPOSER):
        editor.close(uri)


async def test_a_closed_composer_has_no_problems(editor: Editor) -> None:
    version = editor.open(COMPOSER, "@alcie hello")
    await editor.until(lambda: editor.diagnostics_of(COMPOSER, version))
    editor.told.clear()
    editor.close(COMPOSER)
    assert await editor.until(lambda: editor.diagnostics_of(COMPOSER, None)) == ()


async def test_the_bridge_had_no_bug(editor: Editor) -> None:
    """Runs last: nothing above left a violation of ACP in an agent's log."""
    await editor.ask("state/get")
    assert BOX.violations() == []
