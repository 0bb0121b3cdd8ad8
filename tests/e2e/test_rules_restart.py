"""Design rules 6 and 9: sessions and history over restarts, orderly ends and kills.

A restart costs two bridges, so one bridge prepares a channel for each test, and the next one is looked at.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import happened, permission, streaming
from tests.support.room import line_of, notices, text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.client import Client

pytestmark = pytest.mark.anyio
ONE = {"alice": ""}
AGENTS = {
    "loads": "--caps load --replay 2 --commands plan:Plan,review",
    "cannot": "",
    "refuses": "--caps load --error load=-32002:gone",
    "lied": "--caps load --unserved load",
    "resumes": "--caps resume",
    "streams": "",
    "waits": "",
    "sets": "--config-options boolean",
    "reads": "",
    "commanded": "",
}
Restarted = tuple[BridgeSandbox, "Client"]


@pytest.fixture(scope="module")
async def restarted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Restarted]:
    channels = {name: [name] for name in AGENTS} | {"streams": ["streams", "waits"], "direct": []}
    box = BridgeSandbox(
        tmp_path_factory.mktemp("restarted"), AGENTS, channels, limits={"maxRunningAgents": 20, "cancelTimeout": "2s"}
    )
    async with box.bridge() as client:
        await before_the_restart(client)
    async with box.bridge() as client:
        yield box, client


async def before_the_restart(client: Client) -> None:
    for name in ("loads", "cannot", "refuses", "lied", "resumes", "reads", "commanded"):
        await (await client.open(name)).ask("!say one", by=name)
    reads = await client.open("reads")
    await reads.ask("!say two", by="reads")
    await reads.ask("!say three", by="reads")
    await client.until(lambda _: reads.channel["unread"] == 3)
    await reads.request("channel/markRead", seq=4)
    assert reads.channel["unread"] == 1
    await reads.request("channel/markRead", seq=2)
    assert reads.channel["unread"] == 1, "the mark never goes back"
    await reads.request("draft/set", text="half a thou")
    sets = await client.open("sets")
    await sets.ask("hi", by="sets")
    await sets.request("session/setOption", agent="sets", optionId="web", value=False)
    await client.until(happened("session/changed", lambda params: params["options"][0]["value"] is False))
    streams = await client.open("streams")
    await streams.send("@streams @waits !say partial !permit x")
    await client.until(permission())
    await streams.send("@waits !say later")


async def test_a_session_is_loaded_and_its_replay_not_shown(restarted: Restarted) -> None:
    box, client = restarted
    room = await client.open("loads")
    assert room.said() == ["user: !say one", "loads: one"]
    assert (await room.preview("x"))["to"][0]["fresh"] is False
    answer = await room.ask("two", by="loads")
    assert room.said() == ["user: !say one", "loads: one", "user: two", "loads: loads heard: two"]
    assert (await client.request("message/prompt", messageId=answer["id"]))["session"] == "loaded"
    again = await room.ask("three", by="loads")
    assert (await client.request("message/prompt", messageId=again["id"]))["session"] == "resumed"
    used = {params["sessionId"] for params in box.received("loads", "session/prompt")}
    assert {params["sessionId"] for params in box.received("loads", "session/load")} == used
    assert len(box.received("loads", "session/new")) == len(used) == 1
    assert box.prompts("loads") == ["!say one", "two", "three"]


async def test_a_session_is_resumed(restarted: Restarted) -> None:
    box, client = restarted
    room = await client.open("resumes")
    await room.ask("two", by="resumes")
    assert len(box.received("resumes", "session/resume")) == 1
    assert len(box.received("resumes", "session/new")) == 1
    assert box.prompts("resumes") == ["!say one", "two"]


@pytest.mark.parametrize("agent", ["cannot", "refuses", "lied"])
async def test_without_its_session_an_agent_is_told_everything(restarted: Restarted, agent: str) -> None:
    box, client = restarted
    room = await client.open(agent)
    answer = await room.ask("!say two", by=agent)
    assert answer["turn"]["stopReason"] == "end_turn"
    prompt = await client.request("message/prompt", messageId=answer["id"])
    assert (prompt["session"], prompt["unseen"]) == ("fresh", 2)
    await room.ask("!say three", by=agent)
    assert [message for message in room.messages if message["author"]["kind"] == "system"] == [], "no notice"
    assert box.prompts(agent) == ["!say one", room.frame(["user: !say one", f"{agent}: one"], "!say two"), "!say three"]


async def test_a_fresh_session_is_told_everything_after_a_command_too(restarted: Restarted) -> None:
    box, client = restarted
    room = await client.open("commanded")
    await room.ask("/plan first", by="commanded")
    await room.ask("!say two", by="commanded")
    said = ["user: !say one", "commanded: one"]
    assert box.prompts("commanded") == ["!say one", "/plan first", room.frame(said, "!say two")]


async def test_what_was_announced_is_known_before_the_agent_runs(restarted: Restarted) -> None:
    _, client = restarted
    agents = {agent["name"]: agent for agent in (await client.state())["agents"]}
    assert [command["name"] for command in agents["loads"]["commands"]] == ["plan", "review"]
    room = await client.open("loads")
    prepared = (await room.request("channel/prepare"))["commands"]
    assert [(one["agent"], one["name"], one["description"]) for one in prepared] == [
        ("loads", "plan", "Plan"),
        ("loads", "review", "review"),
    ]


async def test_quitting_keeps_what_streams(restarted: Restarted) -> None:
    box, client = restarted
    room = await client.open("streams")
    assert room.turns == []
    assert room.snapshot["permissions"] == []
    assert all(message["state"] == "finished" for message in room.messages)
    answers = [message for message in room.messages if message["author"]["kind"] == "agent"]
    assert [answer["author"]["name"] for answer in answers] == ["streams", "waits", "waits"]
    assert [answer["turn"]["stopReason"] for answer in answers] == ["interrupted"] * 3
    assert [notices(answer) for answer in answers] == [["interrupted"]] * 3
    assert text_of(answers[0]) == "partial"
    card = next(part for part in answers[0]["parts"] if part["type"] == "permission")
    assert card["outcome"] == {"outcome": "cancelled"}
    call = next(part for part in answers[0]["parts"] if part["type"] == "toolCall")
    assert call["status"] in ("failed", "cancelled")
    items = [item for item in (await client.request("attention/list"))["items"] if item["channelId"] == room.id]
    assert [item["kind"] for item in items] == ["error"] * 3 + ["unread"]
    assert {item["messageId"] for item in items[:3]} == {answer["id"] for answer in answers}
    users = [line_of(message) for message in room.messages if message["author"]["kind"] == "user"]
    assert users == ["user: @streams @waits !say partial !permit x", "user: @waits !say later"]
    assert box.starts("waits") == 0, "nothing starts by itself"


async def test_unread_marks_and_drafts_survive(restarted: Restarted) -> None:
    _, client = restarted
    room = await client.open("reads")
    assert room.channel["unread"] == 1
    assert room.snapshot["draft"] == "half a thou"
    items = (await client.request("attention/list"))["items"]
    assert [item["count"] for item in items if item["channelId"] == room.id and item["kind"] == "unread"] == [1]
    await room.request("channel/markRead", seq=99)
    await room.request("draft/set", text="")
    assert room.channel["unread"] == 0
    await room.ask("!say four", by="reads")
    await client.until(lambda _: room.channel["unread"] == 1)  # what is to come cannot be read
    assert "draft" not in await room.request("channel/open")


async def test_settings_chosen_for_a_channel_come_back(restarted: Restarted) -> None:
    box, client = restarted
    room = await client.open("sets")
    await room.ask("hi", by="sets")
    assert room.member("sets")["options"][0]["value"] is False
    assert len(box.received("sets", "session/set_config_option")) == 2


# ── a kill ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_after_a_kill_a_repeated_token_still_sends_nothing_twice(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        sent = [await room.send(f"@bob !say {n}", clientToken=f"token-{n}") for n in range(3)]
        await room.quiet()
        await client.kill()
    async with box.bridge() as client:
        room = await client.open("general")
        again = [await room.send(f"@bob !say {n}", clientToken=f"token-{n}") for n in range(3)]
        assert [one["messageId"] for one in again] == [one["messageId"] for one in sent]
        assert await room.send("@bob !say 3", clientToken="token-3") not in again
        await room.quiet()
        assert [message["parts"][0]["text"] for message in room.messages if message["author"]["kind"] == "user"] == [
            f"@bob !say {n}" for n in range(4)
        ]


async def test_after_a_kill_what_ran_is_interrupted_and_can_be_retried(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@bob !say first", by="bob")
        running = await room.send("@alice !say partial !hold kill-1")
        await client.until(streaming("alice", "partial"))
        queued = await room.send("@bob !say queued")
        await client.kill()
    box.gates.open("kill-1")
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.turns == []
        answers = {message.get("inReplyTo"): message for message in room.messages}
        for sent, name in ((running, "alice"), (queued, "bob")):
            answer = answers[sent["messageId"]]
            assert answer["author"]["name"] == name
            assert answer["turn"]["stopReason"] == "interrupted"
            assert notices(answer) == ["interrupted"]
        assert [message["seq"] for message in room.messages] == list(range(1, len(room.messages) + 1))
        assert all(message["state"] == "finished" for message in room.messages)
        assert (box.starts("alice"), box.starts("bob")) == (1, 1), "nothing starts by itself"
        await client.request("turn/retry", messageId=answers[running["messageId"]]["id"])
        await room.quiet()
        assert text_of(room.messages[-1]) == "partial"
        assert room.messages[-1]["inReplyTo"] == running["messageId"]
        refused = await client.refused("turn/retry", messageId=running["messageId"])
        assert refused.kind == "messageNotFound"
    asked = "@alice !say partial !hold kill-1"
    framed = room.frame(["user: @bob !say first", "bob: first", "user: @bob !say queued"], asked)
    assert box.prompts("alice")[-1] == framed


async def test_a_signal_ends_the_bridge_in_order(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, ONE)
    async with box.bridge(check=False) as client:
        room = await client.open("general")
        await room.send("!say partial !hang")
        await client.until(streaming("alice", "partial"))
        client.process.send_signal(signal.SIGTERM)
        await client.process.wait()
        assert "Traceback" not in client.stderr()
    async with box.bridge() as client:
        room = await client.open("general")
        assert text_of(room.messages[-1]) == "partial"
        assert room.messages[-1]["turn"]["stopReason"] == "interrupted"


async def test_a_stored_session_is_replaced_only_on_success(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps load"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("!say one", by="alice")
        first = box.received("alice", "session/prompt")[0]["sessionId"]
        for options in ("--caps load --error load=-1:no --error new=-1:no", "--caps load"):
            box.config["agents"] = [box.agent("alice", options)]
            mark = len(client.events)
            box.write_config()
            await client.until(happened("config/changed", since=mark))
            await client.until(happened("agent/state", lambda params: params["state"] == "stopped", since=mark))
            answer = await room.ask(f"!say {options}", by="alice")
            assert answer["turn"]["stopReason"] == ("failed" if "new" in options else "end_turn")
    assert [params["sessionId"] for params in box.received("alice", "session/load")] == [first, first]
    assert len(box.prompts("alice")) == 2


async def test_a_failure_of_an_agent_that_is_not_configured_any_more_waits_for_nobody(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "", "bob": ""})
    async with box.bridge() as client:
        room = await client.open("general")
        for name in ("alice", "bob"):
            await room.ask(f"@{name} !crash", by=name)
        kinds = [(item["kind"], item.get("agent")) for item in (await client.request("attention/list"))["items"]]
        assert kinds == [("error", "alice"), ("error", "bob"), ("unread", None)]
        mark = len(client.events)
        box.config["agents"] = [box.agent("bob", "")]
        box.config["channels"] = [{"name": "general", "members": ["bob"]}]
        box.write_config()
        count = await client.until(happened("attention/changed", since=mark))
        kinds = [(item["kind"], item.get("agent")) for item in (await client.request("attention/list"))["items"]]
        assert kinds == [("error", "bob"), ("unread", None)]
        assert count["count"] == 2


async def test_history_that_cannot_be_kept_is_said_aloud(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, ONE)
    box.config_home.rmdir()
    box.config_home.write_text("a file where a folder should be", encoding="utf-8")
    async with box.bridge() as client:
        storage = (await client.state())["storage"]
        assert storage["persistent"] is False
        assert str(box.config_home) in storage["reason"]
        room = await client.open("general")
        assert text_of(await room.ask("still here?", by="alice")) == "alice heard: still here?"
