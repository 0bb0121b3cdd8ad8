"""What a newer version wrote stays readable for this one."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import msgspec
import pytest

from sidekicks_bridge.protocol.parts import OtherContent, OtherPart, TextContent, TextPart, ToolCallPart
from sidekicks_bridge.store.contract import PutMessage
from sidekicks_bridge.store.decode import decode_message, decode_part
from sidekicks_bridge.store.open import DATABASE, open_store
from tests.store.conftest import CONFIG
from tests.store.make import text_message

if TYPE_CHECKING:
    from pathlib import Path

CANVAS = {"type": "canvas", "strokes": [1, 2]}
CALL = {
    "type": "toolCall",
    "id": "t1",
    "kind": "edit",
    "title": "Edit",
    "status": "completed",
    "content": [{"type": "text", "text": "ok"}, {"type": "hologram", "depth": 3}],
    "locations": [],
    "novelty": True,
}


def newer(*parts: object) -> bytes:
    """A message as a newer version might have written it."""
    return json.dumps(
        {
            "id": "m1",
            "seq": 1,
            "channelId": "c1",
            "author": {"kind": "user", "mood": "good"},
            "parts": parts,
            "createdAt": "x",
            "state": "finished",
        }
    ).encode()


def test_an_unknown_part_is_kept_raw() -> None:
    message = decode_message(newer({"type": "text", "text": "hi"}, CANVAS))
    assert message.parts == [TextPart(text="hi"), OtherPart(kind="canvas", raw=CANVAS)]


def test_unknown_content_is_kept_raw_inside_its_tool_call() -> None:
    (part,) = decode_message(newer(CALL)).parts
    assert isinstance(part, ToolCallPart)
    assert part.content == [
        TextContent(text="ok"),
        OtherContent(kind="hologram", raw={"type": "hologram", "depth": 3}),
    ]


@pytest.mark.parametrize("part", [{**CALL, "status": "dreaming"}, {"type": "text"}, {"no": "type"}, 7, None])
def test_a_part_that_makes_no_sense_is_kept_raw(part: object) -> None:
    (kept,) = decode_message(newer(part)).parts
    assert isinstance(kept, OtherPart)
    assert kept.raw == part
    assert decode_part(json.dumps(part).encode()) == kept


def test_what_is_no_message_is_an_error() -> None:
    for data in (b"{}", b"[]", b"", newer()[:-1]):
        with pytest.raises(msgspec.DecodeError):
            decode_message(data)


@pytest.mark.anyio
async def test_a_page_with_an_unknown_part_is_read_and_searched(folder: Path) -> None:
    store = await open_store(CONFIG, folder=folder)
    await store.write(PutMessage(text_message("m1", seq=1)), PutMessage(text_message("m2", seq=2)))
    await store.close()
    database = sqlite3.connect(folder / DATABASE)
    with database:
        data = newer({"type": "text", "text": "hello there"}, CANVAS)
        database.execute("UPDATE messages SET data = ? WHERE id = 'm1'", (data,))
    database.close()
    store = await open_store(CONFIG, folder=folder)
    page = await store.page("c1")
    assert page.messages[0].parts[1] == OtherPart(kind="canvas", raw=CANVAS)
    assert page.messages[1] == text_message("m2", seq=2)
    assert len(await store.search("hello", channel_id=None, author=None, limit=5)) == 2
    assert await store.part("m1", 1) == OtherPart(kind="canvas", raw=CANVAS)
    await store.close()
