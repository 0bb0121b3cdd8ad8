"""The mailbox in this process: what holds for every interleaving of writers, readers, time-outs and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.open import memory_store
from tests.mail.world import SetClock, office

if TYPE_CHECKING:
    from sidekicks_bridge.mail.callers import Caller
    from tests.mail.world import Office

pytestmark = pytest.mark.anyio

NAMES = ("ann", "ben", "carl")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("read"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("wait"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("any"), st.sampled_from(NAMES), st.just("")),
        st.tuples(st.just("ask"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("restart"), st.just(""), st.just("")),
    ),
    max_size=40,
)


class Book:
    """What was told and what was read, by (reader, writer)."""

    def __init__(self) -> None:
        self.told: dict[tuple[str, str], list[str]] = {}
        self.read: dict[tuple[str, str], list[str]] = {}
        self.count = 0

    async def tell(self, world: Office, writer: Caller, reader: str) -> None:
        self.count += 1
        body = str(self.count)
        self.told.setdefault((reader, writer.name), []).append(body)
        await world.mail.pairs.tell(writer, reader, body)

    def note(self, reader: str, writer: str, body: str) -> None:
        self.read.setdefault((reader, writer), []).append(body)


async def step(world: Office, book: Book, who: dict[str, Caller], what: str, one: str, other: str) -> None:
    """One action; being refused or timing out is an outcome like any."""
    reading, patience = world.mail.reading, 0.0 if what == "read" else 0.001
    try:
        if what == "tell":
            await book.tell(world, who[one], other)
        elif what == "any":
            found = await reading.read_any(who[one], 0.001)
            if found.message is not None and found.peer is not None:
                book.note(one, found.peer, found.message.body)
        elif what == "ask":
            book.count += 1
            book.told.setdefault((other, one), []).append(str(book.count))
            answer = await world.mail.pairs.ask(who[one], other, str(book.count), 0.001)
            for letter in [*answer.older, *([answer.message] if answer.message else [])]:
                book.note(one, other, letter.body)
        else:
            for letter in (await reading.read(who[one], other, None, patience)).messages:
                book.note(one, other, letter.body)
    except SidekicksError as refusal:
        if refusal.code not in ("timeout", "readPending", "waitCircle"):
            raise
        if what == "ask" and refusal.code != "timeout":
            book.told[other, one].remove(str(book.count))


@given(STEPS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_each_message_is_read_once_and_in_order(steps: list[tuple[str, str, str]]) -> None:
    async def play() -> None:
        store, book = memory_store(), Book()
        left = [found for found in steps if found[1] != found[2] or found[0] == "restart"]
        while left:
            async with office(store) as world:
                who = {name: await world.peer(name) for name in NAMES}
                while left:
                    what, one, other = left.pop(0)
                    if what == "restart":
                        break
                    await step(world, book, who, what, one, other)
        await drain(store, book)
        assert book.read == {key: told for key, told in book.told.items() if told}
        await store.close()

    anyio.run(play)


async def drain(store: object, book: Book) -> None:
    """Read what is left."""
    async with office(store) as world:  # type: ignore[arg-type]  # a store
        who = {name: await world.peer(name) for name in NAMES}
        for name in NAMES:
            while (found := await world.mail.reading.read_any(who[name], 0)).message is not None:
                assert found.peer is not None
                book.note(name, found.peer, found.message.body)


@given(st.lists(st.sampled_from(["tell", "read", "wait", "any"]), min_size=2, max_size=30))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_is_lost_or_doubled_when_all_happens_at_once(actions: list[str]) -> None:
    async def play() -> None:
        store, book = memory_store(), Book()
        async with office(store) as world:
            ann, ben = await world.peer("ann"), await world.peer("ben")
            who = {"ann": ann, "ben": ben}
            async with anyio.create_task_group() as tasks:
                for action in actions:
                    one, other = ("ann", "ben") if action == "tell" else ("ben", "ann")
                    tasks.start_soon(step, world, book, who, action, one, other)
        await drain(store, book)
        told = book.told.get(("ben", "ann"), [])
        assert sorted(book.read.get(("ben", "ann"), []), key=int) == sorted(told, key=int)
        await store.close()

    anyio.run(play)


async def at_the_instant(rounds: int) -> None:
    """A message that comes as the time is up is read now or kept for later, never lost."""
    store = memory_store()
    async with office(store) as world:
        ann, ben = await world.peer("ann"), await world.peer("ben")
        caught = 0
        for number in range(rounds):
            found: list[str] = []

            async def read(into: list[str]) -> None:
                try:
                    got = await world.mail.reading.read(ben, "ann", None, 0.002)
                    into += [letter.body for letter in got.messages]
                except SidekicksError as late:
                    if late.code != "timeout":
                        raise

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, found)
                end = anyio.current_time() + 0.002 + (number % 21 - 10) * 0.0001
                while anyio.current_time() < end:
                    await anyio.lowlevel.checkpoint()
                await world.mail.pairs.tell(ann, "ben", str(number))
            caught += bool(found)
            found += [letter.body for letter in (await world.mail.reading.read(ben, "ann", None, 0)).messages]
            assert found == [str(number)]
        assert 0 < caught < rounds, "the instant was missed: all came before, or all after"
    await store.close()


async def test_a_message_at_the_instant_of_a_timeout() -> None:
    await at_the_instant(60)


@pytest.mark.long
async def test_a_message_at_the_instant_of_a_timeout_a_thousand_times() -> None:
    await at_the_instant(1000)


async def test_a_lease_runs_out() -> None:
    clock = SetClock()
    async with office(clock=clock) as world:
        ann, ben = await world.peer("ann"), await world.peer("ben")
        await world.mail.rooms.create(ann, "dev", None)
        await world.mail.rooms.join(ben, "dev")
        clock.at = "2026-11-30T12:59:59.000Z"
        await world.mail.registry.renew(world.mail.registry.all()[0])
        clock.at = "2026-11-30T13:00:01.000Z"
        assert [peer.name for peer in world.mail.registry.all()] == ["ann"], "ben has not been renewed"
        async with anyio.create_task_group() as tasks:
            closed: list[str] = []

            async def wait() -> None:
                try:
                    await world.mail.reading.read(ben, "ann", None, 10)
                except SidekicksError as ended:
                    closed.append(ended.code)

            tasks.start_soon(wait)
            while not world.mail.waits.all():
                await anyio.lowlevel.checkpoint()
            await world.mail.expire()
        assert closed == ["closed"]
        assert (await world.mail.rooms.participants(ann, "dev")).members[0].name == "ann"
        assert len((await world.mail.rooms.participants(ann, "dev")).members) == 1
        with pytest.raises(SidekicksError) as gone:
            await world.mail.pairs.tell(ann, "ben", "x")
        assert gone.value.code == "peerNotFound"
        back = await world.peer("ben")
        await world.mail.pairs.tell(ann, "ben", "again")
        assert [one.body for one in (await world.mail.reading.read(back, "ann", None, 0)).messages] == ["again"]


async def test_leases_are_not_written_with_every_request() -> None:
    clock = SetClock()
    async with office(clock=clock) as world:
        await world.peer("ann")
        (peer,) = world.mail.registry.all()
        clock.at = "2026-11-30T12:00:30.000Z"
        await world.mail.registry.renew(peer)
        (kept,) = (await world.store.values("mail/peer/")).values()
        assert kept["expires_at"] == "2026-11-30T13:00:00.000Z"
        clock.at = "2026-11-30T12:01:00.000Z"
        await world.mail.registry.renew(peer)
        (kept,) = (await world.store.values("mail/peer/")).values()
        assert kept["expires_at"] == "2026-11-30T13:01:00.000Z"


async def test_a_circle_of_asks_is_refused_at_once() -> None:
    async with office() as world:
        ann, ben, carl = [await world.peer(name) for name in NAMES]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.mail.pairs.ask, ann, "ben", "?", 10)
            tasks.start_soon(world.mail.pairs.ask, ben, "carl", "?", 10)
            while len(world.mail.waits.all()) < 2:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(SidekicksError) as circle:
                await world.mail.pairs.ask(carl, "ann", "?", 10)
            assert circle.value.code == "waitCircle"
            assert (await world.mail.reading.channels(carl)).channels == [], "nothing was told"
            await world.mail.pairs.tell(carl, "ben", "a")
            await world.mail.pairs.tell(ben, "ann", "b")
