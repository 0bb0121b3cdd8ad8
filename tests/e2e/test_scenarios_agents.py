"""Agents of all kinds: noisy, missing, oddly placed, refusing, hanging. Each fails in words, and nobody else does."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests import fake_agent
from tests.support.conditions import streaming
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.client import Client

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
KINDS = {
    "fine": "",
    "banner": "--banner",
    "osc": "--osc-prefix",
    "both": "--banner --osc-prefix --string-ids --message-ids",
    "early": "--commands plan --commands-at before",
    "noise": "--noise",
    "hangs": "--hang initialize",
    "dies": "--stderr cannot-read-my-settings --exit 4",
    "dies-later": "--exit-in new=5",
    "old": "--protocol 99",
    "locked": "--auth agent --auth-required new",
    "refuses": "--error new=-32603:no-more-sessions",
    "no-session": "--null new",
    "hangs-new": "--hang new",
    "stubborn": "",
}
Place = tuple[BridgeSandbox, "Client"]


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("agents")
    fields: JSON = {
        "spaced": spaced(folder),
        "shell": shell(folder),
        "missing": {"command": "C:\\Program Files\\x\\agent.cmd"},
    }
    fields |= {"nowhere": {"workspace": "no/such/folder"}, "not-a-program": {"command": str(folder / "not-a-program")}}
    (folder / "not-a-program").write_text("just text", encoding="utf-8")
    box = BridgeSandbox(
        folder,
        KINDS | dict.fromkeys(fields, ""),
        {"general": ["fine"]},
        fields=fields,
        limits={"maxRunningAgents": 30, "startTimeout": "3s", "cancelTimeout": "1s"},
    )
    async with box.bridge() as client:
        await client.open("general")
        yield box, client


def spaced(folder: Path) -> JSON:
    """A program in a folder with spaces, arguments with everything a shell would touch."""
    program = folder / "my agents" / "an agent.sh"
    program.parent.mkdir()
    start = shlex.join(fake_agent.command("--name", "spaced"))
    program.write_text(
        f'#!/bin/sh\nfor one in "$@"; do printf "<%s>\\n" "$one" >&2; done\nexec {start}\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return {"command": str(program), "args": ["a b", "", "$HOME", "*", '"quoted"', "it's", "a\\b", "ü"]}


def shell(folder: Path) -> JSON:
    """A shell with a script of one argument: it would come apart if anybody split it."""
    return {"command": "/bin/sh", "args": ["-c", 'exec "$0" "$@"', *fake_agent.command("--name", "shell")]}


async def ask(place: Place, agent: str, text: str = "hi") -> JSON:
    _, client = place
    room = next(iter(client.rooms.values()))
    return await room.ask(f"@{agent} {text}", by=agent)


@pytest.mark.parametrize("agent", ["fine", "banner", "osc", "both", "early", "spaced", "shell"])
async def test_agents_that_work(place: Place, agent: str) -> None:
    answer = await ask(place, agent)
    assert text_of(answer) == f"{agent} heard: hi"
    assert answer["turn"]["stopReason"] == "end_turn"


async def test_arguments_are_passed_as_they_are(place: Place) -> None:
    _, client = place
    await ask(place, "spaced")
    lines = (await client.request("agent/logs", agent="spaced"))["lines"]
    assert lines[:8] == ["<a b>", "<>", "<$HOME>", "<*>", '<"quoted">', "<it's>", "<a\\b>", "<ü>"]


@pytest.mark.parametrize(
    ("agent", "code", "words"),
    [
        ("missing", "agentSpawnFailed", ["C:\\Program Files\\x\\agent.cmd", "not found"]),
        ("not-a-program", "agentSpawnFailed", ["not-a-program"]),
        ("nowhere", "agentSpawnFailed", ["no/such/folder"]),
        ("dies", "agentExited", ["4", "cannot-read-my-settings"]),
        ("dies-later", "agentExited", ["5", "told to end in new"]),
        ("old", "agentProtocol", ["99"]),
        ("locked", "agentAuthRequired", ["sign in"]),
        ("refuses", "agentProtocol", ["no-more-sessions"]),
        ("no-session", "agentProtocol", ["session"]),
    ],
)
async def test_agents_that_do_not(place: Place, agent: str, code: str, words: list[str]) -> None:
    check_failed(place, agent, await ask(place, agent), code, words)
    assert text_of(await ask(place, "fine", "still well?")) == "fine heard: still well?"


async def test_agents_that_take_too_long(place: Place) -> None:
    """Each in a conversation of its own, so that they take it together."""
    _, client = place

    async def fails(agent: str, words: str) -> None:
        room = await client.open(f"@{agent}")
        check_failed(place, agent, await room.ask("hi", by=agent), "agentProtocol", [words])
        await room.close()

    async with anyio.create_task_group() as tasks:
        for agent, words in (("noise", "still loading the model"), ("hangs", "3 s"), ("hangs-new", "3 s")):
            tasks.start_soon(fails, agent, words)
    assert text_of(await ask(place, "fine", "still well?")) == "fine heard: still well?"


def check_failed(place: Place, agent: str, answer: JSON, code: str, words: list[str]) -> None:
    """The answer says what is wrong with the agent, and so does its state."""
    box, client = place
    assert answer["turn"]["stopReason"] == "failed"
    error = answer["turn"]["error"]
    assert error["code"] == code, error
    for word in words:
        assert word.lower() in error["message"].lower()
    assert agent in error["message"]
    assert box.prompts(agent) == []
    states = [params for params in client.of("agent/state") if params["agent"] == agent]
    if agent not in ("refuses", "no-session", "locked"):
        assert states[-1]["state"] == "error"
        assert states[-1]["error"]


async def test_an_agent_that_ignores_a_cancel_is_ended(place: Place) -> None:
    box, client = place
    room = next(iter(client.rooms.values()))
    sent = await room.send("@stubborn !say never !ignore-cancel !hang")
    await client.until(streaming("stubborn", "never"))
    await room.cancel()
    answer = await room.answer(sent, by="stubborn")
    assert answer["turn"]["stopReason"] == "cancelled"
    assert text_of(answer) == "never"
    assert text_of(await ask(place, "stubborn")) == "stubborn heard: hi"
    assert box.starts("stubborn") == 2


async def test_noise_in_a_turn_is_skipped(place: Place) -> None:
    answer = await ask(place, "fine", "!say before !garbage !say \\safter")
    assert text_of(answer) == "before after"


async def test_a_client_folder_with_an_odd_name(tmp_path: Path) -> None:
    folder = tmp_path / "c: ü#? 100%"
    folder.mkdir()
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with box.bridge(root=folder) as client:
        room = await client.open("general")
        assert room.channel["root"] == str(folder)
        answer = await room.ask(f"!run {sys.executable} -c 'import os; print(os.getcwd())'", by="alice")
        assert text_of(answer) == f"run exit 0: {folder}\n\n"
    assert box.received("alice", "session/new")[0]["cwd"] == str(folder)
