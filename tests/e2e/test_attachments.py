"""What goes with a message: images for agents that take them, embedded text, links; MCP servers by what is taken."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n not quite"
AGENTS = {
    "alice": "--caps image",
    "bob": "",
    "looks": "--caps image,embedded",
    "reads": "--caps embedded",
    "local": "",
    "distant": "--caps http,sse",
}
SERVERS = [
    {"name": "files", "command": "mcp-files", "args": [], "env": []},
    {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": []},
    {"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []},
]
FIELDS = {name: {"mcpServers": SERVERS} for name in ("local", "distant")}


def pasted(**fields: Any) -> dict[str, Any]:
    return {"uri": "pasted:image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode(), **fields}


async def test_a_pasted_image_is_an_image_or_a_link(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    sent = await room.send("@alice @bob look", attachments=[pasted()])
    await room.answer(sent, by="alice")
    await room.quiet()
    message = next(one for one in room.messages if one["id"] == sent["messageId"])
    (kept,) = message["attachments"]
    assert "data" not in kept
    file = Path(urlsplit(kept["uri"]).path)
    assert (file.read_bytes(), file.suffix, file.stat().st_mode & 0o777) == (PNG, ".png", 0o600)
    image = bed.box.blocks("alice")[0][1]
    assert (image["type"], image["mimeType"], base64.b64decode(image["data"])) == ("image", "image/png", PNG)
    assert bed.box.blocks("bob")[0][1] == {"type": "resource_link", "uri": kept["uri"], "name": kept["title"]}
    prompt = await bed.client.request("message/prompt", messageId=room.messages[1]["id"])
    assert prompt["blocks"][1]["type"] == "image"
    assert next(agent for agent in (await bed.client.state())["agents"] if agent["name"] == "alice")["takesImages"]


async def test_an_image_file_counts_and_others_are_embedded_or_linked(bed: Bed) -> None:
    picture = bed.box.workspace / "a picture.PNG"
    picture.write_bytes(PNG)
    room = await bed.room("looks")
    attachments = [
        {"uri": picture.as_uri()},
        {"uri": (bed.box.workspace / "gone.png").as_uri()},
        {"uri": "https://example.com/far.png"},
        {"uri": "file:///x.py", "text": "x = 1"},
    ]
    await room.ask("see", by="looks", attachments=attachments)
    assert [block["type"] for block in bed.box.blocks("looks")[0]] == [
        "text",
        "image",
        "resource_link",
        "resource_link",
        "resource",
    ]


async def test_attachments_go_without_a_word(bed: Bed) -> None:
    attachments = [{"uri": "file:///x.py", "text": "x = 1"}]
    room = await bed.room("reads")
    shown = await bed.client.request("message/preview", channelId=room.id, text=" ", attached=True)
    assert [target["agent"] for target in shown["to"]] == ["reads"]
    await room.ask(" ", by="reads", attachments=attachments)
    assert [block["type"] for block in bed.box.blocks("reads")[0]] == ["resource"]


@pytest.mark.parametrize(
    ("attachment", "kind"),
    [(pasted(data="no base64!"), "invalidParams"), (pasted(data="A" * (15 << 20)), "tooLarge")],
)
async def test_what_cannot_be_kept_is_refused_and_nothing_is_sent(
    bed: Bed, attachment: dict[str, Any], kind: str
) -> None:
    room = await bed.room("alice", "bob")
    refusal = await bed.client.refused("message/send", channelId=room.id, text="@alice hi", attachments=[attachment])
    assert (refusal.kind or refusal.code) in (kind, -32602)
    assert room.messages == []


@pytest.mark.parametrize(("agent", "passed"), [("local", ["files"]), ("distant", ["files", "web", "old"])])
async def test_servers_are_passed_on_by_what_is_taken(bed: Bed, agent: str, passed: list[str]) -> None:
    await (await bed.room(agent)).ask("hi", by=agent)
    given = [server["name"] for server in bed.box.received(agent, "session/new")[0]["mcpServers"]]
    assert given == [*passed, "sidekicks"]  # and the bridge's own, with which agents write to each other
