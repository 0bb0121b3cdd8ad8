"""What a client may say wrongly, and what dependencies make of it: each costs at most the one request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.protocol import PROTOCOL_VERSION
from tests.server.conftest import socket_of
from tests.support.wire import SIDEKICKS, attached

if TYPE_CHECKING:
    from tests.support.client import Client
    from tests.support.sandbox import BridgeSandbox
    from tests.support.wire import Wire

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio

NESTED = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "x",
    "type_name": ["odd"],
    "class": 1,
    "_meta": {"a-b": 2, "jsonrpc": {"jsonrpc": "2.0"}},
}
"""Keys that pygls takes for messages of its own, or makes into fields of a namedtuple."""


# ── before the handshake ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["sidekicks/state/get", "textDocument/completion", "nonsense"])
async def test_a_request_before_initialize_is_refused(newcomer: Wire, method: str) -> None:
    error = await newcomer.error(method, {})
    assert error["code"] == -32002
    await newcomer.shake_hands()
    await newcomer.alive()


async def test_another_protocol_version_is_refused_with_both_numbers(newcomer: Wire) -> None:
    options = {"initializationOptions": {"sidekicks": {"protocolVersion": 99}}, "capabilities": {}, "processId": None}
    error = await newcomer.error("initialize", options)
    assert "99" in error["message"]
    assert str(PROTOCOL_VERSION) in error["message"]
    assert error["data"]["code"] == "protocolMismatch"
    assert error["data"]["details"] == {"client": 99, "bridge": PROTOCOL_VERSION}


@pytest.mark.parametrize(
    "options", [{}, {"protocolVersion": "1"}, {"protocolVersion": 1, "workspaceTrusted": "yes"}, 1, [], "x"]
)
async def test_wrong_options_are_refused_by_name(newcomer: Wire, options: object) -> None:
    params = {"initializationOptions": {"sidekicks": options}, "capabilities": {}, "processId": None}
    error = await newcomer.error("initialize", params)
    assert error["code"] == -32602
    await newcomer.shake_hands()
    await newcomer.alive()


@pytest.mark.parametrize("params", [None, [], 1, "x", {}, {"capabilities": []}, {"workspaceFolders": "x"}])
async def test_a_broken_initialize_is_answered(newcomer: Wire, params: object) -> None:
    answer = await newcomer.call("initialize", params)
    assert "result" in answer or answer["error"]["code"] == -32602, answer
    if "error" in answer:
        await newcomer.shake_hands()
    await newcomer.alive()


async def test_a_second_initialize_is_refused(client: Wire) -> None:
    params = {"initializationOptions": {"sidekicks": SIDEKICKS}, "capabilities": {}, "processId": None}
    error = await client.error("initialize", params)
    assert error["code"] == -32600
    await client.alive()


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_keys_of_messages_inside_parameters_are_only_keys(client: Wire) -> None:
    """Traps T1: nested ``jsonrpc``, ``type_name`` and names that are no Python names."""
    await client.result("sidekicks/state/get", NESTED)
    error = await client.error("sidekicks/config/edit", {"path": [NESTED], "value": NESTED})
    assert error["code"] == -32602
    assert (await client.error("nonsense", NESTED))["code"] == -32601
    assert (await client.error("textDocument/completion", NESTED))["code"] == -32602


async def test_initialize_with_nested_keys(newcomer: Wire) -> None:
    options = {"sidekicks": {"protocolVersion": 1, "later": NESTED}, "other": NESTED}
    await newcomer.shake_hands(initializationOptions=options, capabilities={"experimental": NESTED})
    await newcomer.alive()


async def test_keys_come_back_as_they_were_said(client: Wire, owner: Client) -> None:
    """What goes through the bridge to the agent and back keeps its keys."""
    channel = await owner.channel("general")
    attachment = {"uri": "file:///x", "text": json.dumps(NESTED), "jsonrpc": "2.0", "class": 1}
    preview = {"channelId": channel["id"], "text": "@alice x", "attachments": [attachment], "jsonrpc": NESTED}
    route = await client.result("sidekicks/message/preview", preview)
    assert [receiver["agent"] for receiver in route["to"]] == ["alice"]


# ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["sidekicks/nonsense", "nonsense", "sidekicks/document/read", "sidekicks/", ""])
async def test_an_unknown_method_is_named(client: Wire, method: str) -> None:
    error = await client.error(method, {})
    assert error["code"] == -32601
    assert method in error["message"]
    assert "data" not in error


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({}, "channelId"),
        ({"channelId": 1}, "channelId"),
        ({"channelId": "x", "limit": "many"}, "limit"),
        ({"channelId": "x", "limit": 1.5}, "limit"),
        ({"channelId": "x", "limit": 1 << 80}, "limit"),
        ({"channelId": None}, "channelId"),
        ([], "object"),
        ("x", "object"),
        (1, "object"),
    ],
)
async def test_invalid_parameters_name_the_field(client: Wire, params: object, named: str) -> None:
    error = await client.error("sidekicks/channel/open", params)
    assert error["code"] == -32602
    assert named in error["message"]
    assert error["data"]["code"] == "invalidParams"


@pytest.mark.parametrize("request_id", [1, -1, 0, "", "x", 1.5, True, 1 << 70, "\u00e9\U0001f600", [1], {"a": 1}, [[]]])
async def test_any_id_is_answered(client: Wire, request_id: object) -> None:
    """JSON-RPC allows strings and numbers; for anything else the answer has id null, or the same id."""
    await client.ask("sidekicks/state/get", {}, request_id)
    await client.until(lambda: client.answers(request_id) or client.answers(None))
    await client.alive()


async def test_the_same_id_twice_gets_two_answers(client: Wire) -> None:
    for _ in range(2):
        await client.ask("sidekicks/state/get", {}, "same")
    await client.until(lambda: len(client.answers("same")) == 2)
    await client.alive()


async def test_a_cancelled_request_says_so(client: Wire, owner: Client) -> None:
    """`$/cancelRequest` right behind the request: it is answered, and with the code of a cancelled one."""
    body = {"jsonrpc": "2.0", "id": "c", "method": "sidekicks/message/search", "params": {"query": "x"}}
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "c"}}
    await client.say(body)
    await client.say(cancel)
    answer = await client.answer("c")
    assert answer.get("error", {}).get("code", -32800) == -32800
    await client.alive()


@pytest.mark.parametrize("params", [None, {}, {"id": None}, {"id": [1]}, {"id": {"x": 1}}, {"id": "never"}, [], "x"])
async def test_a_cancel_of_nothing_is_ignored(client: Wire, params: object) -> None:
    await client.notify("$/cancelRequest", params)
    await client.alive()


# ── what is no request ───────────────────────────────────────────────────────────────────────────────────────────

ODD_BODIES: list[tuple[bytes, int]] = [
    (b"", -32700),
    (b"{", -32700),
    (b"\xff\xfe", -32700),
    (b"[" * 100_000, -32700),
    (b'{"a":' * 50_000, -32700),
    (b"nul", -32700),
    (b"null", -32600),
    (b"1", -32600),
    (b'"x"', -32600),
    (b"[]", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"sidekicks/state/get"}]', -32600),
    (b"{}", -32600),
    (b'{"jsonrpc":"2.0","method":1,"id":null}', -32600),
]


@pytest.mark.parametrize(("body", "code"), ODD_BODIES, ids=[repr(body[:20]) for body, _ in ODD_BODIES])
async def test_what_is_no_message_is_answered_with_an_error(client: Wire, body: bytes, code: int) -> None:
    await client.body(body)
    answer = await client.answer(None)
    assert answer["error"]["code"] == code
    await client.alive()


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"x" * 10_000,
    ],
    ids=lambda header: repr(header[:30]),
)
async def test_a_garbage_header_ends_this_connection_only(newcomer: Wire, header: bytes) -> None:
    await newcomer.raw(header)
    await newcomer.until_ended()


async def test_a_header_may_come_in_pieces_and_in_any_case(newcomer: Wire) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"nonsense"}'
    for byte in b"Content-Type: utf-8\r\ncONTENT-lENGTH:  %d \r\n\r\n%b" % (len(body), body):
        await newcomer.raw(bytes([byte]))
    assert (await newcomer.answer(1))["error"]["code"] == -32002


async def test_answers_to_questions_never_asked_are_ignored(client: Wire) -> None:
    for request_id in ("bridge-1", "bridge-999", 1, "x"):
        await client.say({"jsonrpc": "2.0", "id": request_id, "result": {"text": "x"}})
        await client.say({"jsonrpc": "2.0", "id": request_id, "error": {"code": 1, "message": "x"}})
    await client.say({"jsonrpc": "2.0", "id": ["x"], "result": None})
    await client.alive()


async def test_notifications_of_any_kind_never_end_the_connection(client: Wire) -> None:
    for method in ("nonsense", "sidekicks/state/get", "sidekicks/nonsense", "$/setTrace", "textDocument/didOpen"):
        odd: list[Any] = [{}, None, [], 1, NESTED]
        for params in odd:
            await client.notify(method, params)
    await client.alive()


PLACES = [(0, 0), (0, 10**6), (10**6, 0), (2**31 - 1, 2**31 - 1), (0, 1), (1, 3), (5, 0)]


@pytest.mark.parametrize("uri", ["sidekicks://general/compose", "file:///x.md", "sidekicks://general", "", "\0:", "%"])
async def test_positions_outside_and_documents_never_opened(client: Wire, uri: str) -> None:
    """What an editor's and our idea of a document may differ in: completion anywhere, edits anywhere."""
    document = {"uri": uri, "languageId": "x", "version": 1, "text": "@a 😀\r\n@b\u2028/x"}
    await client.notify("textDocument/didOpen", {"textDocument": document})
    for known in (uri, uri + "never"):
        named = {"uri": known, "version": 2}
        for line, character in PLACES:
            place = {"line": line, "character": character}
            answer = await client.call("textDocument/completion", {"textDocument": named, "position": place})
            assert "result" in answer, answer
            for other in ({"line": 0, "character": 0}, place):
                change = {"range": {"start": place, "end": other}, "text": "@"}
                await client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [change]})
        await client.notify("textDocument/didClose", {"textDocument": named})
        await client.notify("textDocument/didClose", {"textDocument": named})
        await client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": "@al"}]})
    context = {"diagnostics": [], "triggerKind": 1}
    span = {"start": {"line": 9, "character": 9}, "end": {"line": 0, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": span, "context": context}
    assert "result" in await client.call("textDocument/codeAction", asked)
    await client.alive()


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_lone_surrogate_is_taken_for_the_replacement_character(client: Wire, owner: Client) -> None:
    """JavaScript strings can hold half a character, and editors send it as an escape."""
    channel = await owner.channel("general")
    assert "result" in await client.call("sidekicks/draft/set", {"channelId": channel["id"], "text": "a\ud83d b"})
    opened = await client.result("sidekicks/channel/open", {"channelId": channel["id"]})
    assert opened["draft"] == "a\ufffd b"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "NaN", "Infinity", "1E400", "0.1e-999"])
async def test_huge_numbers_are_wrong_parameters_at_worst(client: Wire, number: str) -> None:
    params = '{"channelId":"x","limit":' + number + "}"
    await client.body(b'{"jsonrpc":"2.0","id":1,"method":"sidekicks/channel/open","params":' + params.encode() + b"}")
    await client.until(lambda: client.answers(1) or client.answers(None))
    (answer,) = client.answers(1) or client.answers(None)
    assert answer["error"]["code"] in (-32602, -32700)
    await client.alive()


async def test_ten_megabytes_are_refused_with_the_limit_named(client: Wire, owner: Client) -> None:
    channel = await owner.channel("general")
    params = {"channelId": channel["id"], "text": "@alice " + "x" * 10_000_000}
    error = await client.error("sidekicks/message/send", params)
    assert error["data"]["code"] == "tooLarge"
    assert "1,048,576" in error["message"]
    assert "limits.messageBytes" in error["message"]
    assert error["data"]["details"]["limit"] == 1_048_576
    await client.alive()


# ── the end of a connection ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shutdown", [True, False])
async def test_exit_ends_this_connection_only(newcomer: Wire, box: BridgeSandbox, *, shutdown: bool) -> None:
    async with attached(socket_of(box)) as other:
        await other.shake_hands()
        await newcomer.shake_hands()
        if shutdown:
            assert await newcomer.result("shutdown", None) is None
        await newcomer.notify("exit", None)
        await newcomer.until_ended()
        await other.alive()


async def test_requests_after_shutdown_are_refused(client: Wire) -> None:
    await client.result("shutdown", None)
    for method in ("sidekicks/state/get", "textDocument/completion", "shutdown"):
        assert (await client.error(method, {}))["code"] == -32600


async def test_a_client_that_vanishes_leaves_nothing_behind(box: BridgeSandbox, owner: Client) -> None:
    channel = await owner.channel("general")
    for _ in range(5):
        async with attached(socket_of(box)) as other:
            await other.shake_hands()
            await other.ask("sidekicks/channel/open", {"channelId": channel["id"]})
    await owner.state()
