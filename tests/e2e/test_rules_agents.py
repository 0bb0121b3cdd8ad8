"""Design rules 7, 8 and 11: who runs, commands and completion, permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support import law
from tests.support.bed import Bed
from tests.support.conditions import happened, permission, posted, streaming
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.client import Client

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
FIVE = {
    "alice": "--commands plan",
    "bob": "",
    "carol": "--caps load",
    "dora": "--commands plan,review",
    "eve": "--commands hidden",
}


@pytest.fixture(scope="module")
async def of_two(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[BridgeSandbox, Client]]:
    box = BridgeSandbox(tmp_path_factory.mktemp("two"), FIVE, {}, limits={"maxRunningAgents": 2})
    async with box.bridge() as client:
        yield box, client


@pytest.fixture
async def two(of_two: tuple[BridgeSandbox, Client]) -> AsyncIterator[Bed]:
    """A place where two of five agents may run, and none runs yet."""
    bed = Bed(*of_two)
    for name in FIVE:
        await bed.client.request("agent/stop", agent=name)
    bed.client.events.clear()
    yield bed
    await bed.end()


def running(bed: Bed) -> set[str]:
    states = {params["agent"]: params["state"] for params in bed.client.of("agent/state")}
    return {name for name, state in states.items() if state != "stopped"}


# ── rule 7: two agents run at most ───────────────────────────────────────────────────────────────────────────────


async def test_opening_a_channel_starts_nobody(two: Bed) -> None:
    room = await two.room(*FIVE)
    await room.preview("@alice hi")
    await two.client.state()
    assert two.client.of("agent/state") == []
    assert two.box.starts("alice") == 0


async def test_prepare_asks_those_who_never_announced(two: Bed) -> None:
    room = await two.room(*FIVE)
    await room.ask("@bob !say one", by="bob")
    mark = len(two.client.events)
    assert (await room.request("channel/prepare"))["commands"] == []
    await two.client.until(happened("commands/changed", lambda params: params["agent"] == "eve", since=mark))
    assert two.box.starts("bob") == 1, "who has answered is never stopped for it"
    assert "bob" in running(two)
    agents = {agent["name"]: agent["commands"] for agent in (await two.client.state())["agents"]}
    assert [command["name"] for command in agents["alice"]] == ["plan"]
    assert two.box.prompts("eve") == []
    await room.ask("@eve !say two", by="eve")
    assert len(two.box.received("eve", "session/new")) == two.box.starts("eve"), "the session it opened is used"
    assert two.box.prompts("eve") == [room.frame(["user: @bob !say one", "bob: one"], "@eve !say two")]


async def test_the_least_recently_used_makes_room(two: Bed) -> None:
    room = await two.room(*FIVE)
    await room.ask("@alice !say one", by="alice")
    await room.ask("@bob !say two", by="bob")
    await room.ask("@alice !say three", by="alice")
    await room.ask("@carol !say four", by="carol")
    await two.client.until(happened("agent/state", lambda params: params == {"agent": "bob", "state": "stopped"}))
    assert running(two) == {"alice", "carol"}
    await room.ask("@bob !say five", by="bob")
    everything = ["user: @alice !say one", "alice: one", "user: @bob !say two", "bob: two", "user: @alice !say three"]
    everything += ["alice: three", "user: @carol !say four", "carol: four"]
    assert two.box.prompts("bob")[1] == room.frame(everything, "@bob !say five"), "its own answers too: it is fresh"
    assert running(two) == {"carol", "bob"}
    answer = await room.ask("@carol !say six", by="carol")
    assert (await two.client.request("message/prompt", messageId=answer["id"]))["session"] == "resumed"


async def test_a_start_waits_while_all_are_busy(two: Bed) -> None:
    here, there, room = await two.room("alice"), await two.room("bob"), await two.room("carol")
    first = await here.send("!say one !hold slot-1")
    await two.client.until(streaming("alice", "one"))
    second = await there.send("!say two !hold slot-2")
    await two.client.until(streaming("bob", "two"))
    events = await law.verify(two.client, room, lambda: room.send("hello"))
    assert "sidekicks/turn/changed" in [event["method"] for event in events]
    waiting = await room.turn("carol", "queued", waits="noSlot")
    assert two.box.starts("carol") == 0
    assert (await room.preview("@dora x"))["to"][0]["waitsFor"]["reason"] == "channel"
    items = (await two.client.request("attention/list"))["items"]
    assert [item["agent"] for item in items if item["kind"] == "queued"] == ["carol"]
    await room.cancel(waiting["id"])
    assert room.messages == []
    sent = await room.send("hello")
    await room.turn("carol", "queued", waits="noSlot")
    two.box.gates.open("slot-2")
    await there.answer(second, by="bob")
    assert text_of(await room.answer(sent, by="carol")) == "carol heard: hello"
    two.box.gates.open("slot-1")
    await here.answer(first, by="alice")


async def test_an_agent_stops_when_idle_and_comes_back(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps load"}, limits={"idleStop": "200ms"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("!say one", by="alice")
        await client.until(happened("agent/state", lambda params: params["state"] == "stopped"))
        await room.ask("!say two", by="alice")
    assert box.starts("alice") == 2
    assert box.prompts("alice") == ["!say one", "!say two"]


# ── rule 8: commands and completion ──────────────────────────────────────────────────────────────────────────────


async def labels(bed_or_client: Client, channel_id: str, text: str) -> list[str]:
    result = await bed_or_client.request("message/complete", channelId=channel_id, text=text, offset=len(text))
    return [item["label"] for item in result["items"]]


async def test_completion(two: Bed) -> None:
    client = two.client
    opened = await two.room("dora", "alice")
    assert await labels(client, opened.id, "@") == ["@alice", "@dora", "@bob", "@carol", "@eve"], "members first"
    assert await labels(client, opened.id, "hi @ac") == ["@alice"]
    assert await labels(client, opened.id, "hi `@al") == []
    assert await labels(client, opened.id, "me@al") == []
    await opened.ask("@dora hi", by="dora")
    await opened.ask("@alice hi", by="alice")
    assert await labels(client, opened.id, "/") == ["/dora:plan", "/dora:review", "/alice:plan"]
    assert await labels(client, opened.id, "@dora /") == ["/plan", "/review"]
    assert await labels(client, opened.id, "@dora /re") == ["/review"]
    assert await labels(client, opened.id, "see /") == []
    assert await labels(client, opened.id, "/dora:pl") == ["/dora:plan"]
    direct = await client.open("@dora")
    assert await labels(client, direct.id, "/") == ["/plan", "/review"]


# ── rule 11: permissions ─────────────────────────────────────────────────────────────────────────────────────────


async def test_several_questions_wait_at_once(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    other = await bed.room("bob")
    sent = await room.send("@alice !permit-all first;second;third")
    asked = [await bed.client.until(permission(by="alice")) for _ in range(3)]
    assert [one["toolCall"]["title"] for one in asked] == ["first", "second", "third"]
    assert [one["requestId"] for one in room.snapshot["permissions"]] == [one["requestId"] for one in asked]
    theirs = await other.send("!permit elsewhere")
    there = await bed.client.until(permission(by="bob"))
    assert len((await bed.client.state())["permissions"]) == 4
    await bed.client.request("permission/answer", requestId=asked[1]["requestId"], optionId="allow")
    assert room.turns[0]["state"] == "awaitingPermission"
    unknown = await bed.client.refused("permission/answer", requestId=asked[0]["requestId"], optionId="sudo")
    assert (unknown.code, unknown.kind) == (-32602, "invalidParams")
    assert "allow" in unknown.message
    assert len(room.snapshot["permissions"]) == 2, "the card stays"
    again = await bed.client.request("permission/answer", requestId=asked[1]["requestId"], optionId="reject")
    assert again == {"accepted": False}
    await bed.client.request("permission/answer", requestId=asked[0]["requestId"])
    await bed.client.request("permission/answer", requestId=asked[2]["requestId"], optionId="reject")
    await bed.client.request("permission/answer", requestId=there["requestId"], optionId="allow")
    answer = await room.answer(sent, by="alice")
    assert text_of(answer) == "permit first: cancelled\npermit second: allow\npermit third: reject\n"
    outcomes = [part["outcome"] for part in answer["parts"] if part["type"] == "permission"]
    assert outcomes == [
        {"outcome": "cancelled"},
        {"outcome": "selected", "optionId": "allow"},
        {"outcome": "selected", "optionId": "reject"},
    ]
    assert text_of(await other.answer(theirs, by="bob")) == "permit elsewhere: allow\n"


@pytest.mark.parametrize("directive", ["permit", "permit-before-tool", "permit-bare", "permit-busy"])
async def test_ways_to_ask(bed: Bed, directive: str) -> None:
    room = await bed.room("alice")
    sent = await room.send(f"!{directive} write ids=ok:allow_always,odd:who_knows")
    asked = await bed.client.until(permission())
    assert asked["agent"] == "alice"
    assert [(option["optionId"], option["kind"]) for option in asked["options"]] == [
        ("ok", "allow_always"),
        ("odd", "who_knows"),
    ]
    assert asked["turnId"] == room.turns[0]["id"]
    await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="odd")
    answer = await room.answer(sent, by="alice")
    assert text_of(answer) == "permit write: odd\n"
    calls = [part for part in answer["parts"] if part["type"] == "toolCall"]
    assert len(calls) == 1, "the question and the tool call are about the same thing"


async def test_a_diff_is_shown_with_the_question(bed: Bed) -> None:
    room = await bed.room("alice")
    sent = await room.send("!permit-diff notes.md|old|new\\nlines")
    asked = await bed.client.until(permission())
    path = f"{bed.box.workspace}/notes.md"
    assert asked["toolCall"]["content"] == [{"type": "diff", "path": path, "oldText": "old", "newText": "new\nlines"}]
    assert asked["toolCall"]["locations"] == [{"path": path}]
    await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
    await room.answer(sent, by="alice")


async def test_a_question_dies_with_its_agent(bed: Bed) -> None:
    import os
    import signal

    room = await bed.room("alice")
    sent = await room.send("!permit x")
    asked = await bed.client.until(permission())
    os.kill(bed.box.pids("alice")[-1], signal.SIGKILL)
    answer = await room.answer(sent, by="alice")
    assert answer["turn"]["stopReason"] == "failed"
    assert bed.client.of("permission/resolved")[-1]["requestId"] == asked["requestId"]
    assert room.snapshot["permissions"] == []
    late = await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
    assert late == {"accepted": False}


async def test_permissions_rejected_by_configuration(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""}, permissions={"default": "reject"})
    async with box.bridge() as client:
        room = await client.open("general")
        answer = await room.ask("!permit a !permit b ids=allow,never !permit c ids=allow", by="alice")
        assert text_of(answer).split("\n")[:3] == ["permit a: reject", "permit b: cancelled", "permit c: cancelled"]
        assert (await client.request("attention/list"))["items"][0]["kind"] == "unread"
        assert (await client.refused("permission/rules")).kind == "notSupported"
        assert (await client.refused("permission/revoke")).kind == "notSupported"


async def test_an_untrusted_folder_starts_nobody(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge(options={"workspaceTrusted": False}) as client:
        room = await client.open("general")
        sent = await room.send("@alice hi")
        assert sent["route"]["to"] == []
        assert sent["route"]["problem"]["code"] == "untrusted"
        assert (await room.preview("@bob hi"))["problem"]["code"] == "untrusted"
        assert (await client.refused("agent/start", agent="alice")).kind == "untrusted"
        await room.request("channel/prepare")
        assert [message["author"]["kind"] for message in room.messages] == ["user", "system"]
        assert client.of("agent/state") == []
        async with box.bridge() as trusted:
            here = await trusted.open("general")
            failed = await here.ask("@alice !error -1 no", by="alice")
        starts = box.starts("alice")
        assert (await client.refused("turn/retry", messageId=failed["id"])).kind == "untrusted"
    assert box.starts("alice") == starts == 1


async def test_a_question_outside_a_turn_waits_for_its_answer(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say done !late-permit outside-1 background", by="alice")
    bed.box.gates.open("outside-1")
    asked = await bed.client.until(permission(by="alice", outside=True))
    await room.ask("@bob !say meanwhile", by="bob")
    assert [one["requestId"] for one in room.snapshot["permissions"]] == [asked["requestId"]]
    await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
    answer = await bed.client.until(posted("alice", "permit background: allow", late=True))
    assert room.snapshot["permissions"] == []
    assert answer["turn"]["stopReason"] == "end_turn"


async def test_a_question_outside_a_turn_ends_with_the_membership(bed: Bed) -> None:
    room = await bed.room("alice", "bob")
    await room.ask("@alice !say done !late-permit outside-2 background", by="alice")
    bed.box.gates.open("outside-2")
    asked = await bed.client.until(permission(by="alice", outside=True))
    await room.request("channel/remove", agent="alice")
    await bed.client.until(happened("permission/resolved", lambda params: params["requestId"] == asked["requestId"]))
    await room.ask("@alice !say back", by="alice")
    assert bed.box.replies("alice")[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_a_question_without_an_answer_to_choose_is_not_waited_for(bed: Bed) -> None:
    room = await bed.room("alice")
    answer = await room.ask("!bad perm-empty", by="alice")
    assert text_of(answer) == "after"
    (asked,) = (part for part in answer["parts"] if part["type"] == "permission")
    assert asked["outcome"] == {"outcome": "cancelled"}
    (notice,) = (part for part in answer["parts"] if part["type"] == "notice")
    assert notice["code"] == "noAnswerOffered"
    assert notice["text"].startswith("@alice asked for permission without offering an answer")
    assert room.snapshot["permissions"] == []


async def test_answers_that_are_bare_texts_can_be_chosen(bed: Bed) -> None:
    room = await bed.room("alice")
    sent = await room.send("!bad perm-texts")
    asked = await bed.client.until(permission(by="alice"))
    assert [(option["optionId"], option["name"]) for option in asked["options"]] == [("yes", "yes"), ("no", "no")]
    await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="no")
    assert text_of(await room.answer(sent, by="alice")) == "no"


async def test_a_silent_agent_is_asked_about(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""}, limits={"turnSilence": "300ms"}, permissions={"default": "reject"})
    async with box.bridge() as client:
        room = await client.open("general")
        sent = await room.send("!say one !hold silent-1 !say \\stwo !hold silent-2")
        first = await client.until(permission())
        assert first["toolCall"]["title"] == "@alice has said nothing for 0.3 seconds. Wait on?"
        assert [option["optionId"] for option in first["options"]] == ["wait", "stop", "restart"]
        await room.turn("alice", "awaitingPermission")
        await client.request("permission/answer", requestId=first["requestId"], optionId="wait")
        second = await client.until(permission())
        await law.verify(client, room, lambda: _open(box, client, second, "silent-1"))
        third = await client.until(permission())
        await client.request("permission/answer", requestId=third["requestId"], optionId="stop")
        answer = await room.answer(sent, by="alice")
        assert answer["turn"]["stopReason"] == "cancelled"
        assert text_of(answer) == "one two"
        outcomes = [part["outcome"] for part in answer["parts"] if part["type"] == "permission"]
        assert [outcome.get("optionId", outcome["outcome"]) for outcome in outcomes] == ["wait", "cancelled", "stop"]
        sent = await room.send("!say three !hang")
        fourth = await client.until(permission())
        await client.request("permission/answer", requestId=fourth["requestId"], optionId="restart")
        assert (await room.answer(sent, by="alice"))["turn"]["stopReason"] == "cancelled"
        await client.until(happened("agent/state", lambda params: params["state"] == "stopped"))
        await room.ask("!say four", by="alice")
    assert box.starts("alice") == 2


async def _open(box: BridgeSandbox, client: Client, asked: JSON, gate: str) -> None:
    box.gates.open(gate)
    await client.until(happened("permission/resolved", lambda params: params["requestId"] == asked["requestId"]))


async def test_the_law_holds_in_the_middle_of_things(bed: Bed) -> None:
    room = await bed.room("alice", "bob")

    async def begin() -> None:
        await room.send(
            "@alice @bob !for alice !say one !usage 5 10 !tool-open read it !permit x !for bob !say two !hold middle-1"
        )
        await bed.client.until(permission())

    await law.verify(bed.client, room, begin)
    asked = room.snapshot["permissions"][0]

    async def answer() -> None:
        await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
        await bed.client.until(streaming("bob", "two"))

    await law.verify(bed.client, room, answer)

    async def queue() -> None:
        await room.send("@alice more")
        await room.request("channel/markRead", seq=2)

    await law.verify(bed.client, room, queue)
    await law.verify(bed.client, room, lambda: room.cancel(room.turns[-1]["id"]))
    bed.box.gates.open("middle-1")
    await law.verify(bed.client, room, room.quiet)


# ── agents by hand ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_start_stop_and_logs(bed: Bed) -> None:
    room = await bed.room("carol")
    await room.ask("!stderr-say hello from carol", by="carol")
    await bed.client.request("agent/stop", agent="carol")
    await bed.client.request("agent/start", agent="Carol")
    lines = (await bed.client.request("agent/logs", agent="carol"))["lines"]
    assert "hello from carol" in lines
    await room.ask("!stderr-say second", by="carol")
    await bed.client.until(happened("agent/log", lambda params: params == {"agent": "carol", "line": "second"}))
    held = await room.send("!say partial !hang")
    await bed.client.until(streaming("carol", "partial"))
    await bed.client.request("agent/stop", agent="carol")
    stopped = await room.answer(held, by="carol")
    assert stopped["turn"]["stopReason"] == "cancelled", "stopped by the user is no crash"
    for method in ("agent/start", "agent/stop", "agent/restart", "agent/logs"):
        refused = await bed.client.refused(method, agent="nobody")
        assert refused.kind == "agentNotFound"
        assert "@alice" in refused.message
