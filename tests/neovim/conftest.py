"""Real Neovims on real bridges with fake agents: one bridge for all tests that need nothing special of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.neovim.desk import Chat, Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENTS = {
    "alice": "--title Alice --commands plan:Plan-it,review:Review-it --modes code,ask --config-options model,thought",
    "bob": "--commands research:Look-it-up:topic --caps embedded",
    "carol": "--modes code,ask",
}


@pytest.fixture(scope="session")
def bridge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("bridge")
    fields = {"alice": {"title": "Alice", "icon": "🦊"}}
    box = BridgeSandbox(folder, AGENTS, {}, fields=fields, limits={"maxRunningAgents": 8})
    desk = Desk(box)
    desk.start()
    yield desk
    desk.close()


@pytest.fixture
def desk(bridge: Desk) -> Iterator[Desk]:
    """The bridge that all tests share; each has editors and channels of its own."""
    yield bridge
    try:
        bridge.calm()
    finally:
        bridge.close_editors()


@pytest.fixture
def chat(desk: Desk) -> Chat:
    """A new channel with alice and bob, its composer entered."""
    return desk.chat()


@pytest.fixture
def own_desk(tmp_path: Path) -> Iterator[Desk]:
    """A bridge of the test's own, with alice and bob in #general; it starts with the first editor."""
    desk = Desk(BridgeSandbox(tmp_path))
    yield desk
    desk.close()
