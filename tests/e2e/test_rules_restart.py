"""Design rules 6 and 9: sessions and history over restarts, orderly ends and kills."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import happened, permission, streaming
from tests.support.room import line_of, notices, text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
ONE = {"alice": ""}


async def test_a_session_is_loaded_and_its_replay_not_shown(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps load --replay 2"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("!say one", by="alice")
    session = box.received("alice", "session/prompt")[0]["sessionId"]
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.said() == ["user: !say one", "alice: one"]
        assert (await room.preview("x"))["to"][0]["fresh"] is False
        answer = await room.ask("two", by="alice")
        assert room.said() == ["user: !say one", "alice: one", "user: two", "alice: alice heard: two"]
        assert (await client.request("message/prompt", messageId=answer["id"]))["session"] == "loaded"
        again = await room.ask("three", by="alice")
        assert (await client.request("message/prompt", messageId=again["id"]))["session"] == "resumed"
    assert [params["sessionId"] for params in box.received("alice", "session/load")] == [session]
    assert len(box.received("alice", "session/new")) == 1
    assert box.prompts("alice") == ["!say one", "two", "three"]


@pytest.mark.parametrize(
    "options",
    ["", "--caps load --error load=-32002:gone", "--caps load --unserved load"],
    ids=["cannot", "refuses", "lied"],
)
async def test_without_its_session_an_agent_is_told_everything(tmp_path: Path, options: str) -> None:
    box = BridgeSandbox(tmp_path, {"alice": options, "bob": ""})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@alice !say one", by="alice")
        await room.ask("@bob !say two", by="bob")
    async with box.bridge() as client:
        room = await client.open("general")
        answer = await room.ask("@alice !say three", by="alice")
        assert answer["turn"]["stopReason"] == "end_turn"
        prompt = await client.request("message/prompt", messageId=answer["id"])
        assert (prompt["session"], prompt["unseen"]) == ("fresh", 4)
        await room.ask("@alice !say four", by="alice")
        assert [message for message in room.messages if message["author"]["kind"] == "system"] == []
    said = ["user: @alice !say one", "alice: one", "user: @bob !say two", "bob: two"]
    assert box.prompts("alice") == ["@alice !say one", room.frame(said, "@alice !say three"), "@alice !say four"]


async def test_a_stored_session_is_replaced_only_on_success(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps load"})
    async with box.bridge() as client:
        await (await client.open("general")).ask("!say one", by="alice")
    first = box.received("alice", "session/prompt")[0]["sessionId"]
    box.config["agents"] = [box.agent("alice", "--caps load --error load=-1:no --error new=-1:no")]
    box.write_config()
    async with box.bridge() as client:
        failed = await (await client.open("general")).ask("!say two", by="alice")
        assert failed["turn"]["stopReason"] == "failed"
        assert "no" in failed["turn"]["error"]["message"]
    box.config["agents"] = [box.agent("alice", "--caps load")]
    box.write_config()
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("!say three", by="alice")
    assert [params["sessionId"] for params in box.received("alice", "session/load")] == [first, first]
    assert box.prompts("alice") == ["!say one", room.frame(["user: !say two"], "!say three")]


async def test_a_fresh_session_is_told_everything_even_after_a_command(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, ONE)
    async with box.bridge() as client:
        await (await client.open("general")).ask("!say one", by="alice")
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("/plan first", by="alice")
        await room.ask("!say two", by="alice")
    said = ["user: !say one", "alice: one"]
    assert box.prompts("alice") == ["!say one", "/plan first", room.frame(said, "!say two")]


async def test_an_agent_restarted_by_the_user_is_fresh(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, ONE)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("!say one", by="alice")
        await client.request("agent/restart", agent="alice")
        assert (await room.preview("x"))["to"][0] == {
            "agent": "alice",
            "invited": False,
            "unseen": 2,
            "cut": 0,
            "fresh": True,
        }
        await room.ask("!say two", by="alice")
    assert box.prompts("alice")[1] == room.frame(["user: !say one", "alice: one"], "!say two")
    assert box.starts("alice") == 2


# ── rule 9: history ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_quitting_keeps_what_streams(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.send("@alice @bob !for alice !say partial !permit x")
        await client.until(permission())
        await room.send("@bob !say later")
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.turns == []
        assert room.snapshot["permissions"] == []
        states = [(line_of(message).partition("The bridge")[0], message["state"]) for message in room.messages]
        assert states == [
            ("user: @alice @bob !for alice !say partial !permit x", "finished"),
            ("alice: partial", "finished"),
            ("bob: ", "finished"),
            ("user: @bob !say later", "finished"),
            ("bob: ", "finished"),
        ] or states == [
            ("user: @alice @bob !for alice !say partial !permit x", "finished"),
            ("alice: partial", "finished"),
            ("user: @bob !say later", "finished"),
            ("bob: ", "finished"),
            ("bob: ", "finished"),
        ]
        partial, *others = [message for message in room.messages if message["author"]["kind"] == "agent"]
        assert partial["turn"]["stopReason"] == "interrupted"
        assert notices(partial) == ["interrupted"]
        card = next(part for part in partial["parts"] if part["type"] == "permission")
        assert card["outcome"] == {"outcome": "cancelled"}
        call = next(part for part in partial["parts"] if part["type"] == "toolCall")
        assert call["status"] in ("failed", "cancelled")
        assert [other["turn"]["stopReason"] for other in others] == ["interrupted", "interrupted"]
        assert box.starts("bob") == 0, "nothing starts by itself"


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
        by_reply = {
            message.get("inReplyTo"): message for message in room.messages if message["author"]["kind"] == "agent"
        }
        alice, bob = by_reply[running["messageId"]], by_reply[queued["messageId"]]
        for answer, name in ((alice, "alice"), (bob, "bob")):
            assert answer["author"]["name"] == name
            assert answer["turn"]["stopReason"] == "interrupted"
            assert notices(answer) == ["interrupted"]
        seqs = [message["seq"] for message in room.messages]
        assert seqs == sorted(seqs)
        assert all(message["state"] == "finished" for message in room.messages)
        assert (box.starts("alice"), box.starts("bob")) == (1, 1)
        await client.request("turn/retry", messageId=alice["id"])
        await room.quiet()
        assert text_of(room.messages[-1]) == "partial"
        assert room.messages[-1]["inReplyTo"] == running["messageId"]
        refused = await client.refused("turn/retry", messageId=running["messageId"])
        assert refused.kind == "messageNotFound"
    asked = "@alice !say partial !hold kill-1"
    framed = room.frame(["user: @bob !say first", "bob: first", "user: @bob !say queued"], asked)
    assert box.prompts("alice")[-1] == framed


async def test_a_bridge_that_is_told_to_end_by_a_signal_keeps_what_streams(tmp_path: Path) -> None:
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


async def test_unread_marks_and_drafts_survive(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@alice !say one", by="alice")
        await room.ask("@bob !say two", by="bob")
        assert room.channel["unread"] == 2
        await room.request("channel/markRead", seq=2)
        assert room.channel["unread"] == 1
        await room.request("channel/markRead", seq=1)
        assert room.channel["unread"] == 1, "the mark never goes back"
        await room.request("draft/set", text="half a thou")
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.channel["unread"] == 1
        assert room.snapshot["draft"] == "half a thou"
        assert (await client.request("attention/list"))["items"][0]["count"] == 1
        await room.request("channel/markRead", seq=99)
        await room.request("draft/set", text="")
        assert room.channel["unread"] == 0
        await room.ask("@alice !say three", by="alice")
        assert room.channel["unread"] == 1, "reading ahead is not possible"
    async with box.bridge() as client:
        room = await client.open("general")
        assert "draft" not in room.snapshot
        assert room.channel["unread"] == 1


async def test_what_agents_announced_is_known_before_they_run(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--commands plan:Plan,review", "bob": ""})
    async with box.bridge() as client:
        await (await client.open("general")).ask("@alice hi", by="alice")
    async with box.bridge() as client:
        room = await client.open("general")
        prepared = await room.request("channel/prepare")
        assert [(one["agent"], one["name"]) for one in prepared["commands"]] == [("alice", "plan"), ("alice", "review")]
        assert box.starts("alice") == 1


async def test_a_folder_that_cannot_be_written_is_said_aloud(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, ONE)
    box.config_home.rmdir()
    box.config_home.write_text("a file where a folder should be", encoding="utf-8")
    async with box.bridge() as client:
        state = await client.state()
        assert state["storage"]["persistent"] is False
        assert str(box.config_home) in state["storage"]["reason"]
        room = await client.open("general")
        assert text_of(await room.ask("still here?", by="alice")) == "alice heard: still here?"


async def test_settings_chosen_for_a_channel_come_back(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--modes ask,code --models small,large --config-options boolean"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("hi", by="alice")
        if "modes" in room.member("alice"):
            await room.request("session/setMode", agent="alice", modeId="code")
            assert room.member("alice")["modes"]["current"] == "code"
        option = room.member("alice")["options"][0]
        await room.request("session/setOption", agent="alice", optionId=option["id"], value=not option["value"])
        await client.until(happened("session/changed"))
        assert room.member("alice")["options"][0]["value"] is (not option["value"])
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("hi", by="alice")
        assert room.member("alice")["options"][0]["value"] is (not option["value"])
    assert len(box.received("alice", "session/set_config_option")) == 2
