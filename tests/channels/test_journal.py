"""What an owner's inbox and the journal promise when something goes wrong beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anyio
import pytest

from sidekicks_bridge.channels.inbox import Inbox
from sidekicks_bridge.channels.journal import Journal
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import Change, PutValue, Store

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import StorageState

pytestmark = pytest.mark.anyio


class Disk:
    """Stands where the store does: refuses, or takes its time, as a test says."""

    persistent = True
    reason = None

    def __init__(self) -> None:
        self.full = False
        self.slow: anyio.Event | None = None
        self.kept: dict[str, object] = {}

    async def write(self, *changes: Change) -> None:
        full, slow = self.full, self.slow
        if slow is not None:
            await slow.wait()
        if full:
            raise SidekicksError("storeUnavailable", "The disk is full.")
        self.kept.update({change.key: change.value for change in changes if isinstance(change, PutValue)})


async def test_nothing_that_waits_for_the_disk_is_lost_when_several_write_at_once() -> None:
    disk = Disk()
    states: list[StorageState] = []
    journal = Journal(cast("Store", disk), states.append)
    disk.full = True
    await journal.keep(PutValue("first", 1))
    disk.full, disk.slow = False, anyio.Event()
    slow = disk.slow
    async with anyio.create_task_group() as tasks:
        for key in ("second", "third"):  # both take along what waits
            tasks.start_soon(journal.write, PutValue(key, 1))
        await anyio.wait_all_tasks_blocked()
        disk.full, disk.slow = True, None
        await journal.keep(PutValue("fourth", 1))
        disk.full = False
        slow.set()
    assert "fourth" not in disk.kept
    assert not journal.state.persistent
    await journal.write()
    assert set(disk.kept) == {"first", "second", "third", "fourth"}
    assert [state.persistent for state in states] == [False, False, False, False, True]


async def test_one_failing_command_does_not_end_an_owner(caplog: pytest.LogCaptureFixture) -> None:
    inbox = Inbox()
    seen: list[str] = []

    def broken() -> None:
        raise KeyError("a bug")

    async def ask() -> str:
        return "answer"

    async def never() -> None:
        """There is nothing to do when idle."""

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inbox.serve, lambda: None, never)
        inbox.cast(broken)
        inbox.cast(seen.append, "next")
        assert await inbox.call(ask) == "answer"
        inbox.close(SidekicksError("channelNotFound", "It was deleted."))
        inbox.cast(seen.append, "too late")
        with pytest.raises(SidekicksError, match="deleted"):
            await inbox.call(ask)
    assert seen == ["next"]
    assert "a bug" in caplog.text
