"""The short form of parts, and the whole form that stays beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidekicks_bridge.protocol.base import encode
from sidekicks_bridge.protocol.parts import (
    DiffContent,
    OtherContent,
    ResourceContent,
    TerminalContent,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolContent,
)
from sidekicks_bridge.store.contract import PutMessage
from sidekicks_bridge.store.parts import SHORT_BYTES, cut_text, shorten
from tests.store.make import message

if TYPE_CHECKING:
    from sidekicks_bridge.store.contract import Store


def tool_call(*content: ToolContent, output: Any = None, given_input: Any = None) -> ToolCallPart:
    return ToolCallPart(
        id="t1",
        kind="execute",
        title="Run",
        status="completed",
        input=given_input,
        output=output,
        content=list(content),
        locations=[],
    )


def test_what_is_small_stays_as_it_is() -> None:
    part = tool_call(TextContent(text="ok"), output={"a": [1, None, True]}, given_input={"command": "ls"})
    assert shorten(part) == (part, False)
    assert shorten(part)[0] is part


def test_a_long_text_part_is_never_cut() -> None:
    part = TextPart(text="x" * 100_000)
    assert shorten(part) == (part, False)


def test_long_output_keeps_its_head() -> None:
    part = tool_call(output="line\n" * 100_000)
    short, cut = shorten(part)
    assert cut
    assert isinstance(short, ToolCallPart)
    assert short.truncated
    assert short.output == part.output[:SHORT_BYTES]
    assert not part.truncated, "the whole part is untouched"


def test_each_kind_of_content_is_cut() -> None:
    long = "é" * SHORT_BYTES
    kinds: list[ToolContent] = [
        TextContent(text=long),
        DiffContent(path="/a.py", old_text=long, new_text=long),
        DiffContent(path="/new.py", new_text=long),
        ResourceContent(uri="file:///a", text=long),
        OtherContent(kind="image", raw={"data": long, "mime": "image/png"}),
    ]
    for content in kinds:
        short, cut = shorten(tool_call(content))
        assert cut
        assert len(encode(short)) < SHORT_BYTES + 500
        assert isinstance(short, ToolCallPart)
        assert type(short.content[0]) is type(content)


def test_both_sides_of_a_diff_are_shown() -> None:
    short, _ = shorten(tool_call(DiffContent(path="/a.py", old_text="o" * 50_000, new_text="n" * 50_000)))
    assert isinstance(short, ToolCallPart)
    diff = short.content[0]
    assert isinstance(diff, DiffContent)
    assert diff.old_text is not None
    assert len(diff.old_text) > 8_000
    assert len(diff.new_text) > 8_000


def test_a_diff_of_a_small_change_leaves_the_rest_to_the_new_side() -> None:
    short, _ = shorten(tool_call(DiffContent(path="/a.py", old_text="old", new_text="n" * 50_000)))
    assert isinstance(short, ToolCallPart)
    diff = short.content[0]
    assert isinstance(diff, DiffContent)
    assert diff.old_text == "old"
    assert len(diff.new_text) > 16_000


def test_many_small_pieces_are_bounded_too() -> None:
    many = [TerminalContent(terminal_id=str(number)) for number in range(10_000)]
    short, cut = shorten(tool_call(*many, output=list(range(100_000)), given_input={str(n): n for n in range(50_000)}))
    assert cut
    assert len(encode(short)) < 4 * SHORT_BYTES


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_a_cut_ends_between_code_points(text: str, limit: int) -> None:
    short = cut_text(text, limit)
    assert text.startswith(short)
    assert len(short.encode()) <= limit
    if short != text:
        assert len(text[: len(short) + 1].encode()) > limit


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20) | st.just("字" * 9_000),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=9), children, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(json_values, json_values)
def test_the_short_form_is_bounded_and_says_when_it_lost_something(given_input: Any, output: Any) -> None:
    part = tool_call(output=output, given_input=given_input)
    short, cut = shorten(part)
    assert len(encode(short)) <= 3 * SHORT_BYTES
    assert isinstance(short, ToolCallPart)
    if cut:
        assert short.truncated
        assert shorten(msgspec.structs.replace(short))[0] is not part
    else:
        assert short == part


@pytest.mark.anyio
async def test_pages_carry_the_short_form_and_part_the_whole(store: Store) -> None:
    long = tool_call(TextContent(text="字" * 50_000))
    await store.write(PutMessage(message("m1", [TextPart(text="hi"), long], seq=1)))
    (kept,) = (await store.page("c1")).messages
    assert kept.parts == [TextPart(text="hi"), shorten(long)[0]]
    assert await store.message("m1") == kept
    assert await store.part("m1", 0) == TextPart(text="hi")
    assert await store.part("m1", 1) == long
    assert await store.part("m1", 2) is None
    assert await store.part("m1", -1) is None


@pytest.mark.anyio
async def test_a_page_that_is_written_back_keeps_the_whole_part(store: Store) -> None:
    """At start, what a kill left unfinished is read, marked and written again: in its short form."""
    long = tool_call(TextContent(text="x" * 50_000))
    await store.write(PutMessage(message("m1", [long, long], seq=1)))
    kept = await store.message("m1")
    assert kept is not None
    kept.parts[1] = TextPart(text="replaced")
    await store.write(PutMessage(kept))
    assert await store.part("m1", 0) == long
    assert await store.part("m1", 1) == TextPart(text="replaced")
