"""Who asks: registration, leases, signatures, replays, names; over the wire."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401  # loaded before a test hides its insides
import pytest

from sidekicks_bridge.mail.checking import Replays
from sidekicks_bridge.mail.signing import PrivateKey, payload
from tests.mail.world import PeerClient, peers, said
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def raw(peer: PeerClient, verb: str, params: dict[str, Any]) -> str:
    """The code with which parameters, as they are, are refused."""
    return await peer.refusal(await peer.wire.ask(f"sidekicks/mail/{verb}", params))


async def test_a_request_counts_once(ann: PeerClient, bob: PeerClient) -> None:
    params = ann.sign("tell", {"peer": bob.name, "body": "once"})
    await ann.result(await ann.wire.ask("sidekicks/mail/tell", params))
    assert await raw(ann, "tell", params) == "unauthorized"
    assert len((await bob.call("peek", peer=ann.name))["messages"]) == 1


async def test_a_signature_is_for_one_method_and_its_parameters(ann: PeerClient, bob: PeerClient) -> None:
    peek = ann.sign("peek", {"peer": bob.name})
    assert await raw(ann, "history", peek) == "unauthorized"
    tell = ann.sign("tell", {"peer": bob.name, "body": "x"})
    assert await raw(ann, "tell", {**tell, "body": "y"}) == "unauthorized"
    for field, value in (("time", "2026-01-01T00:00:00Z"), ("nonce", "other"), ("signature", "00" * 64)):
        assert await raw(ann, "tell", {**tell, "auth": {**tell["auth"], field: value}}) == "unauthorized"
    assert await raw(ann, "tell", {**tell, "auth": {**tell["auth"], "signature": "no hex"}}) == "unauthorized"


@pytest.mark.parametrize("time", ["2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"])
async def test_a_time_far_from_now(ann: PeerClient, bob: PeerClient, time: str) -> None:
    params = {"peer": bob.name}
    signature = ann.key.sign(payload("sidekicks/mail/peek", params, ann.name, time, "n"))
    auth = {"name": ann.name, "time": time, "nonce": "n", "signature": signature}
    assert await raw(ann, "peek", {**params, "auth": auth}) == "unauthorized"


async def test_times_and_nonces_that_are_none(ann: PeerClient) -> None:
    good = ann.sign("rooms", {})
    for field, value in (("time", "yesterday"), ("time", "2026-11-30T12:00:00"), ("nonce", ""), ("nonce", "x" * 200)):
        assert await raw(ann, "rooms", {"auth": {**good["auth"], field: value}}) == "invalidParams"


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("nonce", "n\nfrom: mallory", "invalidParams"),
        ("nonce", "n\u2028", "invalidParams"),
        ("nonce", "n" * 129, "invalidParams"),
        ("time", "{}\n{}", "invalidParams"),
        ("signature", "{}\n", "unauthorized"),
        ("signature", " {}", "unauthorized"),
    ],
)
async def test_nothing_signed_can_forge_a_line_of_the_transcript(
    ann: PeerClient, bob: PeerClient, field: str, value: str, code: str
) -> None:
    params = ann.sign("tell", {"peer": bob.name, "body": "x"})
    auth = params["auth"]
    auth[field] = value.format(*auth[field].split("T")) if field == "time" else value.format(auth[field])
    if field != "signature":
        content = payload("sidekicks/mail/tell", {"peer": bob.name, "body": "x"}, ann.name, auth["time"], auth["nonce"])
        auth["signature"] = ann.key.sign(content)
    assert await raw(ann, "tell", params) == code


def test_a_clock_that_is_set_back() -> None:
    replays = Replays(began=1000.0)
    assert replays.problem("key", "one", 1010.0, 1010.0) is None
    assert replays.problem("key", "two", 400.0, 400.0) is None, "the clock was ten minutes fast"
    assert replays.problem("key", "old", 399.0, 400.0) is not None, "what was signed before that is old"
    assert replays.problem("key", "one", 1010.0, 400.0) is not None
    assert replays.problem("key", "two", 400.0, 401.0) is not None


async def test_nobody_and_others_names(ann: PeerClient, bob: PeerClient) -> None:
    assert await raw(ann, "rooms", {}) == "unauthorized"
    assert await raw(ann, "rooms", {"token": "made up"}) == "unauthorized"
    assert await raw(ann, "rooms", ann.sign("rooms", {}, name=bob.name)) == "unauthorized"
    assert await raw(ann, "rooms", ann.sign("rooms", {}, name="stranger")) == "unauthorized"


@pytest.mark.parametrize("name", ["x/../alice", "a--b", "CON", "n" * 300, "alice ", "", "user", "system", "all", "é"])
async def test_one_rule_for_names(ann: PeerClient, name: str) -> None:
    params = ann.sign("register", {"key": ann.key.public}, name=name)
    assert await raw(ann, "register", params) == "invalidName"
    assert await ann.refused("createRoom", room=name) == "invalidName"


async def test_names_that_are_taken(ann: PeerClient, bob: PeerClient) -> None:
    for name in ("alice", "ALICE", bob.name, bob.name.upper()):
        params = ann.sign("register", {"key": ann.key.public}, name=name)
        assert await raw(ann, "register", params) == "nameTaken"
    assert (await ann.register())["name"] == ann.name, "again with the same key: the lease runs anew"


async def test_a_registration_is_signed_by_its_key(ann: PeerClient, bob: PeerClient) -> None:
    assert await raw(ann, "register", ann.sign("register", {"key": bob.key.public}, name="fresh")) == "unauthorized"
    assert await raw(ann, "register", {"key": ann.key.public}) == "unauthorized"
    assert await raw(ann, "register", ann.sign("register", {"key": "12"}, name="fresh")) == "invalidParams"


async def test_another_key_is_another_peer(ann: PeerClient, bob: PeerClient) -> None:
    """What waited for the one before is not the newcomer's mail; a replaced key is an error, never an empty success."""
    await ann.call("tell", peer=bob.name, body="for the first bob")
    former, bob.key = bob.key, PrivateKey(b"another key of the same size 123")
    assert await bob.refused("read", peer=ann.name, timeout=0) == "unauthorized"
    bob.key = former
    await bob.call("unregister")
    assert await bob.refused("read", peer=ann.name, timeout=0) == "unauthorized"
    assert await ann.refused("tell", peer=bob.name, body="x") == "peerNotFound"
    bob.key = PrivateKey(b"another key of the same size 123")
    await bob.register()
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == []
    await ann.call("tell", peer=bob.name, body="for the second bob")
    assert said(await bob.call("read", peer=ann.name, timeout=0)) == ["for the second bob"]


async def test_unregistering_ends_a_wait(ann: PeerClient, bob: PeerClient) -> None:
    waiting = await bob.ask("read", peer=ann.name, timeout=10_000)
    await bob.call("unregister")
    assert await bob.refusal(waiting) == "closed"


async def test_everybody_who_can_be_written_to(ann: PeerClient) -> None:
    found = (await ann.call("agents"))["participants"]
    assert [one["name"] for one in found if one["kind"] == "agent"] == ["alice", "bob"]
    assert ann.name in [one["name"] for one in found if one["kind"] == "peer" and one["expiresAt"]]
    lease = await ann.call("renew")
    assert lease["name"] == ann.name


async def test_what_survives_a_restart(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge(), peers(socket_of(box), "ann", "ben") as (ann, ben):
        for number in range(3):
            await ann.call("tell", peer="ben", body=f"m{number}")
        assert said(await ben.call("read", peer="ann", timeout=0)) == ["m0"]
        replayed = ann.sign("tell", {"peer": "ben", "body": "again"})
    async with box.bridge(), peers(socket_of(box)) as _, peers(socket_of(box), "carl") as (carl,):
        ann, ben = PeerClient(carl.wire, "ann"), PeerClient(carl.wire, "ben")
        assert (await ann.call("tell", peer="ben", body="m3"))["seq"] == 4
        history = await ben.call("history", peer="ann")
        assert said(history) == ["m0", "m1", "m2", "m3"]
        assert [said(await ben.call("read", peer="ann", timeout=0))[0] for _ in range(3)] == ["m1", "m2", "m3"]
        refused = await ann.refusal(await ann.wire.ask("sidekicks/mail/tell", replayed))
        assert refused == "unauthorized", "signed before this bridge began"


async def test_a_configuration_that_takes_a_peers_name(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path)
    async with box.bridge() as client, peers(socket_of(box), "carl"):
        box.config["agents"].append(box.agent("carl"))
        box.write_config()
        await client.until(lambda c: next((p for e in c.of("config/changed") for p in e["problems"]), None))
        (problem,) = (await client.state())["config"]["problems"]
        assert "registered peer" in problem["message"]


def test_signing_takes_the_short_way_to_the_library() -> None:
    script = (
        "import sys; from sidekicks_bridge.mail.signing import PrivateKey\n"
        "PrivateKey(b'x' * 32).sign(b''); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    loaded = set(run.stdout.split())
    assert "cryptography.hazmat.bindings._rust" in loaded
    assert not loaded & {"typing", "cryptography.hazmat.primitives.asymmetric.ed25519"}


def test_a_library_that_moved_its_insides_still_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    signature = PrivateKey(b"x" * 32).sign(b"data")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.bindings._rust", None)
    assert PrivateKey(b"x" * 32).sign(b"data") == signature
