"""A bridge that is killed in the middle of mail: what was answered is there, once, and the transcript catches up."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from sidekicks_bridge.mail.transcript.verify import verify
from sidekicks_bridge.store.open import open_history
from tests.mail.world import PeerClient, peers, said
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import attached

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def run(folder: Path, count: int) -> None:
    box = BridgeSandbox(folder)
    answered: dict[str, int] = {}
    with suppress(AssertionError):  # the connection ends with the bridge
        async with box.bridge(check=False) as client, peers(socket_of(box), "ann", "ben") as (ann, _):
            ids = {str(number): await ann.ask("tell", peer="ben", body=str(number)) for number in range(count)}
            for body, request_id in ids.items():
                answered[body] = (await ann.result(request_id))["seq"]
                if len(answered) == count // 2:
                    await client.kill()
    assert len(answered) >= count // 2
    async with box.bridge() as _client, attached(socket_of(box)) as wire:
        ann, ben = PeerClient(wire, "ann"), PeerClient(wire, "ben")
        told = await ann.call("tell", peer="ben", body="last")
        history = (await ann.call("history", peer="ben", limit=500))["messages"]
        by_body = {one["body"]: one["seq"] for one in history}
        assert len(by_body) == len(history) == min(told["seq"], 500), "none is doubled, none skipped"
        if count <= 400:
            assert {body: by_body[body] for body in answered} == answered, "what was answered is there"
        got: list[str] = []
        while bodies := said(await ben.call("read", peer="ann", timeout=0)):
            got += bodies
        assert got == [str(number) for number in range(len(got) - 1)] + ["last"]
        assert len(got) >= len(answered)


async def test_killed_in_the_middle(tmp_path: Path) -> None:
    await run(tmp_path, 200)


@pytest.mark.long
async def test_killed_in_the_middle_of_a_thousand(tmp_path: Path) -> None:
    await run(tmp_path, 1000)


async def test_the_transcript_catches_up_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = BridgeSandbox(tmp_path)
    with suppress(AssertionError):
        async with box.bridge(check=False) as client, peers(socket_of(box), "ann", "ben") as (ann, _):
            for number in range(20):
                await ann.call("tell", peer="ben", body=str(number))
            await client.kill()
    (place,) = box.config_home.glob("sidekicks/data/*/bridge.lock")
    async with box.bridge() as client, attached(socket_of(box)) as wire:
        await PeerClient(wire, "ann").call("tell", peer="ben", body="last")
        with anyio.fail_after(20):
            while len(list(place.parent.glob("transcript/peers/ann--ben/*.md"))) < 21:
                await client.state()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(box.config_home))
    store = await open_history(box.config_path)
    assert store is not None
    found = await verify(store, place.parent, None)
    assert found is not None
    assert found.findings == []
    await store.close()
