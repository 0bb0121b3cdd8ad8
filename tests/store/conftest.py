"""Fixtures of the store's tests: a folder, a store on disk, and both stores behind one name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.store.open import memory_store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sidekicks_bridge.store.contract import Store

CONFIG = Path("/somewhere/config.yaml")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(params=["disk", "memory"])
async def store(request: pytest.FixtureRequest, folder: Path, anyio_backend: str) -> AsyncIterator[Store]:
    """Either store."""
    opened: Store = memory_store() if request.param == "memory" else await open_store(CONFIG, folder=folder)
    yield opened
    await opened.close()


@pytest.fixture
async def disk(folder: Path, anyio_backend: str) -> AsyncIterator[Store]:
    """A store on disk."""
    opened = await open_store(CONFIG, folder=folder)
    assert opened.persistent
    yield opened
    await opened.close()
