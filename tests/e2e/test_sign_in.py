"""Signing in over the wire: what the channel says, the three kinds of methods, and that what failed is tried again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.support.conditions import happened, posted
from tests.support.room import notices, text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.client import Client

pytestmark = pytest.mark.anyio

OPTIONS = "--auth agent,terminal,env_var --auth-required new --caps logout"


def house(folder: Path, options: str = OPTIONS) -> BridgeSandbox:
    box = BridgeSandbox(folder, {"alice": options, "bob": ""})
    box.entry("alice")["env"]["FAKE_AGENT_CREDENTIALS"] = str(folder / "credentials")
    box.write_config()
    return box


async def authenticate(client: Client, method: str, **fields: Any) -> dict[str, Any]:
    result: dict[str, Any] = await client.request("agent/authenticate", agent="alice", methodId=method, **fields)
    return result


async def test_the_channel_says_what_is_needed_and_the_agent_does_it(tmp_path: Path) -> None:
    box = house(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        failed = await room.ask("@alice hello @bob and you?", by="alice")
        assert failed["turn"]["error"]["code"] == "agentAuthRequired"
        assert notices(failed) == ["authRequired"]
        await room.quiet()
        (needed,) = client.of("auth/required")
        assert [method["kind"] for method in needed["methods"]] == ["agent", "terminal", "envVar"]
        assert needed["channelId"] == room.id
        state = await client.state()
        assert state["signIns"] == [needed]
        assert state["agents"][0]["canLogOut"] is True
        attention = (await client.request("attention/list"))["items"]
        assert "@alice wants you to sign in" in [item["text"] for item in attention]

        result = await authenticate(client, "agent")
        assert result["done"] is True
        answer = await client.until(posted("alice"))
        assert text_of(answer).startswith("alice heard: ")
        assert client.of("auth/resolved") == [{"agent": "alice"}]
        assert (await client.state()).get("signIns", []) == []

        await client.request("agent/logout", agent="alice")
        direct = await client.open("@alice")
        assert (await direct.ask("again", by="alice"))["turn"]["error"]["code"] == "agentAuthRequired"


async def test_a_method_for_the_terminal(tmp_path: Path) -> None:
    box = house(tmp_path)
    async with box.bridge() as client:
        room = await client.open("@alice")
        await room.ask("hello", by="alice")
        result = await authenticate(client, "terminal")
        assert result["done"] is False
        terminal = result["terminal"]
        assert terminal["cwd"] == str(box.workspace)
        argv = [terminal["command"], *terminal["args"]]
        await anyio.run_process(argv, env={**os.environ, **terminal["env"]}, cwd=terminal["cwd"])
        assert (await authenticate(client, "terminal", ran=True))["done"] is True
        answer = await client.until(posted("alice"))
        assert text_of(answer) == "alice heard: hello"
    assert box.starts("alice") == 2, "the agent is started anew"
    assert box.received("alice", "authenticate") == []


async def test_a_method_by_variables(tmp_path: Path) -> None:
    box = house(tmp_path)
    async with box.bridge() as client:
        room = await client.open("@alice")
        await room.ask("hello", by="alice")
        result = await authenticate(client, "env_var")
        assert (result["done"], result["variables"][0]["name"]) == (False, "FAKE_AGENT_KEY")
        assert f"Set FAKE_AGENT_KEY under `env` of agent alice in {box.config_path}" in result["text"]
        assert "https://example.com/keys" in result["text"]
        await client.request("config/edit", path=["agents", 0, "env", "FAKE_AGENT_KEY"], value="k")
        assert text_of(await room.ask("hello again", by="alice")).endswith("hello again")
        assert client.of("auth/resolved") == [{"agent": "alice"}]


async def test_what_cannot_be_done(tmp_path: Path) -> None:
    box = house(tmp_path, "--auth agent --auth-required new --error authenticate=-32603:denied")
    async with box.bridge() as client:
        refusal = await client.refused("agent/authenticate", agent="alice", methodId="nonsense")
        assert (refusal.code, refusal.message) == (-32602, "@alice does not offer 'nonsense'. It offers: agent.")
        assert "denied" in (await client.refused("agent/authenticate", agent="alice", methodId="agent")).message
        assert (await client.refused("agent/logout", agent="alice")).kind == "notSupported"
        assert (await client.refused("agent/authenticate", agent="zoe", methodId="agent")).kind == "agentNotFound"


async def test_an_agent_that_still_wants_it_asks_again_and_tries_no_more(tmp_path: Path) -> None:
    box = house(tmp_path, "--auth agent --auth-required new --auth-stale")
    async with box.bridge() as client:
        room = await client.open("@alice")
        await room.ask("hello", by="alice")
        await authenticate(client, "agent")
        again = await client.until(posted("alice"))
        assert again["turn"]["error"]["code"] == "agentAuthRequired"
        await room.quiet()
        await client.until(lambda _: len(client.of("auth/required")) == 2)
    assert len(box.received("alice", "session/new")) == 3, "one, one more, and one in a new process"


async def test_preparing_asks_too_and_taking_the_agent_out_forgets_it(tmp_path: Path) -> None:
    box = house(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.request("channel/prepare")
        await client.until(happened("auth/required"))
        box.config["agents"] = box.config["agents"][1:]
        box.write_config()
        await client.until(happened("auth/resolved"))
