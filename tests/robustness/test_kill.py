"""kill -9 of the bridge in the middle of a busy conversation: nothing finished is lost, nothing is left running."""

from __future__ import annotations

import random
import sqlite3
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import lock
from tests.robustness.busy import Busy, agent_pids, sandbox
from tests.robustness.process import gone, started_for
from tests.support.wire import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.sandbox import BridgeSandbox

pytestmark = pytest.mark.anyio

MOST_NEWS = 90


@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", [10, pytest.param(100, marks=pytest.mark.long)])
async def test_kill_at_any_moment(tmp_path: Path, rounds: int) -> None:
    """Each round is killed after a random number of things the bridge said, and the next one looks at what is left."""
    box, busy = sandbox(tmp_path), Busy(random.Random())
    for _ in range(rounds):
        async with serving(box) as client:
            await busy.join(client)
            await busy.check_kept(client)
            news = busy.random.randint(1, MOST_NEWS)
            await busy.converse(client, news)
            client.process.kill()
            await client.until_ended()
            busy.note_rest(client)
        await check_nothing_runs(box)
    async with serving(box) as client:
        await busy.join(client)
        stored = await busy.check_kept(client)
    interrupted = [one for one in stored if one.get("turn", {}).get("stopReason") == "interrupted"]
    assert interrupted, "No kill has hit a turn: the conversation is not busy enough."
    asked = {one["id"] for one in stored if one["author"]["kind"] == "user"}
    assert {one["inReplyTo"] for one in interrupted} <= asked
    assert "Traceback" not in (tmp_path / "serve.err").read_text(encoding="utf-8")
    assert box.violations() == []


async def check_nothing_runs(box: BridgeSandbox) -> None:
    """No agent, no child of one, whatever group it went to; the lock is free; the database can be read."""
    await gone(agent_pids(box))
    await gone(started_for(box.folder))
    (place,) = box.config_home.glob("sidekicks/data/*/bridge.lock")
    lock.take(place).release()
    connection = sqlite3.connect(place.with_name("history.db"))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
