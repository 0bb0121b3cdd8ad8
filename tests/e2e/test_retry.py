"""Nothing hangs silently: a question about a silent turn is told from a permission; what ended badly is tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.conditions import permission, posted, streaming
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio


async def test_an_open_permission_is_no_silence_and_news_take_the_question_back(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, limits={"turnSilence": "1s"}, permissions={"default": "reject"})
    async with box.bridge() as client:
        room = await client.open("general")
        await room.send("@alice !hold gate !say done")
        asked = await client.until(permission(by="alice"))
        assert asked["about"] == "silence", "and it is not rejected by the configuration"
        box.gates.open("gate")
        await client.until(posted("alice", "done"))
        assert client.of("permission/resolved")[-1] == {
            "requestId": asked["requestId"],
            "channelId": room.id,
            "outcome": "cancelled",
        }


async def test_what_ended_badly_is_tried_again(bed: Bed) -> None:
    client = bed.client
    room = await bed.room("alice", "bob")
    failed = await room.ask("@alice !say half !crash 3", by="alice")
    await client.request("turn/retry", messageId=failed["id"])
    again = await client.until(posted("alice", stop="failed"))
    assert again["id"] != failed["id"]
    assert again["inReplyTo"] == failed["inReplyTo"]
    whole = await room.ask("@bob hello", by="bob")
    refusal = await client.refused("turn/retry", messageId=whole["id"])
    assert (refusal.code, refusal.message) == (-32602, "@bob answered that in full. Write again instead.")
    assert (await client.refused("turn/retry", messageId=failed["inReplyTo"])).kind == "messageNotFound"
    assert (await client.refused("turn/retry", messageId="nonsense")).kind == "messageNotFound"


async def test_trying_again_twice_is_once(bed: Bed) -> None:
    client = bed.client
    room = await bed.room("alice", "bob")
    await room.send("@alice !say x !hang")
    await client.until(streaming("alice", "x"))
    await room.cancel()
    stopped = await client.until(posted("alice", stop="cancelled"))
    for _ in range(3):
        await client.request("turn/retry", messageId=stopped["id"])
    assert len(room.turns) == 1
    await room.cancel()
    await room.quiet()
    await room.request("channel/remove", agent="alice")
    assert (await client.refused("turn/retry", messageId=stopped["id"])).kind == "notMember"
