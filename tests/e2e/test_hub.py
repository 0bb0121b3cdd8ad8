"""The hub: a bridge without an editor, which outlives windows and terminals and ends when nobody needs it."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from sidekicks_bridge import lock, paths
from tests.support.conditions import permission, streaming
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import attached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from anyio.abc import Process

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
PATIENCE = 20


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[BridgeSandbox]:
    """A configuration whose bridge, if one is left running, ends with the test."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with box.stopped():
        yield box


async def status(box: BridgeSandbox) -> JSON:
    told = await box.sidekicks("status", "--json")
    assert told.returncode == 0, told.stderr
    found: JSON = json.loads(told.stdout)
    return found


async def hub(box: BridgeSandbox, *words: str) -> Process:
    """A hub in the foreground, its standard error to be read."""
    command = box.command("hub", *words)
    return await anyio.open_process(command, env=box.environment(), stderr=subprocess.PIPE)


async def ended(process: Process) -> tuple[int, str]:
    """Its exit code and what it said."""
    said = b""
    assert process.stderr is not None
    with anyio.fail_after(PATIENCE):
        async for chunk in process.stderr:
            said += chunk
        return await process.wait(), said.decode()


async def socket_of(box: BridgeSandbox, process: Process) -> str:
    """Where the owner listens, once it does; the test fails if the process ends before."""
    with anyio.fail_after(PATIENCE):
        while True:
            found = lock_of(box)
            if found.get("pid") == process.pid and found.get("socket"):
                return str(found["socket"])
            assert process.returncode is None, await ended(process)
            await anyio.lowlevel.checkpoint()


def lock_of(box: BridgeSandbox) -> JSON:
    """What the lock file says."""
    try:
        found: JSON = json.loads(paths.lock_path(box.data).read_text(encoding="utf-8").partition("\n")[0])
    except (OSError, ValueError):
        return {}
    return found


async def test_a_window_that_reloads_does_not_end_a_running_answer(box: BridgeSandbox) -> None:
    box.config["ui"] = {"keepRunning": True}
    box.write_config()
    async with box.bridge() as window:
        room = await window.open("general")
        sent = await room.send("!say half !hold gate !say , whole")
        await window.until(streaming("alice", "half"))
        serve = window.process.pid
    found = await status(box)
    assert found["kind"] == "hub"
    assert found["pid"] != serve
    assert [client["name"] for client in found["clients"] if not client["you"]] == []
    assert [turn["agent"] for turn in found["state"]["turns"]] == ["alice"]
    async with box.bridge() as window:
        room = await window.open("general")
        assert text_of(room.messages[-1]) == "half"
        box.gates.open("gate")
        answer = await room.answer(sent, by="alice")
    assert text_of(answer) == "half, whole"
    assert answer["turn"]["stopReason"] == "end_turn"
    assert (await status(box))["pid"] == found["pid"]
    assert box.starts("alice") == 1


async def test_a_hub_started_on_demand_is_on_its_own(box: BridgeSandbox) -> None:
    said = await box.sidekicks("say", "#general", "!say hello")  # its pipes end with it: the hub does not hold them
    assert (said.returncode, said.stdout, said.stderr) == (0, "hello\n", "")
    found = await status(box)
    assert found["kind"] == "hub"
    assert os.getsid(found["pid"]) not in (0, os.getsid(0))
    parent = await anyio.run_process(["ps", "-o", "ppid=", "-p", str(found["pid"])])
    assert int(parent.stdout) != os.getpid()
    log = box.data / "hub.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text(encoding="utf-8") == ""


async def test_of_hubs_started_at_once_one_stays_and_the_others_say_so(box: BridgeSandbox) -> None:
    hubs = [await hub(box) for _ in range(2)]
    detached = await box.sidekicks("hub", "--detach")
    assert (detached.returncode, detached.stderr) == (0, "")
    owner = lock_of(box)["pid"]
    assert (await box.sidekicks("stop")).stdout == f"Stopped the bridge (process {owner}).\n"
    for process in hubs:
        said = "" if process.pid == owner else "sidekicks hub: a bridge already runs for this configuration\n"
        assert await ended(process) == (0, said)


async def test_one_that_is_stopped_while_it_starts_has_ended_in_order(box: BridgeSandbox) -> None:
    """It owns before it can be attached to; whoever waits for it starts the next one."""
    starting = await hub(box, "--detach")
    with anyio.fail_after(PATIENCE):
        while not (owner := lock_of(box).get("pid")):
            assert starting.returncode is None, await ended(starting)
            await anyio.lowlevel.checkpoint()
    os.kill(owner, signal.SIGTERM)
    assert await ended(starting) == (0, "")


async def test_an_open_question_keeps_the_hub_for_whoever_comes_next(box: BridgeSandbox) -> None:
    process = await hub(box, "--idle", "0.2")
    await socket_of(box, process)
    async with box.bridge() as window:
        room = await window.open("general")
        sent = await room.send("!permit do it")
        asked = await window.until(permission(by="alice"))
    with anyio.move_on_after(1.5):
        await process.wait()
    assert process.returncode is None
    async with box.bridge() as window:
        room = await window.open("general")
        assert [one["requestId"] for one in room.snapshot["permissions"]] == [asked["requestId"]]
        await window.request("permission/answer", requestId=asked["requestId"], optionId="allow")
        assert text_of(await room.answer(sent, by="alice")) == "permit do it: allow\n"
    assert await ended(process) == (0, "")


async def test_a_hub_that_cannot_be_says_why(box: BridgeSandbox) -> None:
    box.data.mkdir(parents=True)
    (box.data / "bridge.lock").mkdir()
    for words in (["hub"], ["hub", "--detach"]):
        refused = await box.sidekicks(*words)
        assert refused.returncode == 1
        assert "sidekicks hub: " in refused.stderr or words[-1] == "--detach"
    said = await box.sidekicks("say", "#general", "hello")
    assert said.returncode == 3
    assert f"sidekicks say: The bridge could not be started: {box.data / 'hub.log'} says why." in said.stderr
    assert str(box.data) in (box.data / "hub.log").read_text(encoding="utf-8")
    (box.data / "bridge.lock").rmdir()


async def test_the_command_line_goes_on_to_the_owner_after_one_that_is_just_ending(box: BridgeSandbox) -> None:
    box.data.mkdir(parents=True)
    place = box.folder / "ending.sock"
    held = lock.take(paths.lock_path(box.data), lock.Holder(socket=str(place)))
    said: list[subprocess.CompletedProcess[str]] = []

    async def say() -> None:
        said.append(await box.sidekicks("say", "#general", "!say hello"))

    async with await anyio.create_unix_listener(place) as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(say)
        async with await listener.accept():
            pass  # it looked whether anybody listens
        async with await listener.accept() as client:
            assert b"initialize" in await client.receive()
            place.unlink()
            held.release()
    assert (said[0].returncode, said[0].stdout, said[0].stderr) == (0, "hello\n", "")


async def test_wrong_usage(box: BridgeSandbox) -> None:
    assert (await box.sidekicks("hub", "--idle", "soon")).returncode == 64
    missing = await box.sidekicks("hub", "--config", str(box.folder / "none.yaml"))
    assert missing.returncode == 1
    assert "none.yaml" in missing.stderr


async def test_status_and_stop_without_a_bridge(box: BridgeSandbox) -> None:
    nobody = f"No bridge is running for {box.config_path}.\n"
    for verb in ("status", "stop"):
        told = await box.sidekicks(verb)
        assert (told.returncode, told.stdout, told.stderr) == (0, nobody, "")
        assert (await box.sidekicks(verb, "--json")).stdout == "null\n"
        assert (await box.sidekicks(verb, "--jsn")).returncode == 64
        missing = await box.sidekicks(verb, "--config", str(box.folder / "none.yaml"))
        assert (missing.returncode, missing.stdout) == (1, "")
        assert "none.yaml" in missing.stderr


async def test_stop_tells_the_clients_and_keeps_what_was_being_written(box: BridgeSandbox) -> None:
    async with box.bridge(check=False) as window:
        room = await window.open("general")
        await room.send("!say half !hang")
        await window.until(streaming("alice", "half"))
        async with attached(lock_of(box)["socket"]) as other:
            await other.shake_hands()
            await other.alive()
            stopped = await box.sidekicks("stop", "--json")
            assert json.loads(stopped.stdout) == {"stopped": window.process.pid}
            await other.until_ended()
            assert other.events("sidekicks/bridge/stopping") == [{}]
        await window.process.wait()
        assert [event["method"] for event in window.events][-1] == "sidekicks/bridge/stopping"
    async with box.bridge() as window:
        answer = (await window.open("general")).messages[-1]
        assert text_of(answer) == "half"
        assert answer["turn"]["stopReason"] == "interrupted"


async def test_stop_names_a_bridge_that_does_not_end(box: BridgeSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    async with box.bridge() as window:
        await window.state()
        window.process.send_signal(signal.SIGSTOP)
        try:
            refused = await box.sidekicks("stop")
        finally:
            window.process.send_signal(signal.SIGCONT)
        assert refused.returncode == 1
        assert f"kill -9 {window.process.pid}" in refused.stderr
        window.killed = True
        await window.process.wait()


async def test_status_says_who_is_there_and_what_goes_on(box: BridgeSandbox) -> None:
    box.config["channels"].append({"name": "quiet", "members": []})
    box.write_config()
    async with box.bridge() as window:
        room = await window.open("general")
        await room.ask("hello", by="alice")
        await room.send("!permit do it")
        asked = await window.until(permission(by="alice"))
        await room.send("later")
        told = await box.sidekicks("status")
        await window.request("permission/answer", requestId=asked["requestId"])
        await room.quiet()
    assert told.returncode == 0
    lines = dict(re.split(r" {2,}", line, maxsplit=1) for line in told.stdout.splitlines())
    assert lines["owner"].startswith(f"bridge of an editor, process {window.process.pid}, version ")
    assert lines["configuration"] == str(box.config_path)
    assert lines["history"] == "kept"
    assert lines["attached"] == f"an LSP client ({box.workspace})"
    assert lines["agents"] == "@alice busy"
    assert lines["#general"] == (
        "@alice waits for an answer; @alice waits (after another turn); @alice asks: do it; 1 unread"
    )
    assert lines["#quiet"] == "nobody"
