"""One bridge for each file of tests; peers attach to its socket, each test with names of its own."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.mail.world import PeerClient, peers
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.support.client import Client

_numbers = count(1)


@pytest.fixture(scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> BridgeSandbox:
    return BridgeSandbox(tmp_path_factory.mktemp("bridge"))


@pytest.fixture(scope="module")
async def owner(box: BridgeSandbox) -> AsyncIterator[Client]:
    """The client on the owner's own stdio; at the end the bridge's log must hold no bug."""
    async with box.bridge() as client:
        yield client


@pytest.fixture
async def socket(box: BridgeSandbox, owner: Client) -> str:
    return socket_of(box)


@pytest.fixture
def fresh() -> Callable[[str], str]:
    """A name nobody has had yet in this run."""
    return lambda stem: f"{stem}{next(_numbers)}"


@pytest.fixture
async def pair(socket: str, fresh: Callable[[str], str]) -> AsyncIterator[list[PeerClient]]:
    """Two registered peers."""
    async with peers(socket, fresh("ann"), fresh("bob")) as both:
        yield both


@pytest.fixture
async def ann(pair: list[PeerClient]) -> PeerClient:
    return pair[0]


@pytest.fixture
async def bob(pair: list[PeerClient]) -> PeerClient:
    return pair[1]
