"""One bridge for each file of tests that need nothing special of it: starting one takes most of a test's time.

A test that fails may leave anything behind, so the next one gets a new bridge.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from tests.support.bed import Bed
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Mapping
    from pathlib import Path
    from typing import Any

    from tests.support.client import Client

AGENTS = {
    "alice": "--commands plan:Plan-it,review --caps close",
    "bob": "--commands research:Look-it-up:topic",
    "carol": "",
    "dora": "--commands plan",
}
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


class Shared:
    """The bridge of a file of tests, started anew when it was spoilt. ``fields``: as `BridgeSandbox` takes them."""

    def __init__(
        self, folder: Path, agents: Mapping[str, str] = AGENTS, fields: Mapping[str, dict[str, Any]] | None = None
    ) -> None:
        self._folder = folder
        self._agents = agents
        self._fields = fields
        self._stack = AsyncExitStack()
        self._started = 0
        self._bridge: tuple[BridgeSandbox, Client] | None = None

    async def bridge(self) -> tuple[BridgeSandbox, Client]:
        if self._bridge is None:
            self._started += 1
            folder = self._folder / str(self._started)
            box = BridgeSandbox(folder, self._agents, {}, fields=self._fields, limits={"maxRunningAgents": 8})
            self._bridge = (box, await self._stack.enter_async_context(box.bridge()))
        return self._bridge

    async def spoil(self) -> None:
        if self._bridge is not None:
            self._bridge = None
            await self._stack.aclose()

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture(scope="module")
async def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shared]:
    """The bridge of a file: with the agents of its `AGENTS` and their `FIELDS`, if it has them."""
    agents = getattr(request.module, "AGENTS", AGENTS)
    fields = getattr(request.module, "FIELDS", None)
    shared = Shared(tmp_path_factory.mktemp("bridge"), agents, fields)
    yield shared
    await shared.close()


@pytest.fixture
async def bed(shared: Shared, request: pytest.FixtureRequest) -> AsyncIterator[Bed]:
    """A place in the file's bridge."""
    bed = Bed(*await shared.bridge())
    yield bed
    if request.node.stash[FAILED]:
        await shared.spoil()
    else:
        await bed.end()
