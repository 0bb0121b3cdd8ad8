"""Keeps a short conversation of an agent for the replay tests: made by the doctor, then made fit for a repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.sandbox import BridgeSandbox

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ("hello", "@@shell: echo hi > greeting.txt; cat greeting.txt")
_META_CHARACTERS = 2000
"""What an agent adds for other clients can be half a megabyte; nothing here reads it."""


def record(box: BridgeSandbox, agent: str, home: Path, into: Path) -> int:
    """Record the only agent of ``box`` into the folder ``into``; what lies in ``home`` is recorded as /home/user.

    Returns the doctor's exit code.
    """
    path = into / f"{agent}.jsonl"
    done = subprocess.run(
        [
            *(*box.command("doctor"), "--record", str(path), "--allow", "once"),
            *(word for prompt in PROMPTS for word in ("--prompt", prompt)),
            agent,
        ],
        cwd=box.workspace,
        env={**box.environment(), "HOME": str(home)},
        check=False,
    )
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(_tidy(entry), ensure_ascii=False, separators=(",", ":")) for entry in entries]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return done.returncode


def _tidy(value: Any, key: str = "") -> Any:
    """Without what is of this machine, and without large ``_meta``."""
    if isinstance(value, str):
        return value.replace(str(ROOT), "/opt/sidekicks")
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, dict):
        if key == "_meta" and len(json.dumps(value)) > _META_CHARACTERS:
            return {"cut": True}
        return {name: _tidy(item, name) for name, item in value.items()}
    return value
