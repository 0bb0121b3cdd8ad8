"""One bridge, three doors: two editors (`serve`, the second one relays) and a terminal, in one channel at once."""

from __future__ import annotations

import os
import re
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from tests.cli.terminal import Terminal
from tests.support.conditions import happened, permission, posted, streaming
from tests.support.law import comparable
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
EACH = 74
TYPED = 2
LINE = re.compile(r"^  (?:alice heard: )?\w+-\d+$", re.MULTILINE)


class Screen:
    """`sidekicks chat` in a pseudo-terminal, beside the clients of this loop."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    async def shows(self, what: str | Callable[[str], bool]) -> str:
        """Wait until it is shown."""
        return await anyio.to_thread.run_sync(self.terminal.wait_for, what)

    async def send(self, text: str) -> None:
        """Type a message and press Enter."""
        await anyio.to_thread.run_sync(self.terminal.send, text)

    def lines(self) -> list[str]:
        """The messages shown so far, from the top of the scrollback."""
        return [line.strip() for line in LINE.findall(self.terminal.text())]


@asynccontextmanager
async def chat(box: BridgeSandbox, channel: str) -> AsyncIterator[Screen]:
    env = {**box.environment(), "TERM": "xterm-256color", "TZ": "UTC"}
    terminal = Terminal(box.command("chat", channel), box.workspace, env)
    try:
        screen = Screen(terminal)
        await screen.shows("F1 keys")
        yield screen
    finally:
        terminal.close()


def finished(client: Client, room: Room) -> list[tuple[int, str, str]]:
    """The messages of the channel as they were told finished: seq, id, text."""
    told = [params["message"] for params in client.of("message/updated") if params["channelId"] == room.id]
    ended = {message["id"]: message for message in told if message["state"] == "finished"}
    return [(message["seq"], message["id"], text_of(message)) for message in ended.values()]


def streamed(client: Client, room: Room) -> dict[str, str]:
    """What the deltas of each message come to."""
    texts: dict[str, str] = {}
    for delta in client.of("message/delta"):
        if delta["channelId"] == room.id:
            value = delta.get("value", {})
            part = delta.get("text") or (value["text"] if value.get("type") == "text" else "")
            texts[delta["messageId"]] = texts.get(delta["messageId"], "") + part
    return texts


async def test_three_doors(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": "", "bob": ""}, {"general": ["alice"], "noise": ["bob"]})
    async with (
        box.stopped(),
        box.bridge(check=False) as owner,
        box.bridge(check=False) as editor,
        chat(box, "#general") as screen,
    ):
        here, there = await owner.open("general"), await editor.open("general")
        await _same_order_in_all(owner, here, editor, there, screen)
        await _a_question_closes_everywhere(owner, here, editor, screen)
        await _one_stands_still(owner, here, editor, there, screen)
        before = [text_of(message) for message in there.messages]
        await here.send("!say half !hang")
        await editor.until(streaming("alice", "half"))
        await screen.shows("alice is writing")
        await owner.kill()
        await editor.process.wait()
        await _all_recover(box, before, screen)


async def _same_order_in_all(owner: Client, here: Room, editor: Client, there: Room, screen: Screen) -> None:
    async def talk(room: Room, name: str) -> None:
        for number in range(EACH):
            await room.send(f"{name}-{number}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk, here, "owner")
        tasks.start_soon(talk, there, "editor")
        for number in range(TYPED):
            await screen.send(f"chat-{number}")
    await here.quiet()
    await there.quiet()
    messages = finished(owner, here)
    assert len(messages) == 2 * (2 * EACH + TYPED)
    assert messages == finished(editor, there)
    assert messages == sorted(messages)
    answers = {message_id: text for _, message_id, text in messages if text.startswith("alice heard")}
    assert answers == streamed(owner, here) == streamed(editor, there)
    await screen.shows(lambda _: len(screen.lines()) == len(messages))
    assert screen.lines() == [text for _, _, text in messages]


async def _a_question_closes_everywhere(owner: Client, here: Room, editor: Client, screen: Screen) -> None:
    sent = await here.send("!permit do it")
    asked = await owner.until(permission(by="alice"))
    await screen.shows("alice asks for permission: do it")
    answer = {"requestId": asked["requestId"], "optionId": "allow"}
    assert await editor.request("permission/answer", answer) == {"accepted": True}
    for client in (owner, editor):
        await client.until(happened("permission/resolved", lambda params: params["requestId"] == asked["requestId"]))
    await screen.shows(lambda shown: "asks for permission" not in shown and "permit do it: allow" in shown)
    await here.answer(sent, by="alice")
    assert await owner.request("permission/answer", answer) == {"accepted": False}


async def _one_stands_still(owner: Client, here: Room, editor: Client, there: Room, screen: Screen) -> None:
    """The others go on; the one that stood still opens again what it missed (10 MB are more than waits for anyone)."""
    noise = await editor.open("noise")

    def spoke(params: JSON) -> bool:
        return any(channel["id"] == noise.id and channel["unread"] for channel in params["channels"])

    editor.process.send_signal(signal.SIGSTOP)
    await owner.request("message/send", channelId=noise.id, text="!chunks 100 100000")
    await owner.until(happened("channels/changed", spoke))
    await screen.send("still-0")
    await screen.shows("alice heard: still-0")
    await here.ask("still-1", by="alice")
    await screen.shows("alice heard: still-1")
    editor.process.send_signal(signal.SIGCONT)
    await editor.until(happened("channel/desynced", lambda params: params["channelId"] == noise.id))
    await editor.open_id(noise.id)
    await editor.until(posted("alice", "still-1", channel=there.id))
    for room in (here, noise):
        mine, other = [await client.open_id(room.id, limit=500) for client in (editor, owner)]
        assert comparable(mine.snapshot) == comparable(other.snapshot)


async def _all_recover(box: BridgeSandbox, before: list[str], screen: Screen) -> None:
    shown = await screen.shows("The bridge stopped while @alice was answering.")
    assert "• The bridge has ended" in shown
    async with box.bridge() as one, box.bridge() as other:
        rooms = [await client.open("general", limit=500) for client in (one, other)]
        for room in rooms:
            texts = [text_of(message) for message in room.messages]
            assert texts == [*before, "!say half !hang", ""]
            assert room.messages[-1]["turn"]["stopReason"] == "interrupted"
            assert room.turns == []
        await screen.send("after-0")
        await screen.shows("alice heard: after-0")
        for client in (one, other):
            await client.until(posted("alice", "after-0"))
        status = await one.request("bridge/status")
        assert (status["kind"], status["pid"] in (one.process.pid, other.process.pid)) == ("hub", False)
        assert len(status["clients"]) == 3
        os.kill(status["pid"], 0)
