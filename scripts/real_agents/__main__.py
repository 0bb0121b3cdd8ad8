"""Run the checks: install the agents, start the model, one bridge per agent, then all in one channel.

`python -m scripts.real_agents [--only CHECK,…] [--write] [--record FOTHERS] [AGENT …]`; without agents: the five.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import anyio

from scripts.real_agents import checks
from scripts.real_agents.agents import FIVE, OTHERS, Place, RealAgent
from scripts.real_agents.model import ScriptedModel, scripted_model
from scripts.real_agents.record import record
from scripts.real_agents.report import PAGE, Row, page
from scripts.real_agents.talk import Desk, Finding
from tests.support.client import RefusedError
from tests.support.sandbox import BridgeSandbox

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build" / "real-agents"
RESTART, TOGETHER, ASKS = "restart", "together", "asks"
FINDING_CHARACTERS = 500
LIMITS = {"startTimeout": "120s", "turnSilence": "45s", "cancelTimeout": "10s"}


def main(argv: list[str]) -> int:
    """0: every check found what it should; 1: one did not; 64: wrong arguments."""
    known = {agent.name: agent for agent in (*FIVE, *OTHERS)}
    names = [*checks.CHECKS, RESTART, TOGETHER, ASKS]
    parser = argparse.ArgumentParser(prog="real_agents", description=__doc__)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(known)}")
    parser.add_argument("--only", metavar="CHECK,…", help=f"of {', '.join(names)}")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--record", metavar="FOTHERS", help="record each agent's traffic there instead")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.agents if name not in known]:
        parser.error(f"there is no agent {', '.join(unknown)}; there are {', '.join(known)}")
    agents = [known[name] for name in given.agents] if given.agents else list(FIVE)
    wanted = given.only.split(",") if given.only else names
    for agent in agents:
        print(f"Installing {agent.packages[0]} …", flush=True)
        agent.install(BUILD / agent.name)
    folder = BUILD / "run"  # not below a temporary folder: codex refuses a home there
    shutil.rmtree(folder, ignore_errors=True)
    with scripted_model() as model:
        bench = Bench(model, folder)
        if given.record:
            into = Path(given.record).resolve()
            return max(record(bench.box([agent], agent.name), agent.name, folder, into) for agent in agents)
        anyio.run(bench.run, agents, wanted)
    if given.write:
        PAGE.write_text(page(agents, bench.rows, f"{platform.system()}, {platform.machine()}"), encoding="utf-8")
        print(f"Written: {PAGE.relative_to(ROOT)}")
    return 1 if any(not row.ok for row in bench.rows) else 0


class Bench:
    """Runs checks and keeps what they found in ``rows``."""

    def __init__(self, model: ScriptedModel, folder: Path) -> None:
        self.model = model
        self.folder = folder
        self.rows: list[Row] = []

    def box(self, agents: list[RealAgent], name: str) -> BridgeSandbox:
        """A configuration with ``agents``, in a folder of its own under git, as projects are."""
        box = BridgeSandbox(self.folder / name, {}, {}, limits=LIMITS)
        for agent in agents:
            place = Place(
                BUILD / agent.name, self.folder / name / "homes" / agent.name, f"{self.model.url}/{agent.name}"
            )
            box.config["agents"].append(agent.entry(place))
        box.write_config()
        subprocess.run([shutil.which("git") or "git", "init", "--quiet", str(box.workspace)], check=True)
        return box

    async def run(self, agents: list[RealAgent], wanted: list[str]) -> None:
        """All checks of all agents, then those that need several."""
        for agent in agents:
            await self._one(agent, wanted)
        if TOGETHER in wanted and len(agents) > 1:
            await self._together(agents)
        if ASKS in wanted and len(agents) > 1:
            await self._asks(agents)

    async def _one(self, agent: RealAgent, wanted: list[str]) -> None:
        box = self.box([agent], agent.name)
        channel_id = ""
        async with box.bridge(check=False) as client:
            desk = Desk(agent.name, client, self.model, box.workspace)
            for name, (_, check) in checks.CHECKS.items():
                if name in wanted:
                    await self._check(name, desk, check)
            if RESTART in wanted:
                channel_id = (await checks.remember(desk)).id
        client.check_end()
        if RESTART in wanted:
            async with box.bridge(check=False) as client:
                desk = Desk(agent.name, client, self.model, box.workspace)
                await self._check(RESTART, desk, lambda desk: checks.remembered(desk, channel_id))

    async def _together(self, agents: list[RealAgent]) -> None:
        box = self.box(agents, "together")
        names = [agent.name for agent in agents]
        async with box.bridge(check=False) as client:
            desk = Desk("all", client, self.model, box.workspace)
            found: dict[str, str] = {}

            async def check(desk: Desk) -> str:
                found.update(await checks.in_turn(desk, names))
                return f"{len(names)} answered in turn, each shown what the others had said"

            await self._check(TOGETHER, desk, check)
            ok = self.rows.pop().ok if found else False
            for name in names if found else []:
                self._add(Row(name, TOGETHER, ok, found[name]))

    async def _asks(self, agents: list[RealAgent]) -> None:
        box = self.box(agents, ASKS)
        async with box.bridge(check=False) as client:
            for agent, other in zip(agents, agents[1:] + agents[:1], strict=True):
                desk = Desk(agent.name, client, self.model, box.workspace)
                await self._check(ASKS, desk, partial(checks.asks, other=other.name))

    async def _check(self, name: str, desk: Desk, check: checks.Check) -> None:
        began = time.monotonic()
        desk.said.clear()
        try:
            what, ok = await check(desk), True
        except (Finding, AssertionError, RefusedError) as finding:
            what, ok = str(finding).partition("\n")[0][:FINDING_CHARACTERS], False
        what = "; ".join([what, *desk.said])
        self._add(Row(desk.agent, name, ok, what), time.monotonic() - began)

    def _add(self, row: Row, seconds: float | None = None) -> None:
        self.rows.append(row)
        took = "" if seconds is None else f" [{seconds:.1f} s]"
        print(f"{'ok  ' if row.ok else 'FAIL'} {row.agent:12} {row.check:17} {row.what}{took}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
