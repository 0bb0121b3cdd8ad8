"""One owner, however many start at once, whoever leaves, whatever an earlier one left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from sidekicks_bridge import endpoint, lock, paths
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import SIDEKICKS, Wire, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    JSON = dict[str, Any]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

STARTS = 12
HELLO: JSON = {"processId": None, "capabilities": {}, "initializationOptions": {"sidekicks": SIDEKICKS}}


def lock_of(box: BridgeSandbox) -> Path:
    return paths.lock_path(box.data)


async def status(client: Wire) -> JSON:
    found: JSON = await client.result("sidekicks/bridge/status", {})
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [3, pytest.param(20, marks=pytest.mark.long)])
async def test_of_twelve_that_start_at_once_one_owns(tmp_path: Path, rounds: int) -> None:
    """Each round but the first finds the lock and the socket of an owner that was killed."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    for _ in range(rounds):
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(serving(box)) for _ in range(STARTS)]
            ids = [await client.ask("initialize", HELLO) for client in clients]  # all are up and wait for this
            for client, request_id in zip(clients, ids, strict=True):
                assert "result" in await client.answer(request_id)
                await client.alive()
            told = [await status(client) for client in clients]
            (owner,) = {one["pid"] for one in told}
            assert [len(one["clients"]) for one in told] == [STARTS] * STARTS
            assert {one["state"]["storage"]["persistent"] for one in told} == {True}
            (first,) = [client for client in clients if client.process.pid == owner]
            first.process.kill()
            for client in clients:
                await client.until_ended()
                assert await client.end_code() == (-signal.SIGKILL if client is first else 1)


async def test_an_owner_whose_own_client_leaves_goes_on_for_the_others(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with serving(box) as first, serving(box) as second, serving(box) as third:
        for client in (first, second, third):
            await client.shake_hands()
        channel = (await first.result("sidekicks/state/get", {}))["channels"][0]["id"]
        for client in (second, third):
            await client.result("sidekicks/channel/open", {"channelId": channel})
        await first.result("shutdown", None)
        await first.notify("exit", None)
        await first.until_ended()
        assert first.process.returncode is None
        await second.result("sidekicks/message/send", {"channelId": channel, "text": "@alice hello"})
        for client in (second, third):
            while not finished(client):
                await client.more_than(len(client.received))
            await client.result("shutdown", None)
            await client.notify("exit", None)
            assert await client.end_code() == 0
        assert await first.end_code() == 0
    lock.take(lock_of(box)).release()


def finished(client: Wire) -> bool:
    changes = client.events("sidekicks/turn/changed")
    return bool(changes) and changes[-1]["turns"] == []


async def test_after_a_kill_the_next_start_owns_and_finds_the_history(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with serving(box) as first, serving(box) as second:
        await first.shake_hands()
        await second.shake_hands()
        channel = (await first.result("sidekicks/state/get", {}))["channels"][0]["id"]
        await second.result("sidekicks/message/send", {"channelId": channel, "text": "@alice !words half !hold never"})
        first.process.kill()
        await second.until_ended()
        assert await second.end_code() == 1
    async with serving(box) as third:
        await third.shake_hands()
        assert (await status(third))["pid"] == third.process.pid
        page = await third.result("sidekicks/message/list", {"channelId": channel})
        assert [message["author"]["kind"] for message in page["messages"]] == ["user", "agent"]
        assert page["messages"][1]["turn"]["stopReason"] == "interrupted"


async def test_a_start_while_the_owner_ends_owns_in_its_turn(tmp_path: Path) -> None:
    """A window that reloads: its new bridge starts while the old one still stops its agents."""
    box = BridgeSandbox(tmp_path, {"alice": "--ignore-eof --ignore-term"})
    async with AsyncExitStack() as stack:
        for number in range(2):
            client = await stack.enter_async_context(serving(box))
            await client.shake_hands()
            state = await client.result("sidekicks/state/get", {})
            assert state["storage"] == {"persistent": True}
            assert (await status(client))["pid"] == client.process.pid, f"start {number}"
            channel = state["channels"][0]["id"]
            await client.result("sidekicks/agent/start", {"agent": "alice"})
            await client.result("sidekicks/message/list", {"channelId": channel})
            await client.result("shutdown", None)
            await client.notify("exit", None)


async def test_an_owner_that_ends_before_it_answers_is_not_the_last_word(tmp_path: Path) -> None:
    """A relay whose owner closes without a word claims again, and nothing the client said is lost."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    box.data.mkdir(parents=True)
    place = tmp_path / "ending.sock"
    held = lock.take(lock_of(box), lock.Holder(socket=str(place)))
    listener = await anyio.create_unix_listener(place)
    async with listener, serving(box) as client:
        request_id = await client.ask("initialize", HELLO)
        later = await client.ask("sidekicks/state/get", {})
        async with await listener.accept():
            place.unlink()
            held.release()
        assert "result" in await client.answer(request_id)
        assert "result" in await client.answer(later)
        assert (await status(client))["pid"] == client.process.pid


OLD = [b"\0" * 100, b"[]", b'{"pid":1,"socket":"/nowhere","protocolVersion":7}\n']


@pytest.mark.parametrize("content", OLD, ids=["zeros", "list", "version"])
async def test_what_an_earlier_owner_left_blocks_nobody(tmp_path: Path, content: bytes) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    box.data.mkdir(parents=True)
    lock_of(box).write_bytes(content)
    (box.data / "bridge.sock").write_text("no socket", encoding="utf-8")
    async with serving(box) as client:
        await client.shake_hands()
        told = await status(client)
        assert told["pid"] == client.process.pid
        assert told["state"]["storage"] == {"persistent": True}


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder for sockets, its path as short as such paths must be."""
    with tempfile.TemporaryDirectory(prefix="sk-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


async def test_where_a_folder_is_in_the_sockets_way_the_next_place_is_taken(tmp_path: Path, runtime: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    taken = endpoint.socket_path(box.data)
    assert taken is not None
    assert taken.is_relative_to(runtime)
    taken.mkdir()
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    async with serving(box, env=env) as client, serving(box, env=env) as other:
        await client.shake_hands()
        await other.shake_hands()
        assert (await status(other))["pid"] == client.process.pid


async def test_one_configuration_under_two_user_folders_has_two_sockets(
    tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a history and an owner of its own: who wrote to the one must never reach the other."""
    places = set()
    for folder in ("one", "two"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / folder))
        places.add(endpoint.socket_path(paths.data_dir("/project/sidekicks.yaml")))
    assert len(places) == 2
    assert {place.parent for place in places if place is not None} == {runtime / "sidekicks"}


async def test_a_socket_that_was_taken_away_comes_back(tmp_path: Path) -> None:
    """A log-out takes XDG_RUNTIME_DIR away under a bridge that goes on; so does what tidies temporary folders."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with serving(box) as client, serving(box) as other:
        await client.shake_hands()
        await client.alive()
        Path(socket_of(box)).unlink()
        await other.shake_hands()
        told = await status(other)
        assert (told["pid"], len(told["clients"])) == (client.process.pid, 2)


async def test_another_protocol_version_gets_the_sentence(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    box.data.mkdir(parents=True)
    held = lock.take(lock_of(box), lock.Holder(pid=4242, socket="/x", protocol_version=7, bridge_version="9.9"))
    start = time.monotonic()
    async with serving(box) as client:
        error = await client.error("initialize", HELLO)
        assert time.monotonic() - start < 10
        assert error["data"]["code"] == "protocolMismatch"
        for part in ("9.9", "4242", "version 7", "speaks 1", "sidekicks stop"):
            assert part in error["message"]
        assert await client.end_code() == 1
    held.release()


@pytest.mark.parametrize("link", ["folder", "twice"])
async def test_two_names_of_one_configuration_are_one_bridge(tmp_path: Path, link: str) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    first, name = tmp_path / "first", tmp_path / "second"
    if link == "folder":
        first.symlink_to(tmp_path)
        name = first / box.config_path.name
    else:
        first.symlink_to(box.config_path)
        name.symlink_to(first)
    async with serving(box) as client:
        await client.shake_hands()
        box.config_path = name
        async with serving(box) as other:
            await other.shake_hands()
            assert (await status(other))["pid"] == client.process.pid


async def test_a_long_runtime_folder_is_not_used(tmp_path: Path) -> None:
    """A socket's path has room for 100 bytes: the next place is taken."""
    long = tmp_path / ("x" * 90)
    long.mkdir()
    box = BridgeSandbox(tmp_path / "y" / ("z" * 90), {"alice": ""})
    async with serving(box, env={"XDG_RUNTIME_DIR": str(long), "TMPDIR": "/tmp"}) as client, serving(box) as other:
        await client.shake_hands()
        assert len(socket_of(box)) < 100
        await other.shake_hands()
        assert (await status(other))["pid"] == client.process.pid


async def test_without_a_place_for_a_socket_the_second_says_so_at_once(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path / ("z" * 90), {"alice": ""})
    nowhere = {"XDG_RUNTIME_DIR": str(box.folder), "TMPDIR": str(box.folder)}
    async with serving(box, env=nowhere) as client, serving(box, env=nowhere) as other:
        await client.shake_hands()
        await client.alive()
        start = time.monotonic()
        await other.shake_hands()
        state = await other.result("sidekicks/state/get", {})
        assert time.monotonic() - start < 10
        assert state["storage"]["persistent"] is False
        assert f"process {client.process.pid}" in state["storage"]["reason"]
        assert "XDG_RUNTIME_DIR" in state["storage"]["reason"]
        assert (await client.result("sidekicks/state/get", {}))["storage"] == {"persistent": True}


@pytest.mark.parametrize("named", [True, False])
async def test_a_relay_imports_the_standard_library_only(tmp_path: Path, *, named: bool) -> None:
    """Whether or not the configuration is the user's own: what a further editor starts must be up in milliseconds."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    if not named:
        box.config_path = box.config_home / "sidekicks" / "config.yaml"
    env = {"SIDEKICKS_CONFIG": str(box.config_path)} if named else {}
    async with serving(box, env=env, named=False) as client:
        await client.shake_hands()
        errors = tmp_path / "serve.err"
        errors.unlink()
        timed = {**env, "PYTHONPROFILEIMPORTTIME": "1"}
        async with serving(box, env=timed, named=False) as other:
            await other.shake_hands()
            assert (await status(other))["pid"] == client.process.pid
            await other.notify("exit", None)
            assert await other.end_code() == 0
    lines = errors.read_text(encoding="utf-8").splitlines()
    imported = {line.rsplit("|", 1)[1].strip() for line in lines if line.startswith("import time:")}
    assert "sidekicks_bridge.relay" in imported
    ours = {name for name in imported if name.startswith("sidekicks_bridge")}
    assert imported - ours - {"imported package"} - started_with() <= sys.stdlib_module_names | submodules(imported)
    rooms = {name.split(".")[1] for name in ours if "." in name}
    assert not rooms & {"bridge", "agents", "channels", "store"}


def started_with() -> set[str]:
    """What Python itself imports at its start here: an environment's `.pth` files may bring in anything."""
    lines = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", ""], capture_output=True, text=True, check=True
    ).stderr.splitlines()
    return {line.rsplit("|", 1)[1].strip() for line in lines}


def submodules(names: set[str]) -> set[str]:
    """Those that lie in a package of the standard library."""
    return {name for name in names if name.split(".")[0] in sys.stdlib_module_names}
