"""What goes with a message: images for agents that take them, embedded text, links; MCP servers by what is taken."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.sandbox import BridgeSandbox

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n not quite"


def pasted(**fields: Any) -> dict[str, Any]:
    return {"uri": "pasted:image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode(), **fields}


async def test_a_pasted_image_is_an_image_or_a_link(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps image", "bob": ""})
    async with box.bridge() as client:
        room = await client.open("general")
        sent = await room.send("@alice @bob look", attachments=[pasted()])
        await room.answer(sent, by="alice")
        await room.quiet()
        message = next(one for one in room.messages if one["id"] == sent["messageId"])
        (kept,) = message["attachments"]
        assert "data" not in kept
        file = Path(urlsplit(kept["uri"]).path)
        assert (file.read_bytes(), file.suffix, file.stat().st_mode & 0o777) == (PNG, ".png", 0o600)
        image = box.blocks("alice")[0][1]
        assert (image["type"], image["mimeType"], base64.b64decode(image["data"])) == ("image", "image/png", PNG)
        assert box.blocks("bob")[0][1] == {"type": "resource_link", "uri": kept["uri"], "name": kept["title"]}
        prompt = await client.request("message/prompt", messageId=room.messages[1]["id"])
        assert prompt["blocks"][1]["type"] == "image"
        assert next(agent for agent in (await client.state())["agents"] if agent["name"] == "alice")["takesImages"]


async def test_an_image_file_counts_and_others_are_embedded_or_linked(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps image,embedded"})
    picture = box.workspace / "a picture.PNG"
    picture.write_bytes(PNG)
    async with box.bridge() as client:
        room = await client.open("general")
        attachments = [
            {"uri": picture.as_uri()},
            {"uri": (box.workspace / "gone.png").as_uri()},
            {"uri": "https://example.com/far.png"},
            {"uri": "file:///x.py", "text": "x = 1"},
        ]
        await room.ask("see", by="alice", attachments=attachments)
        assert [block["type"] for block in box.blocks("alice")[0]] == [
            "text",
            "image",
            "resource_link",
            "resource_link",
            "resource",
        ]


async def test_attachments_go_without_a_word(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps embedded"})
    attachments = [{"uri": "file:///x.py", "text": "x = 1"}]
    async with box.bridge() as client:
        room = await client.open("general")
        shown = await client.request("message/preview", channelId=room.id, text=" ", attached=True)
        assert [target["agent"] for target in shown["to"]] == ["alice"]
        await room.ask(" ", by="alice", attachments=attachments)
        assert [block["type"] for block in box.blocks("alice")[0]] == ["resource"]


@pytest.mark.parametrize(
    ("attachment", "kind"),
    [(pasted(data="no base64!"), "invalidParams"), (pasted(data="A" * (15 << 20)), "tooLarge")],
)
async def test_what_cannot_be_kept_is_refused_and_nothing_is_sent(
    tmp_path: Path, attachment: dict[str, Any], kind: str
) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        refusal = await client.refused("message/send", channelId=room.id, text="@alice hi", attachments=[attachment])
        assert (refusal.kind or refusal.code) in (kind, -32602)
        assert room.messages == []


@pytest.mark.parametrize(("caps", "passed"), [("", ["files"]), ("--caps http,sse", ["files", "web", "old"])])
async def test_servers_are_passed_on_by_what_is_taken(tmp_path: Path, caps: str, passed: list[str]) -> None:
    servers = [
        {"name": "files", "command": "mcp-files", "args": [], "env": []},
        {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": []},
        {"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []},
    ]
    box = BridgeSandbox(tmp_path, {"alice": caps}, fields={"alice": {"mcpServers": servers}})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("hi", by="alice")
    given = [server["name"] for server in box.received("alice", "session/new")[0]["mcpServers"]]
    assert given == [*passed, "sidekicks"]  # and the bridge's own, with which agents write to each other
