"""Modes, models and options of a session: shown, set, kept over restarts, and what is refused is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import happened, posted
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
SHAPES = "grouped,boolean,unknown-category,unknown-type"


async def test_options_are_shown_set_and_kept_over_a_restart(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": f"--config-options {SHAPES} --modes ask,code"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("hello", by="alice")
        shown = {option["id"]: option for option in room.member("alice")["options"]}
        assert set(shown) == {"model", "web", "tone", "level"}
        assert [choice.get("group") for choice in shown["model"]["choices"]] == ["Quick", "Quick", "Strong"]
        await room.request("session/setOption", agent="alice", optionId="model", value="large")
        await room.request("session/setOption", agent="alice", optionId="web", value=True)
        refusal = await client.refused(
            "session/setOption", channelId=room.id, agent="alice", optionId="tone", value="wet"
        )
        assert (refusal.code, refusal.message) == (-32602, "Option tone of agent alice takes one of: dry, warm.")
        now = {option["id"]: option.get("value") for option in room.member("alice")["options"]}
        assert (now["model"], now["web"], now["tone"]) == ("large", True, "dry")
    async with box.bridge() as client:
        room = await client.open("general")
        before = {option["id"]: option.get("value") for option in room.member("alice")["options"]}
        assert (before["model"], before["web"]) == ("large", True), "shown before the agent runs"
        await room.ask("hello again", by="alice")
        assert room.member("alice")["options"][0]["value"] == "large"
    assert [params["value"] for params in box.received("alice", "session/set_config_option")] == ["large", True] * 2


async def test_what_is_chosen_before_the_session_is_used_counts(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--modes ask,code --models small,big --commands x"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.request("channel/prepare")
        await client.until(happened("session/changed"))
        await room.request("session/setMode", agent="alice", modeId="code", modelId="big")
        assert room.member("alice")["modes"]["current"] == "code"
        await room.ask("hello", by="alice")
    assert [params["modeId"] for params in box.received("alice", "session/set_mode")] == ["code"]
    assert [params["modelId"] for params in box.received("alice", "session/set_model")] == ["big"]


async def test_a_choice_made_while_a_session_opens_reaches_it_once(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--modes ask,code --slow-start begin"})
    box.gates.open("begin")
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("hello", by="alice")
    box.gates.close("begin")
    async with box.bridge() as client:
        room = await client.open("general")
        sent = await room.send("again")
        await room.turn("alice", "starting")
        await room.request("session/setMode", agent="alice", modeId="code")
        box.gates.open("begin")
        await room.answer(sent, by="alice")
    assert [params["modeId"] for params in box.received("alice", "session/set_mode")] == ["code"]


async def test_a_choice_that_is_no_longer_offered_is_said_once(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--modes ask,code"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.request("session/setMode", agent="alice", modeId="gone")
        await room.ask("hello", by="alice")
        told = await client.until(posted("system"))
        assert told["parts"][0]["text"] == (
            "Your choice of mode for @alice was not taken: Agent alice has no mode 'gone'. It offers: ask, code."
        )
        await client.request("agent/restart", agent="alice")
        await room.ask("hello", by="alice")
        assert [message["author"]["kind"] for message in room.messages].count("system") == 1
