"""Rooms: made, joined, left, written to; the limits; who learns that there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mail.world import peers, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mail.world import PeerClient
    from tests.support.client import Client

pytestmark = pytest.mark.anyio


async def test_a_post_reaches_every_member_but_the_sender(socket: str, fresh: Callable[[str], str]) -> None:
    room = fresh("room")
    async with peers(socket, fresh("a"), fresh("b"), fresh("c")) as (a, b, c):
        made = await a.call("createRoom", room=room, description="ours")
        assert (made["members"], made["description"]) == ([a.name], "ours")
        await b.call("join", room=room)
        await c.call("join", room=room)
        await a.call("post", room=room, body="one")
        await b.call("post", room=room, body="two")
        assert said(await c.call("peek", room=room)) == ["one", "two"]
        assert said(await c.call("read", room=room, timeout=0)) == ["one", "two"]
        assert said(await c.call("read", room=room, timeout=0)) == []
        assert said(await a.call("read", room=room, timeout=0)) == ["two"]
        members = (await a.call("participants", room=room))["members"]
        assert [(one["name"], one.get("pending", 0)) for one in members] == [(a.name, 0), (b.name, 1), (c.name, 0)]


async def test_mail_begins_with_joining(ann: PeerClient, bob: PeerClient, fresh: Callable[[str], str]) -> None:
    room = fresh("room")
    await ann.call("createRoom", room=room)
    await ann.call("post", room=room, body="before")
    await bob.call("join", room=room)
    await ann.call("post", room=room, body="after")
    assert said(await bob.call("read", room=room, timeout=0)) == ["after"]
    assert said(await bob.call("history", room=room)) == ["before", "after"]


async def test_a_mailbox_keeps_64(ann: PeerClient, bob: PeerClient, fresh: Callable[[str], str]) -> None:
    room = fresh("room")
    await ann.call("createRoom", room=room)
    await bob.call("join", room=room)
    for number in range(70):
        await ann.call("post", room=room, body=str(number))
    members = (await ann.call("participants", room=room))["members"]
    assert [(one["pending"], one["dropped"]) for one in members if one["name"] == bob.name] == [(64, 6)]
    peeked = await bob.call("peek", room=room)
    assert (peeked["dropped"], said(peeked)[0], len(said(peeked))) == (6, "6", 64)
    first = await bob.call("readAny", timeout=0)
    assert (first["room"], first["dropped"], first["message"]["body"]) == (room, 6, "6")
    rest = await bob.call("read", room=room, timeout=0)
    assert (rest.get("dropped", 0), said(rest)) == (0, [str(number) for number in range(7, 70)])
    assert len((await bob.call("history", room=room, limit=500))["messages"]) == 70, "dropped is not deleted"


async def test_a_pair_keeps_everything(ann: PeerClient, bob: PeerClient) -> None:
    for number in range(70):
        await ann.call("tell", peer=bob.name, body=str(number))
    assert len((await bob.call("peek", peer=ann.name))["messages"]) == 70


async def test_eight_peers_and_no_more(socket: str, fresh: Callable[[str], str]) -> None:
    room = fresh("room")
    async with peers(socket, *[fresh("p") for _ in range(9)]) as nine:
        await nine[0].call("createRoom", room=room)
        for peer in nine[1:8]:
            await peer.call("join", room=room)
        assert await nine[8].refused("join", room=room) == "roomFull"
        await nine[7].call("join", room=room)
        await nine[3].call("leave", room=room)
        await nine[8].call("join", room=room)


async def test_a_non_member_is_told_that_there_is_no_such_room(
    ann: PeerClient, bob: PeerClient, fresh: Callable[[str], str]
) -> None:
    room = fresh("room")
    await ann.call("createRoom", room=room)
    for name in (room, "no-such-room"):
        for verb in ("read", "peek", "history", "participants", "leave"):
            assert await bob.refused(verb, room=name) == "channelNotFound", verb
        assert await bob.refused("post", room=name, body="x") == "channelNotFound"
    assert await bob.refused("join", room="no-such-room") == "channelNotFound"
    assert await bob.refused("createRoom", room=room.upper()) == "channelExists"
    assert {one["name"]: one.get("member", False) for one in (await bob.call("rooms"))["rooms"]}[room] is False


async def test_leaving_ends_a_wait_and_loses_nothing(
    ann: PeerClient, bob: PeerClient, fresh: Callable[[str], str]
) -> None:
    room = fresh("room")
    await ann.call("createRoom", room=room)
    await bob.call("join", room=room)
    waiting = await bob.ask("read", room=room, timeout=10_000)
    await bob.call("leave", room=room)
    assert await bob.refusal(waiting) == "closed"
    await ann.call("post", room=room, body="kept")
    assert said(await ann.call("history", room=room)) == ["kept"]


async def test_a_deleted_room_ends_a_wait(owner: Client, ann: PeerClient, fresh: Callable[[str], str]) -> None:
    room = fresh("room")
    await ann.call("createRoom", room=room)
    waiting = await ann.ask("read", room=room, timeout=10_000)
    channel = await owner.channel(room)
    await owner.request("channel/delete", channelId=channel["id"], confirm=room)
    assert await ann.refusal(waiting) == "closed"


async def test_any_named_channel_can_be_joined_and_says_that_it_is_projected(
    owner: Client, ann: PeerClient, bob: PeerClient, fresh: Callable[[str], str]
) -> None:
    name = fresh("channel")
    await owner.request("channel/create", name=name, members=["alice"])
    room = await owner.open(name)
    await ann.call("join", room=f"#{name}")
    await bob.call("join", room=name)
    codes = [part["code"] for m in room.snapshot["messages"] for part in m["parts"] if part["type"] == "notice"]
    assert codes == ["projected"]
    assert [member["kind"] for member in (await owner.channel(name))["members"]] == ["agent", "peer", "peer"]
    await room.ask("@alice hello", by="alice")
    assert [one["author"] for one in (await ann.call("read", room=name, timeout=0))["messages"]] == ["user", "alice"]
    preview = await owner.request("message/preview", channelId=room.id, text=f"@{ann.name} hello")
    assert [note["code"] for note in preview["notes"]] == ["peer"]
    await room.close()
