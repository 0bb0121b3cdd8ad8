"""What the contract says, of both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import Prompt
from sidekicks_bridge.store.contract import (
    DeleteChannel,
    DeleteMember,
    EndTurn,
    PutChannel,
    PutMember,
    PutMessage,
    PutPrompt,
    PutTurn,
    PutValue,
    RemoveMessage,
    Store,
)
from tests.store.make import AT, channel, member, text_message, turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio


async def ten_messages(store: Store) -> None:
    await store.write(*(PutMessage(text_message(f"m{seq}", seq=seq)) for seq in range(1, 11)))


async def test_channels_keep_the_order_of_creation(store: Store) -> None:
    await store.write(PutChannel(channel("b", "one")), PutChannel(channel("a", "two")))
    await store.write(PutChannel(channel("b", "renamed")))
    assert await store.channels() == [channel("b", "renamed"), channel("a", "two")]


async def test_members_keep_the_order_in_which_they_joined(store: Store) -> None:
    await store.write(*(PutMember(member(name)) for name in ("bob", "alice", "carol")), PutMember(member("dan", "c2")))
    bob = member("bob", cursor=7)
    bob.heard = [9, 11]
    bob.options = {"thinking": True, "effort": "high"}
    await store.write(PutMember(bob), DeleteMember("c1", "alice"))
    assert await store.members("c1") == [bob, member("carol")]
    await store.write(PutMember(member("alice")))
    assert [each.name for each in await store.members("c1")] == ["bob", "carol", "alice"]


@pytest.mark.parametrize(
    ("asked", "seqs", "has_more"),
    [
        ({"limit": 3}, [8, 9, 10], True),
        ({"limit": 10}, list(range(1, 11)), False),
        ({"before": 4, "limit": 2}, [2, 3], True),
        ({"before": 3, "limit": 2}, [1, 2], False),
        ({"before": 1}, [], False),
        ({"after": 7, "limit": 2}, [8, 9], True),
        ({"after": 8, "limit": 2}, [9, 10], False),
        ({"after": 10}, [], False),
        ({"after": 0, "limit": 1}, [1], True),
        ({"after": 2, "before": 5}, [3, 4], False),
    ],
)
async def test_pages(store: Store, asked: dict[str, int], seqs: list[int], has_more: bool) -> None:
    await ten_messages(store)
    await store.write(PutMessage(text_message("q")), PutMessage(text_message("other", channel="c2", seq=5)))
    page = await store.page("c1", **asked)
    assert ([each.seq for each in page.messages], page.has_more) == (seqs, has_more)


async def test_an_empty_channel(store: Store) -> None:
    page = await store.page("nowhere")
    assert (page.messages, page.has_more) == ([], False)
    assert await store.last_seq("nowhere") == 0
    assert await store.unread("nowhere", 0) == 0
    assert await store.message("nothing") is None
    assert await store.part("nothing", 0) is None
    assert await store.prompt("nothing") is None
    assert await store.value("nothing") is None


async def test_a_queued_message_gets_its_seq_later(store: Store) -> None:
    await store.write(PutMessage(text_message("m2")), PutMessage(text_message("m1")))
    assert [each.id for each in await store.queued("c1")] == ["m1", "m2"]
    assert await store.last_seq("c1") == 0
    assert await store.message("m2") == text_message("m2")
    await store.write(PutMessage(text_message("m2", seq=1)))
    assert [each.id for each in await store.queued("c1")] == ["m1"]
    assert (await store.page("c1")).messages == [text_message("m2", seq=1)]
    assert await store.message("m2") == text_message("m2", seq=1)


async def test_a_queued_message_is_removed_without_trace_and_a_finished_one_is_not(store: Store) -> None:
    await store.write(PutMessage(text_message("m1")), PutMessage(text_message("m2", seq=1)))
    await store.write(RemoveMessage("m1"), RemoveMessage("m2"), RemoveMessage("nothing"))
    assert await store.queued("c1") == []
    assert await store.message("m1") is None
    assert await store.message("m2") is not None


async def test_a_message_is_replaced_in_place(store: Store) -> None:
    await ten_messages(store)
    await store.write(PutMessage(text_message("m3", "changed", seq=3)))
    page = await store.page("c1")
    assert [each.seq for each in page.messages] == list(range(1, 11))
    assert page.messages[2].parts == [TextPart(text="changed")]


async def test_unread_counts_what_agents_and_peers_said(store: Store) -> None:
    authors = ["user", "alice", "system", "peer:ann", "bob", "user"]
    await store.write(
        *(PutMessage(text_message(f"m{seq}", seq=seq, author=author)) for seq, author in enumerate(authors, 1))
    )
    assert [await store.unread("c1", after) for after in range(7)] == [3, 3, 2, 2, 1, 0, 0]
    assert await store.last_seq("c1") == 6


async def test_turns_stay_until_they_end(store: Store) -> None:
    await store.write(PutTurn(turn("t2")), PutTurn(turn("t1", "c2")), PutTurn(turn("t3")))
    started = msgspec.structs.replace(turn("t2"), started_at=AT, command="/plan x")
    await store.write(PutTurn(started), EndTurn("t3"), EndTurn("nothing"))
    assert await store.turns() == [turn("t1", "c2"), started]


async def test_prompts_are_kept_until_they_are_dropped(store: Store) -> None:
    prompt = Prompt(blocks=[{"type": "text", "text": "hi"}], session="fresh", unseen=3, cut=1)
    await store.write(PutPrompt("m1", "2026-01-01T00:00:00.000Z", prompt), PutPrompt("m2", AT, prompt))
    assert await store.prompt("m1") == prompt
    await store.drop_prompts("2026-02-01T00:00:00.000Z")
    assert await store.prompt("m1") is None
    assert await store.prompt("m2") == prompt


async def test_values(store: Store) -> None:
    await store.write(
        PutValue("commands/alice", [{"name": "plan"}]), PutValue("commands/bob", []), PutValue("x%_", {"a": 1.5})
    )
    assert await store.value("commands/alice") == [{"name": "plan"}]
    assert await store.values("commands/") == {"commands/alice": [{"name": "plan"}], "commands/bob": []}
    assert await store.values("x%_") == {"x%_": {"a": 1.5}}
    assert await store.values("_") == {}
    await store.write(PutValue("commands/bob", None), PutValue("commands/alice", True))
    assert await store.values("") == {"commands/alice": True, "x%_": {"a": 1.5}}


async def test_a_deleted_channel_leaves_nothing_and_takes_nothing_else(store: Store) -> None:
    prompt = Prompt(blocks=[], session="fresh", unseen=0, cut=0)
    for name in ("c1", "c2"):
        await store.write(
            PutChannel(channel(name)),
            PutMember(member("alice", name)),
            PutMessage(text_message(f"{name}m", "needle", channel=name, seq=1, author="alice")),
            PutMessage(text_message(f"{name}q", "needle", channel=name)),
            PutTurn(turn(f"{name}t", name)),
            PutPrompt(f"{name}m", AT, prompt),
        )
    await store.write(DeleteChannel("c1"))
    assert await store.channels() == [channel("c2")]
    assert (await store.members("c1"), await store.queued("c1")) == ([], [])
    assert ((await store.page("c1")).messages, await store.message("c1m"), await store.message("c1q")) == (
        [],
        None,
        None,
    )
    assert [each.id for each in await store.turns()] == ["c2t"]
    assert (await store.prompt("c1m"), await store.prompt("c2m")) == (None, prompt)
    hits = await store.search("needle", channel_id=None, author=None, limit=9)
    assert [hit.message.id for hit in hits] == ["c2m"]


async def test_all_changes_of_a_write_or_none(store: Store) -> None:
    """A second message with the same seq is a mistake of ours: the whole write is refused, later ones work."""
    await store.write(PutMessage(text_message("m1", seq=1)))
    with pytest.raises(Exception, match="UNIQUE"):
        await store.write(PutValue("k", 1), PutMessage(text_message("m2", seq=1)))
    assert await store.value("k") is None
    await store.write(PutValue("k", 2))
    assert await store.value("k") == 2


async def test_a_write_keeps_what_was_said_at_the_call(store: Store) -> None:
    streaming = text_message("m1", "so far", seq=1)
    writing = store.write(PutMessage(streaming))
    write = writing.__await__()
    next(write)  # it has begun and waits for the disk
    assert isinstance(streaming.parts[0], TextPart)
    streaming.parts[0].text = "and more"
    write.close()  # nobody waits for it any longer: it is applied all the same
    await store.write(PutValue("later", 1))
    kept = await store.message("m1")
    assert kept is not None
    assert kept.parts == [TextPart(text="so far")]


async def test_nothing_to_write_is_written_at_once(store: Store) -> None:
    await store.write()


CALLS: list[Callable[[Store], Awaitable[Any]]] = [
    lambda store: store.write(PutValue("k", 1)),
    lambda store: store.write(),
    lambda store: store.channels(),
    lambda store: store.members("c"),
    lambda store: store.page("c"),
    lambda store: store.queued("c"),
    lambda store: store.turns(),
    lambda store: store.message("m"),
    lambda store: store.part("m", 0),
    lambda store: store.prompt("m"),
    lambda store: store.last_seq("c"),
    lambda store: store.unread("c", 0),
    lambda store: store.search("word", channel_id=None, author=None, limit=1),
    lambda store: store.value("k"),
    lambda store: store.values("k"),
    lambda store: store.drop_prompts(AT),
]


async def test_after_close_every_method_says_so(store: Store) -> None:
    await store.close()
    await store.close()
    for call in CALLS:
        with pytest.raises(SidekicksError) as caught:
            await call(store)
        assert caught.value.code == "storeClosed"
