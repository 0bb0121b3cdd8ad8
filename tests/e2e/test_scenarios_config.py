"""What happens to a configuration while agents run: saved broken or half-way, changed, edited. No file is harmed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.conditions import happened, streaming
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.client import Client

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
Place = tuple[BridgeSandbox, "Client"]


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    box = BridgeSandbox(tmp_path_factory.mktemp("config"))
    async with box.bridge() as client:
        room = await client.open("general")
        await room.ask("@alice hi", by="alice")
        yield box, client


async def saved(place: Place, text: str) -> JSON:
    """Save ``text``, and wait for the news of it; the file stays as it was saved."""
    box, client = place
    mark = len(client.events)
    box.write_config(text)
    news = await client.until(happened("config/changed", since=mark))
    assert box.config_path.read_text(encoding="utf-8") == text
    return news


def severities(news: JSON) -> list[str]:
    return [problem.get("severity", "error") for problem in news["problems"]]


def changed(box: BridgeSandbox, **keys: Any) -> str:
    return json.dumps({**box.config, **keys}, indent=2)


BROKEN = {
    "tab": "agents:\n\t- name: alice\n",
    "half": '{"agents": [{"name": "alice", "comm',
    "empty": "\n",
    "comment": "# nothing\n",
    "list": "- name: alice\n",
    "word": "alice\n",
    "not YAML": "agents: [}\n",
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_file_that_says_nothing_leaves_all_as_it_was(place: Place, kind: str) -> None:
    box, client = place
    starts = box.starts("alice")
    news = await saved(place, BROKEN[kind])
    assert severities(news) == ["error"]
    assert news["problems"][0]["line"] >= 1
    assert news["problems"][0]["file"] == str(box.config_path)
    assert [agent["name"] for agent in news["agents"]] == ["alice", "bob"]
    assert [channel["name"] for channel in news["channels"]] == ["general"]
    room = await client.open("general")
    assert text_of(await room.ask("@alice still here?", by="alice")) == "alice heard: still here?"
    assert box.starts("alice") == starts, "the running agent is not touched"
    refused = await client.refused("config/edit", path=["limits", "maxRunningAgents"], value=3)
    assert refused.kind == "configInvalid"
    assert box.config_path.read_text(encoding="utf-8") == BROKEN[kind]
    assert (await client.state())["config"]["problems"] == news["problems"]
    await saved(place, changed(box))


async def test_one_bad_entry_removes_nobody(place: Place) -> None:
    box, client = place
    alice, bob = box.config["agents"]
    table: list[tuple[JSON, list[str], str]] = [
        ({"agents": [{**alice, "command": 5}, bob]}, ["alice", "bob"], "error"),
        ({"agents": [{"name": "alice"}, bob]}, ["alice", "bob"], "error"),
        ({"agents": [alice, bob, {"name": "con", "command": "x"}]}, ["alice", "bob"], "error"),
        ({"agents": [alice, {**alice, "command": "other"}, bob]}, ["alice", "bob"], "error"),
        ({"agents": [alice, {**bob, "colour": "red"}]}, ["alice", "bob"], "warning"),
        ({"agnets": []}, ["alice", "bob"], "warning"),
        ({"limits": {"maxRunningAgents": "many"}}, ["alice", "bob"], "error"),
    ]
    starts = box.starts("alice")
    for keys, names, severity in table:
        news = await saved(place, changed(box, **keys))
        assert severities(news) == [severity], keys
        assert [agent["name"] for agent in news["agents"]] == names, keys
        assert news["problems"][0]["line"] > 1
    await saved(place, changed(box))
    room = await client.open("general")
    await room.ask("@alice still here?", by="alice")
    assert box.starts("alice") == starts


async def test_agents_come_change_and_go(place: Place) -> None:
    box, client = place
    alice, bob = box.config["agents"]
    starts = box.starts("alice")
    news = await saved(place, changed(box, agents=[alice, bob, box.agent("carol", title="Carol C.")]))
    assert [(agent["name"], agent["title"]) for agent in news["agents"]][2] == ("carol", "Carol C.")
    room = await client.open("general")
    await room.ask("@carol hi", by="carol")
    await room.ask("@alice hi", by="alice")
    assert box.starts("alice") == starts, "what did not change runs on"
    held = await room.send("@alice !say busy !hold reload-1 !say \\sdone")
    await client.until(streaming("alice", "busy"))
    other = box.agent("alice", "--title Other")
    await saved(place, changed(box, agents=[other, bob, box.agent("carol", title="Carol C.")]))
    box.gates.open("reload-1")
    assert text_of(await room.answer(held, by="alice")) == "busy done", "a turn ends with the process it began with"
    await room.ask("@alice hi", by="alice")
    assert box.starts("alice") == starts + 1
    await saved(place, changed(box, agents=[other, bob]))
    sent = await room.send("@carol are you there?")
    assert sent["route"]["to"][0]["agent"] != "carol" or "problem" in sent["route"]
    await room.quiet()
    assert (await client.refused("channel/direct", agent="carol")).kind == "agentNotFound"
    assert "carol" in [member["name"] for member in (await client.channel("general"))["members"]]
    await saved(place, changed(box))


async def test_an_agent_taken_out_while_it_is_waited_for(place: Place) -> None:
    box, client = place
    alice, bob = box.config["agents"]
    here = await client.open("general")
    there = await client.open_id((await client.request("channel/create", name="there", members=["bob"]))["id"])
    held = await here.send("@bob !say busy !hold taken-1")
    await client.until(streaming("bob", "busy"))
    sent = await there.send("hello")
    await there.turn("bob", "queued", waits="agentBusy")
    await saved(place, changed(box, agents=[alice]))
    gone = await there.answer(sent, by="bob")
    assert gone["turn"]["error"]["code"] == "agentNotFound"
    assert (await there.preview("x"))["problem"]["code"] == "nobody"
    box.gates.open("taken-1")
    assert text_of(await here.answer(held, by="bob")) == "busy"
    await saved(place, changed(box, agents=[alice, bob]))
    await there.ask("back?", by="bob")


async def test_who_looks_for_an_agent_is_told_that_the_configuration_has_errors(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    box.write_config("agents:\n  - name: alice\n    comand: x\n")
    async with box.stopped():
        said = await box.sidekicks("say", "@alice", "hi")
        assert said.returncode == 1
        assert f"The configuration cannot be used:\n{box.config_path}:2:" in said.stderr
        assert f"The configuration has errors: {box.config_path}:2:" in (await box.sidekicks("status")).stdout


async def test_an_agent_whose_name_is_written_in_another_case_is_the_same(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--caps load", "bob": ""})
    async with box.bridge() as client:
        room, direct = await client.open("general"), await client.open("@alice")
        await room.ask("@alice !say one", by="alice")
        await direct.ask("!say two", by="alice")
        box.entry("alice")["name"] = "Alice"
        since = len(client.events)
        box.write_config()
        await client.until(happened("config/changed", since=since))
        assert (await client.open("@Alice")).id == direct.id
        room = await client.open("general")
        assert room.members == ["Alice", "bob"]
        (target,) = (await room.preview("and now?"))["to"]
        assert (target["agent"], target["invited"]) == ("Alice", False)
        assert text_of(await direct.ask("!say three", by="Alice")) == "three"
    async with box.bridge() as client:
        room = await client.open("general")
        assert room.members == ["Alice", "bob"]
        await room.ask("and now?", by="Alice")
        assert box.prompts("alice")[-1] == "and now?"


async def test_an_agent_taken_out_before_its_commands_were_asked_for(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "--slow-start up --commands plan", "bob": "", "carol": "--commands go"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.request("channel/prepare")
        await client.until(happened("agent/state", lambda params: params["state"] == "starting"))
        box.config["agents"] = [box.entry("alice"), box.entry("carol")]
        since = len(client.events)
        box.write_config()
        await client.until(happened("config/changed", since=since))
        box.gates.open("up")
        await client.until(happened("commands/changed", lambda params: params["agent"] == "carol"))


async def test_more_agents_may_run_at_once(place: Place) -> None:
    box, client = place
    await saved(place, changed(box, limits={"maxRunningAgents": 1}))
    one = await client.open_id((await client.request("channel/create", name="one", members=["alice"]))["id"])
    two = await client.open_id((await client.request("channel/create", name="two", members=["bob"]))["id"])
    first = await one.send("!say busy !hold more-1")
    await client.until(streaming("alice", "busy"))
    second = await two.send("hello")
    await two.turn("bob", "queued", waits="noSlot")
    await saved(place, changed(box, limits={"maxRunningAgents": 2}))
    await two.answer(second, by="bob")
    box.gates.open("more-1")
    await one.answer(first, by="alice")


async def test_editing_keeps_comments_and_order(place: Place) -> None:
    box, client = place
    yaml = (
        f"# top\nlimits:\n  idleStop: 5m  # soon\n  maxRunningAgents: 2\nagents: {json.dumps(box.config['agents'])}\n"
    )
    await saved(place, yaml)
    mark = len(client.events)
    result = await client.request("config/edit", path=["limits", "idleStop"], value="7m")
    assert result == {"problems": []}
    now = box.config_path.read_text(encoding="utf-8")
    assert now.splitlines()[:4] == ["# top", "limits:", "  idleStop: 7m  # soon", "  maxRunningAgents: 2"]
    await client.until(happened("config/changed", since=mark))
    await client.request("config/edit", path=["limits", "idleStop"])
    assert "idleStop" not in box.config_path.read_text(encoding="utf-8")
    assert (await client.request("config/get"))["text"] == box.config_path.read_text(encoding="utf-8")
    problems = (await client.request("config/validate", text="agents: 5\n"))["problems"]
    assert [problem["line"] for problem in problems] == [1]
    assert (await client.request("config/validate"))["problems"] == []
    assert (await client.request("config/recent"))["paths"] == [str(box.config_path)]
    await saved(place, changed(box))


async def test_a_file_that_is_gone_leaves_all_as_it_was(place: Place) -> None:
    box, client = place
    mark = len(client.events)
    box.config_path.unlink()
    news = await client.until(happened("config/changed", since=mark))
    assert len(news["problems"]) == 1
    assert [agent["name"] for agent in news["agents"]] == ["alice", "bob"]
    room = await client.open("general")
    await room.ask("@alice still here?", by="alice")
    assert not box.config_path.exists()
    await saved(place, changed(box))
