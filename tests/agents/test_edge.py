"""The ACP edge under random input: whatever an agent writes, nothing raises and no text is lost."""

from __future__ import annotations

import json
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream
from hypothesis import given, settings
from hypothesis import strategies as st

from sidekicks_bridge.agents import translate
from sidekicks_bridge.agents.contract import ToolCallUpdate
from sidekicks_bridge.agents.terminal_text import MAX_CHARACTERS, TerminalText
from sidekicks_bridge.agents.transport import TolerantTransport, mend_response, salvage
from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.parts import TextContent
from sidekicks_bridge.protocol.types import Attachment, Position, Range

KINDS = """
    agent_message_chunk agent_thought_chunk user_message_chunk tool_call tool_call_update plan current_mode_update
    available_commands_update config_option_update session_info_update usage_update some_future_kind
"""
FIELDS = """
    content type text toolCallId title kind status locations path line rawInput rawOutput entries priority name hint
    availableCommands description input configOptions id options currentValue value group category used size cost
    amount currency currentModeId messageId terminalId oldText newText resource uri _meta optionId terminal_output data
"""
WORDS = "text content diff terminal resource resource_link select boolean completed x"
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(WORDS.split())
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS.split()), inner, max_size=6),
    max_leaves=20,
)
UPDATES = st.builds(
    lambda kind, fields: {**fields, "sessionUpdate": kind},
    st.sampled_from(KINDS.split()) | LEAVES,
    st.dictionaries(st.sampled_from(FIELDS.split()), JSON, max_size=8),
)


def wire(value: object) -> Any:
    """``value`` as it comes from an agent: bad surrogates mended, as the transport does."""
    return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


@given(UPDATES)
@settings(max_examples=150)
def test_any_update_is_translated(raw: dict[str, Any]) -> None:
    update = translate.session_update(wire(raw))
    if update is not None:
        encode(update)
    if isinstance(update, ToolCallUpdate):
        TerminalText().merge(update, wire(raw).get("_meta"))


@given(JSON, JSON)
def test_any_settings_and_options_are_read(first: Any, second: Any) -> None:
    encode(translate.settings({"modes": wire(first), "models": wire(second), "configOptions": wire(first)}))
    encode(translate.permission_options(translate.offered(wire(first))))
    assert translate.stop_reason(wire(first)) == "end_turn"


class Frames:
    """A handler that writes down what it is given."""

    def __init__(self) -> None:
        self.text = ""
        self.others: list[Any] = []
        self.noise = b""

    def on_chunk(self, session_id: str, kind: str, text: str, message_id: str | None) -> None:
        self.text += text

    def on_update(self, params: dict[str, Any]) -> None:
        self.others.append(params)

    def on_request(self, request_id: object, method: str, params: Any) -> None:
        self.others.append(method)

    def on_notification(self, method: str, params: Any) -> None:
        self.others.append(method)

    def on_noise(self, line: bytes) -> None:
        self.noise += line


class Stdin(ByteSendStream):
    async def send(self, item: bytes) -> None:
        raise AssertionError("nothing is sent here")

    async def aclose(self) -> None:
        return


class Stdout(ByteReceiveStream):
    """The agent's output in given blocks."""

    def __init__(self, blocks: list[bytes]) -> None:
        self.blocks = blocks

    async def receive(self, max_bytes: int = 65536) -> bytes:
        if not self.blocks:
            raise anyio.EndOfStream
        return self.blocks.pop(0)

    async def aclose(self) -> None:
        return


def read_all(blocks: list[bytes]) -> tuple[Frames, list[dict[str, Any]]]:
    frames, responses = Frames(), []

    async def main() -> None:
        transport = TolerantTransport(Stdin(), Stdout(blocks), frames)
        while (response := await transport.receive()) is not None:
            responses.append(response)

    anyio.run(main)
    return frames, responses


def chunk(text: str) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "s", "update": update}
    return msgspec.json.encode({"jsonrpc": "2.0", "method": "session/update", "params": params}) + b"\n"


NOISE = st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" ") + b"\n") | st.sampled_from(
    [
        b"42\n",
        b"null\n",
        b"[]\n",
        b'"x"\n',
        b"{}\n",
        b'{"id":1,"result":{}}\n',
        b"\r\n",
        b'{"method":"x"\n',
        b'{"id":[]}\n',
    ]
)


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), NOISE), max_size=8), st.data()
)
@settings(max_examples=150, deadline=None)
def test_text_survives_any_noise_in_any_blocks(lines: list[tuple[str, bytes]], data: st.DataObject) -> None:
    output = b"".join(chunk(text) + noise for text, noise in lines)
    blocks = []
    while output:
        size = data.draw(st.integers(1, len(output)))
        blocks.append(output[:size])
        output = output[size:]
    frames, _ = read_all(blocks)
    assert frames.text == "".join(text for text, _ in lines)


@given(st.binary(max_size=200))
def test_salvage_never_raises(line: bytes) -> None:
    for frame in salvage(line):
        msgspec.json.encode(frame)


@given(st.dictionaries(st.sampled_from(["id", "result", "error", "jsonrpc"]), JSON))
def test_a_mended_response_is_what_the_sdk_can_take(frame: dict[str, Any]) -> None:
    mended = mend_response(frame)
    if mended is not None:
        assert type(mended["id"]) is int
        assert "result" in mended or type(mended["error"]["code"]) is int


def test_frames_glued_to_other_things() -> None:
    good = chunk("a")[:-1]
    frames, responses = read_all(
        [
            b"\x1b]0;t\x07"
            + good
            + good
            + b' tail {"id":"7","result":1}{"id":8,"error":"no"}\n{"id": 9.0, "result": null}'
        ]
    )
    assert [params["update"]["content"]["text"] for params in frames.others] == ["a", "a"]
    assert responses == [
        {"id": 7, "result": 1},
        {"id": 8, "error": {"code": -32603, "message": "no", "data": None}},
        {"id": 9, "result": None},
    ]


def test_a_line_without_end_is_dropped() -> None:
    frames, _ = read_all([b"x" * (1 << 20)] * 70 + [b"tail\n" + chunk("after")])
    assert frames.text == "after"
    assert frames.noise == b"[a line of more than 64 MiB was dropped]"


def test_attachments_become_resources_or_links() -> None:
    piece = Attachment(
        uri="file:///c%3A/x/a%20b.py",
        text="code",
        range=Range(start=Position(line=9, character=0), end=Position(line=12, character=0)),
    )
    whole = Attachment(uri="file:///x/a.py", title="A")
    assert translate.prompt_blocks("hi", [piece, whole], embedded=True) == [
        {"type": "text", "text": "hi"},
        {"type": "resource", "resource": {"uri": "file:///c%3A/x/a%20b.py#L10-L12", "text": "code"}},
        {"type": "resource_link", "uri": "file:///x/a.py", "name": "A"},
    ]
    assert translate.prompt_blocks("hi", [piece], embedded=False)[1] == {
        "type": "resource_link",
        "uri": "file:///c%3A/x/a%20b.py#L10-L12",
        "name": "a b.py",
    }


def test_terminal_text_costs_what_it_is_long() -> None:
    terminal, told = TerminalText(), []
    line = "output of a build, line by line\n"
    for _ in range(10_000):
        call = terminal.merge(ToolCallUpdate("t"), {"terminal_output": {"terminal_id": "t", "data": line}})
        if call is not None:
            told.append(call)
    end = terminal.merge(
        ToolCallUpdate("t", status="completed"), {"terminal_exit": {"terminal_id": "t", "exit_code": 0}}
    )
    assert end == ToolCallUpdate("t", status="completed", content=[TextContent(text=line * 10_000)])
    assert len(told) < 16 * 1024 / len(line) + 10


def test_terminal_text_is_bounded() -> None:
    terminal, piece = TerminalText(), "ü" * (1 << 20)
    output = {"terminal_output": {"terminal_id": "t", "data": piece}}
    told = [terminal.merge(ToolCallUpdate("t"), output) for _ in range(20)]
    whole = [call.content for call in told if call is not None][-1]
    assert whole == [TextContent(text="ü" * MAX_CHARACTERS)]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ({"type": "resource_link", "uri": "file:///x", "name": "x"}, "[x](file:///x)"),
        ({"type": "image", "data": ""}, "\n\n[image: of an unknown type]\n\n"),
        ({"type": "hologram"}, None),
        ({"type": "text", "text": 5}, None),
        (None, None),
        ([], None),
    ],
)
def test_what_text_a_block_shows(content: object, text: str | None) -> None:
    assert translate.block_text(content) == text
