"""kill -9 in the middle of writing: what was acknowledged is there, what is there is whole, the next bridge owns it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.protocol.parts import TextContent, ToolCallPart
from sidekicks_bridge.store.open import open_store
from tests.store.conftest import CONFIG
from tests.store.writer_process import WRITERS

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.store.contract import Store

pytestmark = pytest.mark.anyio

KILLS = 3


def write_and_kill(folder: Path, acknowledged: Counter[str]) -> None:
    """Let a process write a random number of answers, kill it, and note the last acknowledged of each channel."""
    command = [sys.executable, "-m", "tests.store.writer_process", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(random.randint(1, 60))]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    for line in lines:
        assert line.endswith("\n"), "the writer ended by itself"
        channel, seq = line.split()
        acknowledged[channel] = int(seq)


async def check(store: Store, acknowledged: Counter[str]) -> None:
    assert (store.persistent, store.reason) == (True, None)
    unfinished = {turn.id for turn in await store.turns()}
    for number in range(WRITERS):
        channel = f"c{number}"
        last = await store.last_seq(channel)
        assert last - acknowledged[channel] in {0, 1}, "one more may have been written, its answer unread"
        acknowledged[channel] = last  # the next process begins there
        messages = (await store.page(channel, limit=10_000)).messages
        assert [each.seq for each in messages] == list(range(1, last + 1))
        members = await store.members(channel)
        assert [each.cursor for each in members] == ([last] if last else []), "a turn's end is one transaction"
        assert not unfinished & {each.id for each in messages}
        for each in messages[-3:]:
            whole = await store.part(each.id, 0)
            assert isinstance(whole, ToolCallPart)
            assert whole.content == [TextContent(text=str(each.seq) * 9_000)]
            hits = await store.search(f"Read {each.seq}", channel_id=channel, author=None, limit=100)
            assert each.id in {hit.message.id for hit in hits}


async def test_nothing_acknowledged_is_lost(folder: Path) -> None:
    acknowledged: Counter[str] = Counter()
    for _ in range(KILLS):
        write_and_kill(folder, acknowledged)
        store = await open_store(CONFIG, folder=folder)
        await check(store, acknowledged)
        await store.close()
    assert sum(acknowledged.values()) >= KILLS
