"""Two peers: tell, ask, read, peek, read-any, history, channels, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mail.world import peers, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mail.world import PeerClient
    from tests.support.client import Client

pytestmark = pytest.mark.anyio


async def test_told_in_order_and_read_one_by_one(ann: PeerClient, bob: PeerClient) -> None:
    for number in range(3):
        told = await ann.call("tell", peer=bob.name, body=f"m{number}")
        assert (told["seq"], told["peer"]) == (number + 1, bob.name)
    assert said(await bob.call("peek", peer=ann.name)) == ["m0", "m1", "m2"]
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == ["m0"]
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == ["m1"]
    assert said(await bob.call("peek", peer=ann.name)) == ["m2"]
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == ["m2"]
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == []
    assert said(await ann.call("peek", peer=bob.name)) == []


async def test_both_sides_see_the_history(ann: PeerClient, bob: PeerClient) -> None:
    for writer, reader in ((ann, bob), (bob, ann), (ann, bob)):
        await writer.call("tell", peer=reader.name, body=f"by {writer.name}")
    both = [await ann.call("history", peer=bob.name), await bob.call("history", peer=ann.name)]
    assert both[0] == both[1]
    assert [(one["seq"], one["author"]) for one in both[0]["messages"]] == [(1, ann.name), (2, bob.name), (3, ann.name)]
    assert [one["seq"] for one in (await ann.call("history", peer=bob.name, since=1))["messages"]] == [2, 3]
    assert [one["seq"] for one in (await ann.call("history", peer=bob.name, limit=1))["messages"]] == [3]


async def test_a_read_waits_for_what_comes(ann: PeerClient, bob: PeerClient) -> None:
    """Also before the pair has a channel."""
    reading = await bob.ask("read", peer=ann.name, timeout=10_000)
    await ann.call("tell", peer=bob.name, body="here")
    assert said(await bob.result(reading)) == ["here"]


async def test_nothing_within_the_time(ann: PeerClient, bob: PeerClient) -> None:
    assert await bob.refused("read", peer=ann.name, timeout=30) == "timeout"
    assert await bob.refused("readAny", timeout=30) == "timeout"
    assert await ann.refused("ask", peer=bob.name, body="?", timeout=30) == "timeout"
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == ["?"]
    assert await bob.call("readAny", timeout=0) == {}


async def test_the_answer_and_what_was_unread_before_it(ann: PeerClient, bob: PeerClient) -> None:
    for body in ("one", "two"):
        await bob.call("tell", peer=ann.name, body=body)
    asking = await ann.ask("ask", peer=bob.name, body="well?", timeout=10_000)
    assert said(await bob.call("read", peer=ann.name, timeout=10_000)) == ["well?"]
    await bob.call("tell", peer=ann.name, body="this")
    answer = await ann.result(asking)
    assert [one["body"] for one in answer["older"]] == ["one", "two"]
    assert answer["message"]["body"] == "this"
    assert answer["seq"] == 3
    assert said(await ann.call("peek", peer=bob.name)) == []


async def test_two_waiting_reads_of_one_caller(ann: PeerClient, bob: PeerClient) -> None:
    first = await bob.ask("read", peer=ann.name, timeout=10_000)
    await bob.call("agents")  # the first one waits by now
    assert await bob.refused("read", peer=ann.name, timeout=10_000) == "readPending"
    assert await bob.refused("readAny", timeout=10_000) == "readPending"
    assert await bob.refused("ask", peer=ann.name, body="?", timeout=10_000) == "readPending"
    assert said(await ann.call("peek", peer=bob.name)) == [], "a refused ask is not told either"
    await ann.call("tell", peer=bob.name, body="x")
    assert said(await bob.result(first)) == ["x"]


async def test_the_next_message_of_anybody(socket: str, fresh: Callable[[str], str]) -> None:
    async with peers(socket, fresh("a"), fresh("b"), fresh("c")) as (a, b, c):
        await a.call("tell", peer=c.name, body="from a")
        await b.call("tell", peer=c.name, body="from b")
        assert [one["pending"] for one in (await c.call("channels"))["channels"]] == [1, 1]
        first, second = await c.call("readAny", timeout=0), await c.call("readAny", timeout=0)
        assert (first["peer"], first["message"]["body"]) == (a.name, "from a")
        assert (second["peer"], second["message"]["body"]) == (b.name, "from b")
        waiting = await c.ask("readAny", timeout=10_000)
        await b.call("tell", peer=c.name, body="later")
        assert (await c.result(waiting))["message"]["body"] == "later"


async def test_nobody_of_that_name(owner: Client, ann: PeerClient) -> None:
    before = (await owner.state())["channels"]
    for verb, params in (
        ("tell", {"body": "x"}),
        ("ask", {"body": "x"}),
        ("read", {"timeout": 0}),
        ("peek", {}),
        ("history", {}),
    ):
        assert await ann.refused(verb, peer="nobody", **params) == "peerNotFound", verb
    assert (await owner.state())["channels"] == before, "nothing was created"


async def test_what_makes_no_sense(ann: PeerClient, bob: PeerClient) -> None:
    assert await ann.refused("tell", peer=ann.name, body="x") == "invalidParams"
    assert await ann.refused("tell", peer=bob.name, body=" \n") == "invalidParams"
    assert await ann.refused("tell", peer=bob.name, body="x" * 1_100_000) == "tooLarge"
    assert await ann.refused("read") == "invalidParams"
    assert await ann.refused("read", peer=bob.name, room="general") == "invalidParams"


async def test_bodies_come_as_they_were(ann: PeerClient, bob: PeerClient) -> None:
    for body in ("---\nseq: 9\nfrom: x\n---\n", "a\u2028b\u0085c", "```\nopen", "\ttab \0 é😀", " x "):
        await ann.call("tell", peer=bob.name, body=body)
        assert said(await bob.call("read", peer=ann.name, timeout=0)) == [body]


async def test_the_user_sees_it_live_and_may_answer(owner: Client, ann: PeerClient, bob: PeerClient) -> None:
    told = await ann.call("tell", peer=bob.name, body="hello")
    room = await owner.open_id(told["channelId"])
    assert room.snapshot["channel"]["kind"] == "pair"
    assert room.snapshot["channel"]["peers"] == sorted([ann.name, bob.name])
    await bob.call("tell", peer=ann.name, body="hi")
    await owner.until(lambda _: any(m.get("seq") == 2 for m in room.snapshot["messages"]))
    await owner.request("message/send", channelId=told["channelId"], text="a word from me")
    assert said(await ann.call("peek", peer=bob.name)) == ["hi", "a word from me"]
    assert (await bob.call("history", peer=ann.name))["messages"][-1]["author"] == "user"
    await room.close()


async def test_a_hundred_tells_from_both_sides(ann: PeerClient, bob: PeerClient) -> None:
    asked = [
        (writer, await writer.ask("tell", peer=reader.name, body=str(number)))
        for number in range(50)
        for writer, reader in ((ann, bob), (bob, ann))
    ]
    seqs = [(await writer.result(one))["seq"] for writer, one in asked]
    assert sorted(seqs) == list(range(1, 101))
    for reader, writer in ((ann, bob), (bob, ann)):
        got = [said(await reader.call("read", peer=writer.name, timeout=0))[0] for _ in range(50)]
        assert got == [str(number) for number in range(50)]
        assert said(await reader.call("read", peer=writer.name, timeout=0)) == []
