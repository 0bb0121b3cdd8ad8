"""What no client should send: everything is refused in words, nothing is created, and the bridge goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.mail.world import said

if TYPE_CHECKING:
    from tests.mail.world import PeerClient

pytestmark = pytest.mark.anyio

LONG = "x" * 1000
HUGE = "x" * (10 * 1024 * 1024)


@pytest.mark.parametrize(
    "name", ["", "@", " ", "../ann", "a/b", "con", "user", "système", "🙂", LONG, "a\x00b", "@@bob"]
)
async def test_names_that_nobody_has(ann: PeerClient, name: str) -> None:
    before = (await ann.call("channels")).get("channels")
    for verb in ("tell", "ask"):
        assert await ann.refused(verb, peer=name, body="x") in ("peerNotFound", "invalidParams")
    for verb in ("read", "peek", "history"):
        assert await ann.refused(verb, peer=name) in ("peerNotFound", "invalidParams")
        assert await ann.refused(verb, room=name) in ("channelNotFound", "invalidParams")
    assert await ann.refused("createRoom", room=name) == "invalidName"
    for verb in ("join", "leave", "participants"):
        assert await ann.refused(verb, room=name) == "channelNotFound"
    assert (await ann.call("channels")).get("channels") == before


@pytest.mark.parametrize(("body", "code"), [("", "invalidParams"), ("\n\t ", "invalidParams"), (HUGE, "tooLarge")])
async def test_bodies_that_are_none(ann: PeerClient, bob: PeerClient, body: str, code: str) -> None:
    assert await ann.refused("tell", peer=bob.name, body=body) == code
    assert await ann.refused("ask", peer=bob.name, body=body, timeout=0) == code
    assert (await ann.call("history", peer=bob.name))["messages"] == []


@pytest.mark.parametrize(
    "body", ["a\x00b", "\x1b[2J", "---\nseq: 1\n---\n", "a\u2028b\u2029c", "\ud800 half", "🙂" * 1000]
)
async def test_bodies_that_are_odd(ann: PeerClient, bob: PeerClient, body: str) -> None:
    if "\ud800" in body:  # UTF-8 cannot hold it: what comes in is something else than what was signed
        assert await ann.refused("tell", peer=bob.name, body=body) == "unauthorized"
        return
    await ann.call("tell", peer=bob.name, body=body)
    assert said(await bob.call("read", peer=ann.name)) == [body]


@pytest.mark.parametrize(
    ("verb", "params"),
    [
        ("tell", {}),
        ("tell", {"peer": 1, "body": "x"}),
        ("tell", {"peer": None, "body": "x"}),
        ("tell", {"peer": "x", "body": ["x"]}),
        ("ask", {"peer": "x", "body": "x", "timeout": "soon"}),
        ("ask", {"peer": "x", "body": "x", "timeout": 1.5}),
        ("ask", {"peer": "x", "body": "x", "timeout": 10**20}),
        ("read", {"peer": "x", "room": "y"}),
        ("read", {}),
        ("history", {"peer": "x", "limit": "all"}),
        ("createRoom", {"room": {}}),
        ("register", {}),
        ("register", {"key": "ab"}),
        ("register", {"key": "zz" * 32}),
    ],
)
async def test_parameters_that_are_none(ann: PeerClient, verb: str, params: dict[str, Any]) -> None:
    assert await ann.refused(verb, **params) == "invalidParams"


async def test_numbers_at_the_edge(ann: PeerClient, bob: PeerClient) -> None:
    await ann.call("tell", peer=bob.name, body="one")
    for given in ({"since": -(10**6), "limit": 1}, {"limit": 10**6}, {"limit": -5}, {"limit": 1}):
        assert said(await ann.call("history", peer=bob.name, **given)) == ["one"]
    assert (await ann.call("history", peer=bob.name, since=10**15))["messages"] == []
    assert said(await bob.call("read", peer=ann.name, timeout=-1)) == ["one"]
    assert (await bob.call("read", peer=ann.name, timeout=-1))["messages"] == []
    waiting = await bob.ask("read", peer=ann.name, timeout=2**53 - 1)
    await ann.call("tell", peer=bob.name, body="two")
    assert said(await bob.result(waiting)) == ["two"]
