"""A random walk of two clients through everything one can do: the law holds, nothing sticks, no bug is logged.

The seed makes the walk the same each time, though what agents do meanwhile is not. Print `Walk.steps` to see one.
"""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import law
from tests.support.client import RefusedError
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
AGENTS = {
    "alice": "--commands plan --caps load",
    "bob": "--commands x --caps close",
    "carol": "--modes a,b",
    "dora": "",
}
CHANNELS = {"general": ["alice", "bob"], "other": ["alice", "carol"], "third": []}
SCRIPTS = [
    "!say one !say \\stwo !usage 5 10",
    "!permit x",
    "!permit-all a;b",
    "!tool read z !say k",
    "!hang",
    "!say p !hang",
    "!crash 3",
    "!empty",
    "!think t !say s",
    "!error -1 boo",
    "!say q !late lll",
    "!plan a;b",
    "!name-prefix !say hi",
    "!output 40000",
    "!commands z,y !say c",
    "!permit-busy q",
    "!tool-open read z !say done",
    "hello world",
    "/plan",
]
REFUSALS = {"notMember", "noSlot", "messageNotFound", "agentExited", "channelExists"}
STEPS = 120


class Walk:
    """One walk; ``steps`` are the names of what was done."""

    def __init__(self, box: BridgeSandbox, clients: list[Client], seed: int) -> None:
        self.box = box
        self.clients = clients
        self.dice = random.Random(seed)
        self.steps: list[str] = []
        self.moves: list[Callable[[Client, Room], Awaitable[object]]] = [
            *[self.send] * 8,
            *[self.answer] * 4,
            *[self.cancel] * 3,
            *[self.look] * 3,
            self.cancel_one,
            self.take_back,
            self.read,
            self.change_members,
            self.rename,
            self.stop_agent,
            self.kill_agent,
            self.prepare,
            self.retry,
        ]

    async def step(self) -> None:
        client = self.dice.choice(self.clients)
        room = self.dice.choice(list(client.rooms.values()))
        move = self.dice.choice(self.moves)
        self.steps.append(move.__name__)
        try:
            await move(client, room)
        except RefusedError as refusal:
            if refusal.kind not in REFUSALS:
                raise client.failure(f"{move.__name__}: {refusal.kind} {refusal.message}") from refusal

    async def send(self, _client: Client, room: Room) -> None:
        names = self.dice.sample(list(AGENTS), self.dice.choice([0, 1, 1, 1, 2])) or self.dice.choice([[], ["all"]])
        await room.send("".join(f"@{name} " for name in names) + self.dice.choice(SCRIPTS))

    async def answer(self, client: Client, _room: Room) -> None:
        asked = (await client.state())["permissions"]
        if asked:
            question = self.dice.choice(asked)
            chosen = {"optionId": self.dice.choice(question["options"])["optionId"]} if self.dice.random() < 0.8 else {}
            await client.request("permission/answer", requestId=question["requestId"], **chosen)

    async def cancel(self, _client: Client, room: Room) -> None:
        await room.cancel()

    async def cancel_one(self, _client: Client, room: Room) -> None:
        if room.turns:
            await room.cancel(self.dice.choice(room.turns)["id"])

    async def take_back(self, client: Client, room: Room) -> None:
        queued = [message["id"] for message in room.messages if message["state"] == "queued"]
        if queued:
            await client.request("message/remove", messageId=self.dice.choice(queued))

    async def read(self, _client: Client, room: Room) -> None:
        await room.request("channel/markRead", seq=self.dice.randint(0, 40))

    async def change_members(self, _client: Client, room: Room) -> None:
        verb = self.dice.choice(["invite", "remove"])
        await room.request(f"channel/{verb}", agent=self.dice.choice(list(AGENTS)))

    async def rename(self, _client: Client, room: Room) -> None:
        await room.request("channel/update", name=f"name-{self.dice.randint(0, 9)}")

    async def stop_agent(self, client: Client, _room: Room) -> None:
        await client.request(f"agent/{self.dice.choice(['stop', 'restart'])}", agent=self.dice.choice(list(AGENTS)))

    async def kill_agent(self, _client: Client, _room: Room) -> None:
        pids = self.box.pids(self.dice.choice(list(AGENTS)))
        if pids:
            try:
                os.kill(pids[-1], signal.SIGKILL)
            except ProcessLookupError:
                pass  # it was stopped before

    async def prepare(self, _client: Client, room: Room) -> None:
        await room.request("channel/prepare")

    async def retry(self, client: Client, room: Room) -> None:
        turns = {message["id"]: message["turn"] for message in room.messages if message.get("turn")}
        ended_badly = [name for name, turn in turns.items() if turn.get("stopReason", "end_turn") != "end_turn"]
        if ended_badly:  # what was answered in full is not asked again
            await client.request("turn/retry", messageId=self.dice.choice(ended_badly))

    async def look(self, client: Client, room: Room) -> None:
        await law.check(client, room)

    async def come_to_rest(self) -> None:
        """Answer and cancel until nothing is left to wait for."""
        client = self.clients[0]
        for room in client.rooms.values():
            while room.turns:
                for question in (await client.state())["permissions"]:
                    await client.request("permission/answer", requestId=question["requestId"])
                await room.cancel()
                turns = room.turns
                await client.until(lambda _, room=room, turns=turns: room.turns != turns or not room.turns)


@pytest.mark.parametrize("seed", [10])
async def test_a_random_walk(tmp_path: Path, seed: int) -> None:
    limits = {"maxRunningAgents": 2, "cancelTimeout": "2s"}
    box = BridgeSandbox(tmp_path, AGENTS, CHANNELS, limits=limits)
    async with box.bridge() as one, box.bridge() as two:
        for client in (one, two):
            for name in CHANNELS:
                await client.open(name, limit=500)
        walk = Walk(box, [one, two], seed)
        for _ in range(STEPS):
            await walk.step()
        await walk.come_to_rest()
        for room in one.rooms.values():
            finished = [message for message in room.messages if message["state"] == "finished"]
            assert [message["seq"] for message in finished] == list(range(1, len(finished) + 1))
            parts = [part for message in finished for part in message["parts"]]
            assert [part for part in parts if part.get("status") in ("pending", "in_progress")] == []
            assert [part for part in parts if part["type"] == "permission" and "outcome" not in part] == []
