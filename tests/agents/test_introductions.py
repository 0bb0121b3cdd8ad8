"""How agents introduce themselves, in every shape that can be understood; and that a slow start holds nobody up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from sidekicks_bridge.agents.capabilities import Capabilities, read_capabilities, read_version
from tests.agents.world import fake, world

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ({"protocolVersion": 1}, 1),
        ({"protocolVersion": "1"}, 1),
        ({"protocolVersion": 1.0}, 1),
        ({"protocolVersion": 2}, 2),
        ({"protocolVersion": "2025-06-18"}, None),
        ({"protocolVersion": None}, None),
        ({"protocolVersion": True}, None),
        ({}, None),
        (None, None),
        ("ok", None),
        ([], None),
    ],
)
def test_the_version(answer: Any, version: int | None) -> None:
    assert read_version(answer) == version


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        "all",
        {},
        {"agentCapabilities": None, "authMethods": None, "agentInfo": None},
        {"agentCapabilities": [], "authMethods": {}, "agentInfo": []},
        {"agentCapabilities": {"loadSession": "yes", "promptCapabilities": None, "mcpCapabilities": True}},
        {"agentCapabilities": {"loadSession": 1, "sessionCapabilities": ["resume"], "auth": {"logout": True}}},
        {"agentCapabilities": {"promptCapabilities": {"image": 1}, "sessionCapabilities": {"list": None}}},
        {"authMethods": [None, "x", {"name": "no id"}]},
    ],
)
def test_what_an_agent_says_of_itself_is_read_tolerantly(said: Any) -> None:
    """What is missing, null or of another type is not offered."""
    assert read_capabilities(said) == Capabilities()


def test_what_is_offered_is_seen() -> None:
    session: dict[str, Any] = {name: {} for name in ("resume", "close", "list", "delete", "future")}
    said = {
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "embeddedContext": True, "audio": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "sessionCapabilities": session,
            "auth": {"logout": {}},
        }
    }
    able = read_capabilities(said)
    assert (able.load, able.resume, able.close, able.lists, able.delete, able.logout) == (True,) * 6
    assert (able.image, able.embedded, able.http, able.sse) == (True,) * 4
    assert not read_capabilities(said, "/opt/qwen").resume, "announced, and not there"


@pytest.mark.anyio
async def test_others_are_answered_while_an_agent_starts(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--hang initialize", name="slow"), fake(), start_timeout=60)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(w.ask, "hello", "slow", "c2")
            await w.sink.until(lambda: ("slow", "starting", None) in w.sink.states)
            assert (await w.ask("hi")).stop_reason == "end_turn"
            assert w.manager.state("slow") == ("starting", None)
            tasks.cancel_scope.cancel()
