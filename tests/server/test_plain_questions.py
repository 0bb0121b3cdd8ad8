"""A plain LSP client is asked what agents ask beside permissions: to sign in, to fill in forms, about a silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.conftest import socket_of
from tests.server.test_plain_client import buttons, press, question
from tests.support.conditions import posted
from tests.support.room import text_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import attached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.client import Client
    from tests.support.room import Room
    from tests.support.wire import Wire

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio
AGENTS = {
    "signs": "--auth agent,terminal,env_var --auth-required prompt",
    "again": "--auth agent,terminal,env_var --auth-required prompt",
    "asks": "",
}


@pytest.fixture(scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> BridgeSandbox:
    channels = {name: [name] for name in AGENTS}
    return BridgeSandbox(tmp_path_factory.mktemp("plain"), AGENTS, channels, limits={"turnSilence": "1s"})


@pytest.fixture
async def plain(box: BridgeSandbox, owner: Client) -> AsyncIterator[Wire]:
    async with attached(socket_of(box)) as client:
        await client.shake_hands(sidekicks=None)
        await client.alive()
        yield client
    await owner.state()


async def told(plain: Wire, number: int = 1) -> JSON:
    """The ``number``-th message that the client was given to show."""

    def found() -> JSON | None:
        shown = plain.events("window/showMessage")
        return shown[number - 1] if len(shown) >= number else None

    message: JSON = await plain.until(found)
    return message


async def ends(room: Room, agent: str) -> JSON:
    return await room.client.until(posted(agent, channel=room.id, late=True))


async def test_signing_in(plain: Wire, owner: Client) -> None:
    room = await owner.open("signs")
    answer = await room.ask("hello", by="signs")
    assert answer["turn"]["error"]["code"] == "agentAuthRequired"
    asked = await question(plain)
    assert asked["params"]["message"].startswith("Agent signs wants you to sign in first")
    by_agent, _by_terminal, _by_variable = buttons(asked)
    await press(plain, asked, by_agent)
    assert (await told(plain))["message"] == "Signed in to @signs. What had failed is tried again."
    assert text_of(await ends(room, "signs")) == "signs heard: hello"


async def test_ways_that_need_more_than_a_button(plain: Wire, owner: Client) -> None:
    room = await owner.open("again")
    for number, says in ((1, "sidekicks agents signin again --method 'terminal'"), (2, "FAKE_AGENT_KEY")):
        await room.ask("hello", by="again")
        asked = await question(plain, number)
        await press(plain, asked, buttons(asked)[number])
        shown = await told(plain, number)
        assert shown["type"] == 3
        assert says in shown["message"]
    await owner.request("agent/authenticate", agent="again", methodId="agent")
    await room.quiet()


async def test_a_form_of_one_choice_is_a_row_of_buttons(plain: Wire, owner: Client) -> None:
    room = await owner.open("asks")
    choice = '{"type":"object","properties":{"tint":{"type":"string","enum":["red","blue"]}}}'
    params = f'{{"mode":"form","message":"Which?","requestedSchema":{choice}}}'
    sent = await room.send(f"!request elicitation/create {params}")
    asked = await question(plain)
    assert asked["params"]["message"] == "@asks asks in #asks: Which?"
    assert buttons(asked) == ["red", "blue", "Decline"]
    await press(plain, asked, "blue")
    said = text_of(await room.answer(sent, by="asks"))
    assert '{"action": "accept", "content": {"tint": "blue"}}' in said


async def test_a_longer_form_says_where_it_is_filled_in(plain: Wire, owner: Client) -> None:
    room = await owner.open("asks")
    sent = await room.send("!elicit form Who")
    asked = await question(plain)
    assert "sidekicks chat '#asks'" in asked["params"]["message"]
    assert buttons(asked) == ["Decline"]
    await press(plain, asked, "Decline")
    assert '"action": "decline"' in text_of(await room.answer(sent, by="asks"))


async def test_a_page_is_shown_whole(plain: Wire, owner: Client) -> None:
    room = await owner.open("asks")
    sent = await room.send("!elicit url Go")
    asked = await question(plain)
    assert asked["params"]["message"].splitlines()[1] == "https://example.com/sign-in?code=1"
    assert buttons(asked) == ["Done", "Decline"]
    await press(plain, asked, "Done")
    assert '"action": "accept"' in text_of(await room.answer(sent, by="asks"))


async def test_an_answer_elsewhere_closes_the_form(plain: Wire, owner: Client) -> None:
    room = await owner.open("asks")
    sent = await room.send("!elicit form Who")
    asked = await question(plain)
    (form,) = (await owner.state())["elicitations"]
    await owner.request("elicitation/answer", requestId=form["requestId"], action="decline")
    await plain.until(lambda: {"id": asked["id"]} in plain.events("$/cancelRequest"))
    await room.answer(sent, by="asks")


async def test_a_silence_is_asked_about(plain: Wire, owner: Client) -> None:
    room = await owner.open("asks")
    await room.send("!hang")
    asked = await question(plain)
    assert asked["params"]["message"] == "#asks: @asks has said nothing for 1 second. Wait on?"
    await press(plain, asked, "Stop the turn")
    assert (await ends(room, "asks"))["turn"]["stopReason"] == "cancelled"


async def test_what_is_open_already_is_asked_at_once(box: BridgeSandbox, owner: Client) -> None:
    room = await owner.open("asks")
    sent = await room.send("!elicit form Who")
    await room.turn("asks", "awaitingPermission")
    async with attached(socket_of(box)) as late:
        await late.shake_hands(sidekicks=None)
        asked = await question(late)
        await press(late, asked, "Decline")
        await room.answer(sent, by="asks")
