"""What the bridge will not do: the code is right, and the sentence names what was asked and what to do instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.conditions import permission

if TYPE_CHECKING:
    from tests.support.client import Client

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio

NOBODY = "01AAAAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    ("method", "params", "kind", "named"),
    [
        ("channel/open", {"channelId": NOBODY}, "channelNotFound", [NOBODY]),
        ("channel/update", {"channelId": NOBODY, "name": "x"}, "channelNotFound", [NOBODY]),
        ("message/send", {"channelId": NOBODY, "text": "hi"}, "channelNotFound", [NOBODY]),
        ("message/list", {"channelId": NOBODY}, "channelNotFound", [NOBODY]),
        ("turn/cancel", {"channelId": NOBODY}, "channelNotFound", [NOBODY]),
        ("channel/direct", {"agent": "nemo"}, "agentNotFound", ["nemo"]),
        ("agent/start", {"agent": "nemo"}, "agentNotFound", ["nemo"]),
        ("agent/logs", {"agent": ""}, "agentNotFound", []),
        ("channel/create", {"name": "x1", "members": ["nemo"]}, "agentNotFound", ["nemo"]),
        ("channel/create", {"name": "general"}, "channelExists", ["general"]),
        ("channel/create", {"name": "GENERAL"}, "channelExists", ["general"]),
        ("channel/create", {"name": "a b"}, "invalidName", ["a b"]),
        ("channel/create", {"name": "all"}, "invalidName", ["all"]),
        ("channel/create", {"name": ""}, "invalidName", []),
        ("channel/create", {"name": "x" * 500}, "invalidName", []),
        ("message/part", {"messageId": NOBODY, "part": 0}, "messageNotFound", [NOBODY]),
        ("message/prompt", {"messageId": NOBODY}, "messageNotFound", []),
        ("message/remove", {"messageId": NOBODY}, "messageNotFound", []),
        ("turn/retry", {"messageId": NOBODY}, "messageNotFound", [NOBODY]),
        ("permission/rules", {}, "notSupported", []),
    ],
)
async def test_what_does_not_exist_is_named(
    owner: Client, method: str, params: JSON, kind: str, named: list[str]
) -> None:
    refusal = await owner.refused(method, params)
    assert refusal.kind == kind
    assert refusal.code in (-32803, -32602)
    for name in named:
        assert name.lower() in refusal.message.lower()
    assert refusal.message.rstrip().endswith((".", "?", ")"))
    assert await owner.state()


async def test_a_rename_onto_an_existing_name(owner: Client) -> None:
    made = await owner.request("channel/create", name="first")
    await owner.request("channel/create", name="second")
    for name in ("second", "Second"):
        refusal = await owner.refused("channel/update", channelId=made["id"], name=name)
        assert refusal.kind == "channelExists"
        assert "second" in refusal.message.lower()
    renamed = await owner.request("channel/update", channelId=made["id"], name="First")
    assert renamed["name"] == "First"


async def test_an_unknown_option_leaves_the_question_open(owner: Client) -> None:
    room = await owner.open("general")
    sent = await room.send("@alice !permit do it")
    asked = await owner.until(permission(by="alice"))
    refusal = await owner.refused("permission/answer", requestId=asked["requestId"], optionId="nonsense")
    assert (refusal.code, refusal.kind) == (-32602, "invalidParams")
    assert "nonsense" in refusal.message
    assert asked["options"][0]["optionId"] in refusal.message
    assert [one["requestId"] for one in (await owner.state())["permissions"]] == [asked["requestId"]]
    await owner.request("permission/answer", requestId=asked["requestId"])
    await room.answer(sent, by="alice")
    late = await owner.request("permission/answer", requestId=asked["requestId"], optionId="nonsense")
    assert late == {"accepted": False}
    assert await owner.request("permission/answer", requestId=NOBODY) == {"accepted": False}


async def test_a_delete_wants_the_name(owner: Client) -> None:
    made = await owner.request("channel/create", name="precious")
    for confirm in ("", "precious ", "other"):
        refusal = await owner.refused("channel/delete", channelId=made["id"], confirm=confirm)
        assert refusal.kind == "confirmationMissing"
        assert "precious" in refusal.message
    await owner.request("channel/delete", channelId=made["id"], confirm="precious")
    assert (await owner.refused("channel/open", channelId=made["id"])).kind == "channelNotFound"
