"""Takes the pictures of the terminal client for README and docs, from the real thing in a real pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.screenshots.page import paint  # noqa: E402  # found by the path that was just set
from tests.cli.terminal import Terminal  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PROJECT = {
    "server/router.py": (
        '"""Routes: which handler answers a request."""\n\n\n'
        "def decide_route(path: str, table: dict[str, str]) -> str:\n"
        '    """The handler of the longest prefix in the table that fits the path."""\n'
        "    fitting = [prefix for prefix in table if path.startswith(prefix)]\n"
        '    return table[max(fitting, key=len)] if fitting else "not_found"\n'
    ),
    "server/app.py": (
        "from server.router import decide_route\n\n\ndef serve(path: str) -> str:\n    return decide_route(path, {})\n"
    ),
    "README.md": "# Shop\n\nA small shop.\n",
}


def main() -> int:
    """Play a conversation; photograph the route preview and the permission question."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "shop"
        for name, text in PROJECT.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        env = {**os.environ, "XDG_CONFIG_HOME": f"{home}/config", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        program = [sys.executable, "-P", str(ROOT / "sidekicks_bridge" / "__main__.py")]
        try:
            _play(Terminal([*program, "chat", "#general"], folder, env, columns=100, rows=46))
        finally:
            subprocess.run([*program, "stop"], cwd=folder, env=env, check=False, capture_output=True)
    return 0


def _play(terminal: Terminal) -> None:
    terminal.wait_for("F1 keys")
    terminal.type("@scout where are routes decided? @scribe keep that")
    terminal.wait_for("→")
    paint(terminal.screen, IMAGES / "terminal-route.png")
    terminal.key("enter")
    terminal.wait_for("asks for permission")
    paint(terminal.screen, IMAGES / "terminal-permission.png")
    terminal.type("1")
    terminal.wait_for("I noted")


if __name__ == "__main__":
    sys.exit(main())
