"""One owner for each file of tests: a test attaches to its socket as a further client, so it costs no process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import lock
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import attached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.client import Client
    from tests.support.wire import Wire


@pytest.fixture(scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> BridgeSandbox:
    return BridgeSandbox(tmp_path_factory.mktemp("bridge"))


@pytest.fixture(scope="module")
async def owner(box: BridgeSandbox) -> AsyncIterator[Client]:
    """The client on the owner's own stdio; at the end the bridge's log must hold no bug."""
    async with box.bridge() as client:
        yield client


@pytest.fixture
async def newcomer(box: BridgeSandbox, owner: Client) -> AsyncIterator[Wire]:
    """A client that has just connected and said nothing. The owner must live on, whatever it says."""
    async with attached(socket_of(box)) as client:
        yield client
    await owner.state()


@pytest.fixture
async def client(newcomer: Wire) -> Wire:
    """A client that has shaken hands."""
    await newcomer.shake_hands()
    return newcomer


def socket_of(box: BridgeSandbox) -> str:
    """Where the bridge of ``box`` listens."""
    (place,) = box.config_home.glob("sidekicks/data/*/bridge.lock")
    holder = lock.read_holder(place)
    assert holder is not None
    assert holder.socket is not None
    return holder.socket
