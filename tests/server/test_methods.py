"""Every request of the protocol with parameters no client should send: answered, in the shape of an error or a result.

A bug would show as -32603, as a hang, as the end of the connection, or in the bridge's log.
"""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from sidekicks_bridge.protocol.error_codes import ERROR_CODES
from sidekicks_bridge.protocol.methods import METHODS

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.methods import Method
    from tests.support.client import Client
    from tests.support.wire import Wire

    JSON = dict[str, Any]

pytestmark = pytest.mark.anyio

STOP = "sidekicks/bridge/stop"  # does what it says
OURS = [method for method in METHODS if method.side == "bridge" and method.name != STOP]
TEXTS = ["", " ", "nope", "\0", "general", "alice", "..", "/" * 5000, "\U0001f600@alice\n/x", "é" * 3000]
NUMBERS = [0, -1, 1, 2**53 - 1, -(2**53) + 1]
MOST = 60


def values(kind: Any, channel: str) -> list[Any]:
    """Values of the type that mean nothing to the bridge (and some that do)."""
    if get_origin(kind) in (Union, UnionType):
        return [value for choice in get_args(kind) for value in values(choice, channel)]
    if kind is str:
        return [channel, *TEXTS]
    if kind is bool:
        return [True, False]
    if kind is int:
        return NUMBERS
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if kind is type(None):
        return []
    if kind is Any:
        return [None, 1, "x", [], {"jsonrpc": "2.0"}]
    if get_origin(kind) is list:
        return [[], *([value] for value in values(get_args(kind)[0], channel))]
    if get_origin(kind) is dict:
        return [{}, {"name": 1}, {"": [{}]}]
    assert issubclass(kind, msgspec.Struct), kind
    return list(objects(kind, channel))[:5]


def objects(kind: type[msgspec.Struct], channel: str) -> list[JSON]:
    """Parameters of the right types: each field takes each of its values, beside the others' first ones."""
    hints = get_type_hints(kind)
    fields = [(field.encode_name, values(hints[field.name], channel)) for field in msgspec.structs.fields(kind)]
    plain = {name: choices[0] for name, choices in fields}
    return [{**plain, name: value} for name, choices in fields for value in choices][:MOST]


def check(answer: JSON, method: Method, params: object) -> None:
    """The answer is a result, or an error a person can act on."""
    if "error" not in answer:
        msgspec.convert(answer["result"], method.result)
        return
    error = answer["error"]
    assert error["code"] in (-32602, -32803), f"{method.name} {str(params)[:200]}: {error}"
    assert set(error["data"]) == {"code", "retryable", "details"}
    assert error["data"]["code"] in ERROR_CODES
    assert len(error["message"]) > 10
    assert "Traceback" not in error["message"]


@pytest.mark.parametrize("method", OURS, ids=lambda method: method.name.removeprefix("sidekicks/"))
async def test_what_is_missing_or_of_another_type_is_named(client: Wire, method: Method) -> None:
    required = [field.encode_name for field in msgspec.structs.fields(method.params) if field.required]
    nothing: list[JSON | None] = [{}, None]
    for params in nothing:
        answer = await client.call(method.name, params)
        check(answer, method, params)
        if required:
            assert answer["error"]["code"] == -32602
            assert required[0] in answer["error"]["message"]
    for field in msgspec.structs.fields(method.params):
        if field.type is Any:
            continue
        wrong = {**{other.encode_name: "x" for other in msgspec.structs.fields(method.params)}, "jsonrpc": {}}
        wrong[field.encode_name] = {"class": [{"jsonrpc": 1}]}
        error = await client.error(method.name, wrong)
        assert error["code"] == -32602
        assert error["data"]["code"] == "invalidParams"


@pytest.mark.parametrize("method", OURS, ids=lambda method: method.name.removeprefix("sidekicks/"))
async def test_right_types_and_no_sense(client: Wire, owner: Client, method: Method) -> None:
    """All at once, so that they overlap; destroying what the next one asks about is part of it."""
    name = f"m{len(await channels(owner))}"
    channel = await owner.request("channel/create", name=name, members=["alice"])
    given = objects(method.params, channel["id"]) or [{}]
    ids = [await client.ask(method.name, params) for params in given]
    for request_id, params in zip(ids, given, strict=True):
        check(await client.answer(request_id), method, params)
    await client.alive()


async def channels(owner: Client) -> list[JSON]:
    state = await owner.state()
    found: list[JSON] = state["channels"]
    return found


def test_every_method_is_tried_with_a_channel_that_exists() -> None:
    """The table above would be worth little if it only reached the check of the channel's id."""
    given = {method.name: objects(method.params, "THE CHANNEL") for method in OURS}
    with_channel = [name for name, all_ in given.items() if any(p.get("channelId") == "THE CHANNEL" for p in all_)]
    assert len(with_channel) > 15
    assert all(len(all_) <= MOST for all_ in given.values())
    assert sum(map(len, given.values())) > 500
