"""Gates: named files that a test creates to let a waiting fake agent go on.

Both sides use this class, the test with its own folder, the agent with the one in ``FAKE_AGENT_GATES``. It
must not know what is waited for.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLL = 0.005


class Gates:
    """The gates in one folder; a gate is open when the file of its name exists."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = str(folder)

    def open(self, name: str) -> None:
        """Open a gate; it stays open."""
        os.close(os.open(self._file(name), os.O_CREAT | os.O_WRONLY, 0o600))

    def close(self, name: str) -> None:
        """Close an open gate, so that the next one who comes waits again."""
        os.unlink(self._file(name))  # noqa: PTH108 - pathlib costs an agent 4 ms at start

    def is_open(self, name: str) -> bool:
        """Whether whoever comes to this gate goes through."""
        return os.path.exists(self._file(name))  # noqa: PTH110

    def wait(self, name: str, stop: Callable[[], bool] = lambda: False) -> None:
        """Block until the gate is open or ``stop()`` is true; end the process when its parent has died."""
        parent = os.getppid()
        while not self.is_open(name) and not stop():
            if os.getppid() != parent:
                os._exit(0)
            time.sleep(POLL)

    def _file(self, name: str) -> str:
        if not self.folder:
            raise ValueError("Gates need a folder: set FAKE_AGENT_GATES.")
        return os.path.join(self.folder, name)  # noqa: PTH118
