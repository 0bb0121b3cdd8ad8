"""Terminals that end with their test, in a folder of the test's own."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import lock, paths
from tests.cli.terminal import Terminal, with_peer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]


class Desk:
    """Where a test works: a folder, an environment, and the terminals it opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SIDEKICKS", "PYTEST"))},
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TERM": "xterm-256color",
            "TZ": "UTC",
        }
        self.terminals: list[Terminal] = []

    def open(self, argv: Sequence[str], columns: int = 100, rows: int = 24) -> Terminal:
        """A new terminal with ``argv`` in it."""
        terminal = Terminal(argv, self.folder, self.env, columns, rows)
        self.terminals.append(terminal)
        return terminal

    def chat(self, *arguments: str, peer: Sequence[str] = (), columns: int = 100, rows: int = 24) -> Terminal:
        """`sidekicks chat` on the scripted peer, when it is ready for typing."""
        terminal = self.open(with_peer("chat", *(arguments or ("general",)), peer=peer), columns, rows)
        terminal.wait_for("F1 keys")
        return terminal

    def stop_bridges(self) -> None:
        """End the hubs that were started on demand: they would live for another minute, beside the next tests."""
        for path in (self.folder.parent / "config" / "sidekicks" / "data").glob(f"*/{paths.LOCK_NAME}"):
            owner = lock.holder(path)
            if owner is not None and owner.pid:
                os.kill(owner.pid, signal.SIGTERM)

    def sidekicks(self, *arguments: str) -> list[str]:
        """The command line of the real `sidekicks`, with the real bridge."""
        return [sys.executable, "-m", "sidekicks_bridge", *arguments]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    try:
        yield desk
    finally:
        for terminal in desk.terminals:
            terminal.close()
        desk.stop_bridges()


@pytest.fixture
def at_desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The desk, its folder and environment being those of this process too: for commands that run in it."""
    for name in [name for name in os.environ if name.startswith("SIDEKICKS")]:
        monkeypatch.delenv(name)
    for name, value in desk.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(desk.folder)
    return desk
