"""Who runs: one channel at a time, first come first served, the limit, the least recently used, idle stop, changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import WaitsFor
from tests.agents.test_bad import still_answers
from tests.agents.world import Spec, World, fake, world

if TYPE_CHECKING:
    from pathlib import Path


def running(w: World) -> list[str]:
    return [name for name in ("alice", "bob", "carol") if w.manager.state(name)[0] in ("starting", "ready", "busy")]


async def configure_three(w: World) -> None:
    w.configure(*(fake(name=name) for name in ("alice", "bob", "carol")))


@pytest.mark.anyio
async def test_first_come_first_served(tmp_path: Path) -> None:
    served: list[str] = []
    async with world(tmp_path) as w, anyio.create_task_group() as tasks:

        async def use(channel: str) -> None:
            async with await w.manager.lease("fake", channel, w.on_wait(channel)):
                served.append(channel)
                w.sink.wake()

        async with await w.manager.lease("fake", "c0", w.on_wait("c0")):
            for channel in ("c1", "c2", "c3"):
                tasks.start_soon(use, channel)
                await anyio.wait_all_tasks_blocked()
            busy = WaitsFor(reason="agentBusy", agent="fake", channel_id="c0")
            assert w.waits == [("c1", busy), ("c2", busy), ("c3", busy)]
            assert w.manager.waits_for("fake", "c9") == busy
            assert w.manager.waits_for("fake", "c0") is None, "an earlier turn there is the channel's matter"
            assert w.manager.try_lease("fake", "c9") is None
        await w.sink.until(lambda: len(served) == 3)
    assert served == ["c1", "c2", "c3"]
    assert [wait for who, wait in w.waits if who == "c3"][-1] is None


@pytest.mark.anyio
async def test_a_cancelled_wait_leaves_no_trace(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        async with await w.manager.lease("fake", "c0", w.on_wait("c0")):
            with anyio.move_on_after(0.05) as gave_up:
                await w.manager.lease("fake", "c1", w.on_wait("c1"))
            assert gave_up.cancelled_caught
        assert w.manager.waits_for("fake", "c2") is None
        lease = w.manager.try_lease("fake", "c2")
        assert lease is not None
        async with lease:
            pass
        await still_answers(w)


@pytest.mark.anyio
async def test_the_least_recently_used_idle_agent_makes_room(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await configure_three(w)
        for name in ("alice", "bob", "alice"):
            await w.ask("hi", name)
        assert w.manager.waits_for("carol", "c1") is None
        await w.ask("hi", "carol")
        assert running(w) == ["alice", "carol"]
        assert w.manager.state("bob") == ("stopped", None)
        assert not w.waits, "nobody is told to wait while there is an idle one"


@pytest.mark.anyio
async def test_when_all_are_busy_a_start_waits(tmp_path: Path) -> None:
    async with world(tmp_path) as w, anyio.create_task_group() as tasks:
        await configure_three(w)
        async with w.session("alice", "c1"), w.session("bob", "c2"):
            no_slot = WaitsFor(reason="noSlot", agent="alice", channel_id="c1")
            assert w.manager.waits_for("carol", "c3") == no_slot
            assert w.manager.try_lease("carol", "c3") is None
            with pytest.raises(SidekicksError) as caught:
                await w.manager.start("carol")
            assert caught.value.code == "noSlot"
            tasks.start_soon(w.ask, "hi", "carol", "c3")
            await w.sink.until(lambda: w.waits)
            assert w.waits == [("c3", no_slot)]
        await w.sink.until(lambda: w.sink.text("c3") == "carol heard: hi")
        assert len(running(w)) == 2


@pytest.mark.anyio
async def test_never_more_processes_than_allowed(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(*(fake("--ignore-eof", name=name) for name in ("alice", "bob", "carol")), max_running_agents=1)
        for name in ("alice", "bob", "carol", "alice"):
            await w.ask("hi", name)
            assert running(w) == [name]
        starts = [(agent, state) for agent, state, _ in w.sink.states if state in ("starting", "stopped")]
        assert starts == [
            ("alice", "starting"), ("alice", "stopped"), ("bob", "starting"), ("bob", "stopped"),
            ("carol", "starting"), ("carol", "stopped"), ("alice", "starting"),
        ]  # fmt: skip


@pytest.mark.anyio
async def test_preparing_stops_only_who_never_answered(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await configure_three(w)
        await w.ask("hi", "alice")
        await w.manager.start("bob")
        lease = w.manager.try_lease("carol", "c1")
        assert lease is not None
        async with lease:
            await lease.session(str(tmp_path), None)
        assert running(w) == ["alice", "carol"]
        await w.ask("hi", "carol")
        assert w.manager.try_lease("bob", "c1") is None
        assert running(w) == ["alice", "carol"]


@pytest.mark.anyio
async def test_an_idle_agent_is_stopped(tmp_path: Path) -> None:
    async with world(tmp_path, idle_stop=0.1) as w:
        await w.ask("hi")
        await w.sink.until(lambda: w.manager.state("fake")[0] == "stopped")
        async with w.session():
            with anyio.move_on_after(0.3) as in_use:
                await w.sink.until(lambda: w.manager.state("fake")[0] == "stopped")
            assert in_use.cancelled_caught, "in use is not idle"
        await w.sink.until(lambda: w.manager.state("fake")[0] == "stopped")


@pytest.mark.anyio
async def test_built_in_agents_do_not_count(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(), Spec(name="scout", builtin="scout"), max_running_agents=1)
        async with w.session("fake", "c1"):
            assert w.manager.waits_for("scout", "c1") is None
            lease = w.manager.try_lease("scout", "c1")
            assert lease is not None
            async with lease:
                pass


@pytest.mark.anyio
async def test_a_changed_agent_is_replaced_when_idle(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        async with w.session() as session:
            w.configure(fake("--title New"), fake(name="bob"))
            await session.prompt(session.blocks("hi", []))
            assert w.sink.text() == "fake heard: hi"
        await w.ask("hi")
        assert [state for _, state, _ in w.sink.states].count("starting") == 2
        w.configure(fake("--title New"), fake(name="bob"))
        await w.ask("hi")
        assert [state for _, state, _ in w.sink.states].count("starting") == 2, "nothing changed for it"


@pytest.mark.anyio
async def test_a_removed_agent_ends_its_turn_and_is_gone(tmp_path: Path) -> None:
    async with world(tmp_path) as w, anyio.create_task_group() as tasks:
        async with w.session() as session:

            async def wait() -> None:
                with pytest.raises(SidekicksError) as caught:
                    await w.manager.lease("fake", "c2", w.on_wait("c2"))
                assert caught.value.code == "agentNotFound"

            tasks.start_soon(wait)
            await w.sink.until(lambda: w.waits)
            w.configure(fake(name="bob"))
            await session.prompt(session.blocks("hi", []))
        with pytest.raises(SidekicksError) as caught:
            await w.manager.lease("fake", "c1", w.on_wait("c1"))
        assert caught.value.code == "agentNotFound"
        await w.sink.until(lambda: ("fake", "stopped", None) in w.sink.states)
        await w.ask("hi", "bob")


@pytest.mark.anyio
async def test_a_closed_manager_gives_no_leases(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.manager.aclose()
        with pytest.raises(SidekicksError) as caught:
            await w.ask("hi")
        assert caught.value.code == "shuttingDown"


@pytest.mark.anyio
async def test_two_agents_start_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await configure_three(w)
        async with anyio.create_task_group() as tasks:
            for n, name in enumerate(("alice", "bob", "carol", "alice", "bob", "carol")):
                tasks.start_soon(w.ask, f"hi {n}", name, f"c{n}")
        for n, name in enumerate(("alice", "bob", "carol", "alice", "bob", "carol")):
            assert w.sink.text(f"c{n}") == f"{name} heard: hi {n}"
