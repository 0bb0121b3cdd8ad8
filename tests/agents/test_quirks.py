"""What single agents do differently: the table, and that each entry is acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.agents.quirks import quirks_of
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.world import Spec, world
from tests.fake_agent import command
from tests.fake_agent.log import records

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents.world import World

FORMER = "@zed-industries/claude-agent-acp"


def test_who_is_known() -> None:
    assert not quirks_of("/usr/bin/qwen").resume
    assert quirks_of("x", FORMER).reload
    assert not quirks_of("x", "@agentclientprotocol/claude-agent-acp").reload
    assert quirks_of("gemini", "gemini-cli").missing_is_empty
    assert quirks_of("/opt/bin/fast-agent").renamed_tools
    assert quirks_of("anything") == quirks_of()


async def turns(w: World, folder: Path, name: str) -> list[str]:
    """An answer that fails, one that is cancelled, and one after each; the ways the session was opened."""
    program, *args = command("--name", name, "--caps", "load")
    w.configure(Spec(name="fake", command=program, args=args, env={"FAKE_AGENT_LOG": str(folder / "log")}))
    async with w.session() as session:
        stored = session.id
        with pytest.raises(SidekicksError, match="told"):
            await session.prompt(session.blocks("!error -32603 told", []))
    await w.ask("one", stored=stored)
    async with w.session(stored=stored) as session:
        w.sink.on_ask = lambda _ask: session.cancel()
        assert (await session.prompt(session.blocks("!permit it", []))).stop_reason == "cancelled"
    await w.ask("two", stored=stored)
    await w.ask("three", stored=stored)
    messages: list[dict[str, Any]] = [record["message"] for record in records(folder / "log", "received")]
    return [message["method"] for message in messages if message.get("method") in ("session/new", "session/load")]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "loads"), [(FORMER, 2), ("other", 0)])
async def test_a_session_that_is_loaded_anew(tmp_path: Path, name: str, loads: int) -> None:
    async with world(tmp_path) as w:
        assert await turns(w, tmp_path, name) == ["session/new", *["session/load"] * loads]
        assert w.sink.text().endswith(f"{name} heard: three")


@pytest.mark.anyio
async def test_a_file_that_is_not_there_is_empty_for_one_that_takes_no_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for name, said in (("gemini-cli", "read none.txt: \n"), ("other", "read none.txt refused: -32002")):
            program, *args = command("--name", name)
            w.configure(Spec(name="fake", command=program, args=args))
            await w.ask("!read none.txt", channel=name)
            assert w.sink.text(name).startswith(said)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "names"), [("fast-agent", 2), ("other", 1)])
async def test_a_server_that_needs_a_name_of_its_own_in_each_session(tmp_path: Path, name: str, names: int) -> None:
    own = {"name": "sidekicks", "command": "x", "args": [], "env": []}
    users = {"name": "docs", "command": "y", "args": [], "env": []}
    async with world(tmp_path, [own]) as w:
        program, *args = command("--name", name)
        env = {"FAKE_AGENT_LOG": str(tmp_path / "log")}
        w.configure(Spec(name="fake", command=program, args=args, env=env, mcp_servers=[users]))
        for channel in ("one", "two"):
            await w.ask("hello", channel=channel)
    asked: list[dict[str, Any]] = [record["message"] for record in records(tmp_path / "log", "received")]
    given = [frame["params"]["mcpServers"] for frame in asked if frame.get("method") == "session/new"]
    assert [servers[0]["name"] for servers in given] == ["docs", "docs"]
    assert len({servers[1]["name"] for servers in given}) == names
    assert all(servers[1]["name"].startswith("sidekicks") for servers in given)
