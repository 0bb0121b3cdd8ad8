"""A bridge on the stdio of a process: exit codes, what is said before the handshake, and an only client."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.server.framing import frame
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import attached, serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null}}'
EXIT = b'{"jsonrpc":"2.0","method":"exit"}'


def serve(box: BridgeSandbox, data: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run `serve` on ``data`` and the end of input."""
    return subprocess.run(
        [sys.executable, "-m", "sidekicks_bridge", "serve", "--config", str(box.config_path), *args],
        input=data,
        capture_output=True,
        cwd=box.folder,
        env=box.environment(),
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize(("shutdown", "code"), [(True, 0), (False, 1)])
async def test_exit_code(tmp_path: Path, *, shutdown: bool, code: int) -> None:
    """LSP: 0 if `shutdown` came before `exit`, else 1."""
    async with serving(BridgeSandbox(tmp_path)) as client:
        await client.shake_hands()
        await client.alive()
        if shutdown:
            await client.result("shutdown", None)
        await client.notify("exit", None)
        assert await client.end_code() == code


async def test_a_running_request_can_be_cancelled(tmp_path: Path) -> None:
    """One that waits for the bridge to start, and one that waits for an agent which never answers."""
    async with serving(BridgeSandbox(tmp_path, {"alice": "--hang initialize"})) as client:
        early = b'{"jsonrpc":"2.0","id":2,"method":"sidekicks/state/get","params":{}}'
        cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}'
        await client.raw(b"".join(map(frame, (INITIALIZE, early, cancel))))
        assert (await client.answer(2))["error"]["code"] == -32800
        start = await client.ask("sidekicks/agent/start", {"agent": "alice"})
        while not [
            one for one in (await client.result("sidekicks/state/get", {}))["agents"] if one["state"] != "stopped"
        ]:
            await client.alive()
        await client.notify("$/cancelRequest", {"id": start})
        assert (await client.answer(start))["error"]["code"] == -32800
        await client.alive()


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", 1, b""),
        (frame(EXIT), 1, b""),
        (b"GET / HTTP/1.1\r\n\r\n", 1, b"without Content-Length"),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 1, b"Content-Length"),
        (b"x" * 9000, 1, b"Expected an LSP header"),
        (frame(b"{not json"), 1, b"not JSON"),
        (frame(b"\xff\xfe\xff"), 1, b"not JSON"),
        (frame(b"[" * 100_000), 1, b"nested too deeply"),
        (frame(b"[]") + frame(b"3") + frame(EXIT), 1, b""),
        (frame(INITIALIZE) + frame(EXIT), 1, b""),
    ],
    ids=["nothing", "exit", "http", "digits", "noise", "no-json", "no-utf8", "deep", "no-object", "at-once"],
)
def test_what_may_come_first(tmp_path: Path, data: bytes, code: int, said: bytes) -> None:
    """A sentence at most, never a traceback, never a hang."""
    ended = serve(BridgeSandbox(tmp_path), data)
    assert ended.returncode == code, ended.stderr.decode()
    assert said in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert ended.stderr.count(b"\n") <= 1


def test_requests_before_initialize_are_refused(tmp_path: Path) -> None:
    early = b'{"jsonrpc":"2.0","id":7,"method":"sidekicks/state/get","params":{}}'
    ended = serve(BridgeSandbox(tmp_path), frame(early) + frame(EXIT))
    assert b'"id": 7' in ended.stdout
    assert b"-32002" in ended.stdout


@pytest.mark.parametrize("args", [["--nonsense"], ["--log-level", "loud"], ["--config"]])
def test_wrong_usage_is_64(tmp_path: Path, args: list[str]) -> None:
    ended = serve(BridgeSandbox(tmp_path), b"", *args)
    assert ended.returncode == 64
    assert b"usage" in ended.stderr or b"--log-level is one of" in ended.stderr


def test_a_configuration_that_is_not_there_is_named(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    box.config_path.unlink()
    ended = serve(box, frame(INITIALIZE))
    assert ended.returncode == 1
    assert str(box.config_path).encode() in ended.stdout
    assert b"configInvalid" in ended.stdout
    assert b"Traceback" not in ended.stderr


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "~nobody-such-user/x", "x" * 5000])
def test_odd_configuration_paths_of_a_client(tmp_path: Path, path: str) -> None:
    """The client's ``configPath`` counts only without ``--config``; whatever it says is no traceback."""
    box = BridgeSandbox(tmp_path)
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "capabilities": {},
            "processId": None,
            "initializationOptions": {"sidekicks": {"protocolVersion": 1, "configPath": path}},
        },
    }
    ended = subprocess.run(
        [sys.executable, "-m", "sidekicks_bridge", "serve"],
        input=frame(json.dumps(message).encode()),
        capture_output=True,
        cwd=box.folder,
        env=box.environment(),
        timeout=20,
        check=False,
    )
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr, ended.stderr.decode()
    assert b'"error"' in ended.stdout


async def test_an_only_plain_client_that_closes_a_dialog_refuses(tmp_path: Path) -> None:
    """Nobody else could answer, so closing the dialog must not leave the agent waiting for ever."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with serving(box) as client:
        await client.shake_hands(sidekicks=None)
        channel = (await client.result("sidekicks/state/get", {}))["channels"][0]["id"]
        await client.result("sidekicks/message/send", {"channelId": channel, "text": "@alice !permit it"})
        asked = await client.until(
            lambda: [message for message in client.received if message.get("method") == "window/showMessageRequest"]
        )
        await client.say({"jsonrpc": "2.0", "id": asked[0]["id"], "result": None})
        await client.alive()
        async with attached(socket_of(box)) as witness:
            await witness.shake_hands()
            opened = await witness.result("sidekicks/channel/open", {"channelId": channel})
            await witness.until(lambda: not [opened, *witness.events("sidekicks/turn/changed")][-1]["turns"])
            page = await witness.result("sidekicks/message/list", {"channelId": channel})
        assert "permit it: cancelled" in str(page["messages"][-1]["parts"])
