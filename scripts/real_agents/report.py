"""The page that says what each agent did: a table of checks by agents."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.real_agents.checks import CHECKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.real_agents.agents import RealAgent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "real-agents.md"

_HEAD = """\
# What real agents do

Written by `make real-agents`, which installs the agents (into `.build`), starts a scripted model in place of a real
one, and runs each check through the real bridge. It needs npm and PyPI, no account and no model; `make test` does not
run it. Date: {date}; on {machine}.

The model does what a prompt says (`@@shell: COMMAND`, `@@write: PATH|TEXT`, `@@tool: NAME {{…}}`,
`@@slow: SECONDS`, `@@error: STATUS`), so
the agents make real tool calls and ask real questions.

| Agent | Package |
| --- | --- |
"""
_TITLES = {
    "restart": "Bridge and agent restarted",
    "together": "All in one channel, two rounds",
    "asks": "Asks another in the middle of its turn",
}


@dataclass(frozen=True)
class Row:
    """What one check found of one agent."""

    agent: str
    check: str
    ok: bool
    what: str


def page(agents: Sequence[RealAgent], rows: Sequence[Row], machine: str) -> str:
    """The whole page."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    lines = [f"| {agent.title} | `{agent.packages[0]}` |" for agent in agents]
    titles = {name: title for name, (title, _) in CHECKS.items()} | _TITLES
    found = {(row.agent, row.check): row for row in rows}
    lines += ["", "## The checks", ""]
    lines += ["| | " + " | ".join(agent.title for agent in agents) + " |"]
    lines += ["| --- |" + " --- |" * len(agents)]
    for name, title in titles.items():
        cells = [_cell(found.get((agent.name, name))) for agent in agents]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return _HEAD.format(date=today, machine=machine) + "\n".join(lines) + "\n"


def _cell(row: Row | None) -> str:
    if row is None:
        return "not run"
    words = " ".join(row.what.split()).replace("|", "\\|")
    return words if row.ok else f"**not as it should be**: {words}"
