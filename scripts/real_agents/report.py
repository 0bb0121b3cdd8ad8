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
_OTHERS = Path(__file__).with_name("others.md")
"""What was seen of agents beside the five, written by hand."""
_NOTES = """
## What they showed, and what the bridge makes of it

- **Claude Code, the adapter under its former name** (`@zed-industries/claude-agent-acp` 0.23.1): the prompt after a
  turn that was cancelled or failed is answered with that turn's end, and its own answer comes one prompt late. The
  bridge has it load the session anew in between. It reports context use as `null` beside a cost: nothing is shown
  then.
- **Gemini CLI** (0.61.0): writing a new file first reads it, and no error for a missing file is understood, so it
  could never write one. The bridge gives it an empty text. It announces `session/load` and then does not find the
  session when only little was said in it: it is told everything anew.
- **Codex** ends the turn as `cancelled` when a permission is rejected, and tells a model's error as an answer. Its
  home may not be a temporary folder.
- **Qwen Code** announces its commands with half a megabyte of its own data: only name, description and hint are
  kept. It offers several answers of one kind: they are told apart by their names.
- **Deep Agents** remembers no session: after a restart it is told everything.
- opencode and Qwen Code take half a minute to start on a busy machine: `limits.startTimeout` is 60 s.

`make real-agents ARGS='gemini'` (and `claude-zed`, `codex-zed`, `copilot`, `kimi`, `vibe`, `fast-agent`, `pi`, `grok`,
`hermes`) runs those that are not among the five.
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
    return (
        _HEAD.format(date=today, machine=machine)
        + "\n".join(lines)
        + "\n"
        + _NOTES
        + "\n"
        + _OTHERS.read_text(encoding="utf-8")
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "not run"
    words = " ".join(row.what.split()).replace("|", "\\|")
    return words if row.ok else f"**not as it should be**: {words}"
