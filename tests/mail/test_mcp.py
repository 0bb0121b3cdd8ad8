"""Our MCP server: with the official client, and with what no client should send."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from sidekicks_bridge.cli.mcp import TOOLS
from tests.mail.world import peers, said
from tests.server.conftest import socket_of
from tests.support.sandbox import REPOSITORY, BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_the_official_client(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client, peers(socket_of(box), "ann") as (ann,):
        room = await client.open("general")
        await room.ask("@alice hello", by="alice")
        (server,) = box.received("alice", "session/new")[0]["mcpServers"]
        given = StdioServerParameters(
            command=server["command"],
            args=server["args"],
            env={one["name"]: one["value"] for one in server["env"]},
        )
        async with stdio_client(given) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
            hello = await session.initialize()
            assert hello.server_info.name == "sidekicks"
            listed = await session.list_tools()
            assert [tool.name for tool in listed.tools] == list(TOOLS)
            told = await session.call_tool("tell", {"peer": "ann", "message": "from alice"})
            assert texts(told) == ["seq=1 peer=ann"]
            assert said(await ann.call("read", peer="alice")) == ["from alice"]
            refused = await session.call_tool("tell", {"peer": "nobody", "message": "x"})
            assert refused.is_error
            assert texts(refused)[0].startswith("peerNotFound: ")


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def talk(*lines: str, env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """What the server, without a bridge, answers to lines."""
    place = {"SIDEKICKS_MAIL_SOCKET": "/nowhere/bridge.sock", "SIDEKICKS_MAIL_TOKEN": "t"}
    run = subprocess.run(
        [sys.executable, "-m", "sidekicks_bridge", "mcp"],
        input="\n".join(lines) + "\n",
        env=place if env is None else env,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "Traceback" not in run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_what_no_client_should_send() -> None:
    answers = talk(
        "no json",
        "[]",
        "3",
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":1,"method":"nonsense"}',
        '{"jsonrpc":"2.0","id":2,"method":"ping"}',
        '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}',
    )
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32700, -32601, None, None]
    assert answers[-1]["result"]["protocolVersion"] == "2025-11-25"


async def test_a_bridge_that_is_gone_is_said_in_the_result(tmp_path: Path) -> None:
    env = {"SIDEKICKS_MAIL_SOCKET": str(tmp_path / "none.sock"), "SIDEKICKS_MAIL_TOKEN": "t"}
    given = StdioServerParameters(
        command=sys.executable, args=["-m", "sidekicks_bridge", "mcp"], env=env, cwd=REPOSITORY
    )
    async with stdio_client(given) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        result = await session.call_tool("agents", {})
        assert result.is_error
        assert texts(result)[0].startswith("closed: ")


def test_it_is_no_command_for_people() -> None:
    assert talk(env={}) == []
