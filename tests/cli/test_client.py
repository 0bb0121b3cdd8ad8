"""The client's side of the protocol, over a byte stream whose other end the test holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import pytest
from anyio.streams.stapled import StapledObjectStream

from sidekicks_bridge.cli.client import BridgeClient, BridgeError, BridgeGone
from sidekicks_bridge.cli.tolerant import decode
from sidekicks_bridge.protocol.events import MessageDelta
from sidekicks_bridge.protocol.parts import OtherPart, ToolCallPart
from sidekicks_bridge.protocol.requests import Accepted, ChannelRef, Empty, MessagePage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wire:
    """A client, and the other end of its connection."""

    def __init__(self) -> None:
        self._to_client, client_in = anyio.create_memory_object_stream[bytes](100)
        client_out, self._from_client = anyio.create_memory_object_stream[bytes](100)
        self.events: list[tuple[str, Any]] = []
        stream: Any = StapledObjectStream(client_out, client_in)
        self.client = BridgeClient(stream, lambda name, raw: self.events.append((name, msgspec.json.decode(raw))))

    async def say(self, *messages: dict[str, Any], cut: int | None = None) -> None:
        """Write the messages in one piece, or in pieces of ``cut`` bytes."""
        data = b""
        for message in messages:
            body = msgspec.json.encode({"jsonrpc": "2.0", **message})
            data += b"Content-Type: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        for at in range(0, len(data), cut or len(data)):
            await self._to_client.send(data[at : at + (cut or len(data))])

    async def say_raw(self, data: bytes) -> None:
        await self._to_client.send(data)

    async def heard(self) -> Any:
        data = await self._from_client.receive()
        return msgspec.json.decode(data.partition(b"\r\n\r\n")[2])

    async def end(self) -> None:
        await self._to_client.aclose()

    async def run(self) -> None:
        self.client.hang_up(await self.client.run() or "it ended")

    def close(self) -> None:
        streams: list[MemoryObjectSendStream[bytes] | MemoryObjectReceiveStream[bytes]] = [
            self._to_client,
            self._from_client,
        ]
        for stream in streams:
            stream.close()
        memory: Any = self.client._stream
        memory.send_stream.close()
        memory.receive_stream.close()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    wire = Wire()
    try:
        yield wire
    finally:
        wire.close()


async def test_events_before_and_after_a_reply_keep_their_places(wire: Wire) -> None:
    order: list[str] = []

    async def ask() -> None:
        await wire.client.request("a/b", Empty(), Accepted, lambda _: order.append(f"reply after {len(wire.events)}"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.run)
        tasks.start_soon(ask)
        asked = await wire.heard()
        event = {"method": "sidekicks/x", "params": {"n": 1}}
        await wire.say(event, {"id": asked["id"], "result": {"accepted": True}}, event, cut=7)
        await wire.end()
    assert order == ["reply after 1"]
    assert wire.events == [("sidekicks/x", {"n": 1})] * 2


async def test_refusals_carry_code_and_details(wire: Wire) -> None:
    caught: list[BridgeError] = []

    async def ask() -> None:
        try:
            await wire.client.request("a/b", ChannelRef(channel_id="c"), Empty)
        except BridgeError as refused:
            caught.append(refused)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.run)
        tasks.start_soon(ask)
        asked = await wire.heard()
        assert asked["params"] == {"channelId": "c"}
        data = {"code": "channelNotFound", "retryable": False, "details": {"channelId": "c"}}
        await wire.say({"id": asked["id"], "error": {"code": -32803, "message": "No such channel", "data": data}})
        await wire.end()
    assert [(refused.code, refused.message, refused.details) for refused in caught] == [
        ("channelNotFound", "No such channel", {"channelId": "c"})
    ]


async def test_requests_of_the_bridge_are_always_answered(wire: Wire) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.run)
        await wire.say({"id": "s1", "method": "sidekicks/document/read", "params": {"path": "/x"}})
        assert await wire.heard() == {"jsonrpc": "2.0", "id": "s1", "result": {}}
        await wire.say({"id": 2, "method": "client/registerCapability", "params": {}})
        assert await wire.heard() == {"jsonrpc": "2.0", "id": 2, "result": None}
        await wire.say({"id": 3, "method": "workspace/applyEdit", "params": {}})
        assert (await wire.heard())["error"]["code"] == -32601
        await wire.end()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it ended"),
        (b"Hello, I am a shell\r\n\r\n", "without a length"),
        (b"x" * 5000, "is not the protocol"),
        (b"Content-Length: 3\r\n\r\n{{{", "is not the protocol"),
    ],
)
async def test_who_waits_is_told_when_the_connection_ends(wire: Wire, data: bytes, reason: str) -> None:
    async def ask() -> None:
        with pytest.raises(BridgeGone, match=reason):
            await wire.client.request("a/b", Empty(), Empty)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.run)
        tasks.start_soon(ask)
        await wire.heard()
        if data:
            await wire.say_raw(data)
        await wire.end()
    with pytest.raises(BridgeGone, match=reason):
        await wire.client.request("later", Empty(), Empty)


def test_what_a_newer_bridge_adds_is_set_aside() -> None:
    tool: dict[str, Any] = {
        "type": "toolCall",
        "id": "t",
        "kind": "k",
        "title": "T",
        "status": "completed",
        "locations": [],
    }
    tool["content"] = [{"type": "smell", "strength": 3}, {"type": "text", "text": "x"}]
    delta = {"channelId": "c", "messageId": "m", "part": 0}
    odd = decode(msgspec.json.encode({**delta, "value": {"type": "hologram", "depth": 2}, "more": 1}), MessageDelta)
    assert odd.value == OtherPart(kind="hologram", raw={"type": "hologram", "depth": 2})
    known = decode(msgspec.json.encode({**delta, "value": tool}), MessageDelta)
    assert isinstance(known.value, ToolCallPart)
    assert [content.__struct_config__.tag for content in known.value.content] == ["other", "text"]
    message = {"id": "m", "channelId": "c", "author": {"kind": "user"}, "createdAt": "t", "state": "finished"}
    page = decode(
        msgspec.json.encode({"messages": [{**message, "parts": [{"type": "new"}]}], "hasMore": False}), MessagePage
    )
    assert isinstance(page.messages[0].parts[0], OtherPart)
