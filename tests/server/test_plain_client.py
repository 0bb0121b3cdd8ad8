"""A plain LSP client, which says nothing of sidekicks: permission questions reach it as message dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.conftest import socket_of
from tests.support.conditions import happened
from tests.support.room import text_of
from tests.support.wire import attached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.client import Client
    from tests.support.room import Room
    from tests.support.sandbox import BridgeSandbox
    from tests.support.wire import Wire

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio

QUESTION = "window/showMessageRequest"


@pytest.fixture
async def plain(box: BridgeSandbox, owner: Client) -> AsyncIterator[Wire]:
    async with attached(socket_of(box)) as client:
        await client.shake_hands(sidekicks=None)
        await client.alive()
        yield client
    await owner.state()


@pytest.fixture
async def room(owner: Client) -> AsyncIterator[Room]:
    name = f"plain-{len((await owner.state())['channels'])}"
    made = await owner.request("channel/create", name=name, members=["alice"])
    room = await owner.open_id(made["id"])
    yield room
    await room.quiet()


async def question(client: Wire, number: int = 1) -> JSON:
    """The whole message of the client's ``number``-th dialog."""

    def found() -> JSON | None:
        asked = [message for message in client.received if message.get("method") == QUESTION]
        return asked[number - 1] if len(asked) >= number else None

    asked: JSON = await client.until(found)
    return asked


def buttons(asked: JSON) -> list[str]:
    return [action["title"] for action in asked["params"]["actions"]]


async def press(client: Wire, asked: JSON, title: str | None) -> None:
    """Press a button; None: close the dialog."""
    result = None if title is None else {"title": title}
    await client.say({"jsonrpc": "2.0", "id": asked["id"], "result": result})


async def test_a_question_names_who_asks_where_and_what(plain: Wire, room: Room) -> None:
    sent = await room.send("@alice !permit Write-the-file")
    asked = await question(plain)
    assert asked["params"]["type"] == 2
    assert asked["params"]["message"].startswith(f"@alice asks in #{room.channel['name']}: Write-the-file")
    assert len(buttons(asked)) >= 2
    await press(plain, asked, buttons(asked)[0])
    answer = await room.answer(sent, by="alice")
    assert text_of(answer).startswith("permit Write-the-file: ")
    assert "cancelled" not in text_of(answer)
    assert [event["method"] for event in plain.received if event.get("method", "").startswith("sidekicks/")] == []


async def test_each_button_is_its_option(plain: Wire, room: Room) -> None:
    for number, index in ((1, 0), (2, 1)):
        sent = await room.send("@alice !permit it ids=allow,reject")
        asked = await question(plain, number)
        await press(plain, asked, buttons(asked)[index])
        said = text_of(await room.answer(sent, by="alice"))
        assert said == f"permit it: {['allow', 'reject'][index]}\n"


async def test_buttons_of_one_name_are_told_apart(plain: Wire, room: Room) -> None:
    """A dialog answers by its button's title, so two of the same title would be one."""
    sent = await room.send("@alice !permit it ids=a:allow_once,b:allow_once")
    asked = await question(plain)
    titles = buttons(asked)
    assert len(set(titles)) == 2
    await press(plain, asked, titles[1])
    assert text_of(await room.answer(sent, by="alice")) == "permit it: b\n"


async def test_an_answer_elsewhere_closes_the_dialog(plain: Wire, room: Room, owner: Client) -> None:
    sent = await room.send("@alice !permit it")
    asked = await question(plain)
    (permission,) = (await owner.state())["permissions"]
    option = permission["options"][0]["optionId"]
    await owner.request("permission/answer", requestId=permission["requestId"], optionId=option)
    await plain.until(lambda: {"id": asked["id"]} in plain.events("$/cancelRequest"))
    await room.answer(sent, by="alice")
    await press(plain, asked, buttons(asked)[0])
    await plain.alive()


async def test_the_answer_of_a_dialog_closes_no_dialog(plain: Wire, room: Room) -> None:
    """`$/cancelRequest` is for a question that is open; this one was answered by this client."""
    sent = await room.send("@alice !permit it")
    asked = await question(plain)
    await press(plain, asked, buttons(asked)[0])
    await room.answer(sent, by="alice")
    await plain.alive()
    assert plain.events("$/cancelRequest") == []


async def test_closing_a_dialog_leaves_the_question_to_others(plain: Wire, room: Room, owner: Client) -> None:
    sent = await room.send("@alice !permit it")
    await press(plain, await question(plain), None)
    await plain.alive()
    (permission,) = (await owner.state())["permissions"]
    option = permission["options"][0]["optionId"]
    answer = await owner.request("permission/answer", requestId=permission["requestId"], optionId=option)
    assert answer == {"accepted": True}
    await room.answer(sent, by="alice")


@pytest.mark.parametrize("answer", [{"result": 1}, {"result": {"title": 5}}, {"result": []}, {"error": {"code": 1}}])
async def test_a_senseless_answer_is_no_answer(plain: Wire, room: Room, owner: Client, answer: JSON) -> None:
    sent = await room.send("@alice !permit it")
    asked = await question(plain)
    await plain.say({"jsonrpc": "2.0", "id": asked["id"], **answer})
    await plain.alive()
    await owner.state()
    (permission,) = (await owner.state())["permissions"]
    await owner.request("permission/answer", requestId=permission["requestId"])
    await room.answer(sent, by="alice")


async def test_a_question_that_is_open_already_is_asked_at_once(box: BridgeSandbox, owner: Client, room: Room) -> None:
    sent = await room.send("@alice !permit it ids=allow,reject")
    await owner.until(happened("permission/requested", lambda params: params["channelId"] == room.id))
    async with attached(socket_of(box)) as late:
        await late.shake_hands(sidekicks=None)
        asked = await question(late)
        await press(late, asked, buttons(asked)[0])
        assert text_of(await room.answer(sent, by="alice")) == "permit it: allow\n"


async def test_a_client_that_leaves_with_an_open_dialog(box: BridgeSandbox, owner: Client, room: Room) -> None:
    async with attached(socket_of(box)) as passing:
        await passing.shake_hands(sidekicks=None)
        await passing.alive()
        sent = await room.send("@alice !permit it")
        await question(passing)
    (permission,) = (await owner.state())["permissions"]
    await owner.request("permission/answer", requestId=permission["requestId"])
    await room.answer(sent, by="alice")
