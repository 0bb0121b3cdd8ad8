"""An orderly end, whoever wants it: what streams is kept, agents end before the bridge, all within two seconds."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.server.owner import FLUSH_SECONDS
from tests.robustness.busy import agent_pids
from tests.robustness.process import alive, started_for
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import Wire, attached, serving

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SECONDS = 2.0
"""Editors kill a server about two seconds after `exit`."""


def stubborn(folder: Path) -> BridgeSandbox:
    """An agent that neither the end of its input nor TERM ends, and its children likewise."""
    options = f"--ignore-eof --ignore-term --spawn-child {folder / 'children'}"
    return BridgeSandbox(folder, {"alice": options, "bob": ""})


async def stream_partly(client: Wire) -> str:
    """Have an answer stream that will not end, and a message wait behind it; the channel."""
    await client.shake_hands()
    channel: str = (await client.result("sidekicks/state/get", {}))["channels"][0]["id"]
    await client.result("sidekicks/channel/open", {"channelId": channel})
    for text in ("@alice !words a partial answer !hold never", "@bob and you?"):
        await client.result("sidekicks/message/send", {"channelId": channel, "text": text})
    await client.until(lambda: streamed(client).startswith("a partial answer"))
    return channel


def streamed(client: Wire) -> str:
    deltas = client.events("sidekicks/message/delta")
    return "".join(delta["text"] if "text" in delta else delta["value"].get("text", "") for delta in deltas)


async def end(client: Wire, how: str) -> None:
    if how == "exit":
        await client.result("shutdown", None)
        await client.notify("exit", None)
    elif how == "end of input":
        assert client.process.stdin is not None
        await client.process.stdin.aclose()
    elif how == "bridge/stop":
        await client.result("sidekicks/bridge/stop", {})
    else:
        client.process.send_signal(signal.Signals[how])


async def check_kept(box: BridgeSandbox, channel: str) -> None:
    async with serving(box) as client:
        await client.shake_hands()
        page = await client.result("sidekicks/message/list", {"channelId": channel})
        state = await client.result("sidekicks/state/get", {})
    assert state["turns"] == []
    said = {str(message["parts"]): message for message in page["messages"]}
    (partial,) = [message for text, message in said.items() if "'text': 'a partial answer" in text]
    assert partial["turn"]["stopReason"] == "interrupted"
    assert partial["author"]["name"] == "alice"
    assert [message for text, message in said.items() if "@bob and you?" in text]
    assert {message["state"] for message in page["messages"]} == {"finished"}


@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP", "end of input", "exit", "bridge/stop"])
async def test_an_orderly_end(tmp_path: Path, how: str) -> None:
    box = stubborn(tmp_path)
    async with serving(box) as client:
        channel = await stream_partly(client)
        pids = agent_pids(box)
        assert len(pids) >= 3
        assert all(alive(pid) for pid in pids)
        start = time.monotonic()
        await end(client, how)
        code = await client.end_code()
        took = time.monotonic() - start
        assert [pid for pid in [*pids, *started_for(tmp_path)] if alive(pid)] == []
        assert took < SECONDS
        assert code == (0 if how == "exit" else 1)
        if how not in ("exit", "end of input"):
            await client.until_ended()
            assert client.events("sidekicks/bridge/stopping") == [{}]
    if how in ("SIGTERM", "end of input", "exit"):
        await check_kept(box, channel)
    assert "Traceback" not in (tmp_path / "serve.err").read_text(encoding="utf-8")


async def test_a_client_that_does_not_read_does_not_hold_the_others_up(tmp_path: Path) -> None:
    """The owner's own client leaves with a full pipe: what cannot be written is given up, beside everything else."""
    box = BridgeSandbox(tmp_path, {"alice": ""})
    async with serving(box) as owner:
        await owner.shake_hands()
        channel = (await owner.result("sidekicks/state/get", {}))["channels"][0]["id"]
        await owner.result("sidekicks/channel/open", {"channelId": channel})
        async with attached(socket_of(box)) as other:
            await other.shake_hands()
            await other.result("sidekicks/channel/open", {"channelId": channel})
            owner.stop_reading()
            await other.result("sidekicks/message/send", {"channelId": channel, "text": "@alice !chunks 100 2000"})
            await other.until(lambda: finished(other))
            assert owner.process.stdin is not None
            await owner.process.stdin.aclose()
            longest = 0.0
            clients = 2
            while clients > 1:
                start = time.monotonic()
                clients = len((await other.result("sidekicks/bridge/status", {}))["clients"])
                longest = max(longest, time.monotonic() - start)
            start = time.monotonic()
            await other.alive()
            assert max(longest, time.monotonic() - start) < FLUSH_SECONDS


def finished(client: Wire) -> bool:
    changes = client.events("sidekicks/turn/changed")
    return bool(changes) and changes[-1]["turns"] == []
