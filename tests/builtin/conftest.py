"""Fixtures of the built-in agents' tests: a small workspace, and the agents as running processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builtin.harness import AgentClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROUTER = '''"""Who answers a message."""

LIMIT = 3


class Router:
    """Decides the route of a message."""

    def decide_route(self, message: str) -> list[str]:
        """Return the agents that answer, in order."""
        # TODO: hop limits
        return []


def unrelated() -> None:
    """Does nothing of interest."""
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace without git: some code, a note, things that are ignored."""
    files = {
        "server/router.py": ROUTER,
        "server/store.py": "def open_store(path: str) -> None:\n    print(path)  # FIXME close it\n",
        "web/view.ts": "export class MessageView {\n  render(): void {\n    draw();\n  }\n}\n",
        "README.md": "# Example\n\nA chat.\n\n## Set-up\n\nNothing to do.\n",
        ".gitignore": "build/\n*.log\n",
        "build/router.py": "def decide_route(): pass  # TODO generated\n",
        "server/.gitignore": "!keep.log\nsecret.txt\n",
        "server/keep.log": "decide\n",
        "server/secret.txt": "decide the route\n",
        "server/other.log": "decide the route\n",
    }
    for name, text in files.items():
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "work/server/blob.bin").write_bytes(b"decide\0route")
    return tmp_path / "work"


@pytest.fixture
def scout() -> Iterator[AgentClient]:
    with AgentClient("scout") as client:
        yield client


@pytest.fixture
def scribe() -> Iterator[AgentClient]:
    with AgentClient("scribe") as client:
        yield client
