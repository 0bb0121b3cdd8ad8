"""What two clients of one bridge share: messages and their order, drafts, read marks, permission questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.support.conditions import happened, permission, posted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.bed import Bed
    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio


@pytest.fixture
async def other(bed: Bed) -> AsyncIterator[Client]:
    """A second client on the bed's bridge: a `serve` of its own, which relays."""
    async with bed.box.bridge() as client:
        yield client


async def both(bed: Bed, other: Client, *members: str) -> tuple[Room, Room]:
    """One channel, opened by both."""
    room = await bed.room(*members)
    return room, await other.open_id(room.id)


async def test_a_draft_reaches_the_other_client_and_the_next_one(bed: Bed, other: Client) -> None:
    here, there = await both(bed, other, "alice")
    await here.request("draft/set", text="half a thou")
    changed = await other.until(happened("draft/changed"))
    assert changed == {"channelId": here.id, "text": "half a thou"}
    assert bed.client.of("draft/changed") == []  # whoever writes is not told what it wrote
    await there.request("draft/set", text="half a thou")  # nothing new
    await there.request("draft/set", text="half a thought")
    assert (await bed.client.until(happened("draft/changed")))["text"] == "half a thought"
    assert (await bed.client.open_id(here.id)).snapshot["draft"] == "half a thought"
    await there.request("draft/set", text="")
    await bed.client.until(happened("draft/changed", lambda params: not params["text"]))
    assert "draft" not in (await other.open_id(here.id)).snapshot


async def test_a_draft_that_is_sent_is_a_draft_no_more(bed: Bed, other: Client) -> None:
    here, _ = await both(bed, other, "alice")
    await here.request("draft/set", text="!say hello")
    await other.until(happened("draft/changed"))
    await here.ask("!say hello", by="alice")
    assert (await other.until(happened("draft/changed", lambda params: not params["text"])))["channelId"] == here.id
    await here.request("draft/set", text="the next")
    await here.ask("!say something else", by="alice")
    assert (await other.open_id(here.id)).snapshot["draft"] == "the next"


async def test_reading_in_one_client_is_reading_in_all(bed: Bed, other: Client) -> None:
    here, _ = await both(bed, other, "alice")
    answer = await here.ask("!say hello", by="alice")

    def unread(count: int) -> Any:
        return happened(
            "channels/changed",
            lambda params: any(one["id"] == here.id and one["unread"] == count for one in params["channels"]),
        )

    await other.until(unread(1))
    await here.request("channel/markRead", seq=answer["seq"])
    await other.until(unread(0))
    assert next(one for one in (await other.state())["channels"] if one["id"] == here.id)["unread"] == 0


@pytest.mark.parametrize("text", ["@alice !say hello", "@alcie hello"], ids=["answered", "to nobody"])
async def test_the_sender_knows_its_own_message_before_it_is_answered(bed: Bed, other: Client, text: str) -> None:
    here, there = await both(bed, other, "alice")
    sent = await here.send(text, clientToken="mine-1")
    first = next(params for params in bed.client.of("message/updated") if params["channelId"] == here.id)
    assert first["clientToken"] == "mine-1"
    assert first["message"]["id"] == sent["messageId"]
    assert await here.send(text, clientToken="mine-1") == sent  # and nothing is sent twice
    await other.until(posted("user", channel=here.id))
    await here.quiet()
    await there.quiet()
    for client in (bed.client, other):
        told = [params for params in client.of("message/updated") if params["channelId"] == here.id]
        assert [params.get("clientToken") for params in told if "clientToken" in params] == ["mine-1"]
        users = {params["message"]["id"] for params in told if params["message"]["author"]["kind"] == "user"}
        assert users == {sent["messageId"]}
    assert all("clientToken" not in message for message in (await other.open_id(here.id)).messages)


async def test_the_first_answer_to_a_permission_wins(bed: Bed, other: Client) -> None:
    here, there = await both(bed, other, "alice")
    sent = await here.send("!permit do it")
    asked = await bed.client.until(permission(by="alice"))
    assert (await other.until(permission(by="alice")))["requestId"] == asked["requestId"]
    answers: list[bool] = []

    async def answer(client: Client, option: str) -> None:
        reply = await client.request("permission/answer", requestId=asked["requestId"], optionId=option)
        answers.append(reply["accepted"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, bed.client, "allow")
        tasks.start_soon(answer, other, "reject")
    assert sorted(answers) == [False, True]
    outcomes = [
        await client.until(happened("permission/resolved", lambda params: params["requestId"] == asked["requestId"]))
        for client in (bed.client, other)
    ]
    assert outcomes[0] == outcomes[1]
    await here.answer(sent, by="alice")
    await there.quiet()
    assert here.snapshot["permissions"] == there.snapshot["permissions"] == []
