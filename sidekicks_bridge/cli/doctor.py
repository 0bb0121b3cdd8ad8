"""`sidekicks doctor`: is everything well, and what to do where it is not. Also records and plays an agent's traffic."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.exit_codes import FAILED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import rows, safe, use_utf8
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from sidekicks_bridge.cli.doctor_checks import Finding
    from sidekicks_bridge.config.model import AgentSpec, Config

_MARKS = {"ok": ("✓", "32"), "warning": ("!", "33"), "error": ("✗", "31")}


def main(argv: list[str]) -> int:
    """0: nothing is broken; 1: something is, or the recording failed; 5: no such agent; 64: wrong arguments."""
    given = _arguments(use_utf8(argv))
    if isinstance(given, int):
        return given
    try:
        if given.replay:
            return _replay(Path(given.replay))
        import anyio

        return anyio.run(_examine, given)
    except SidekicksError as problem:
        print(f"sidekicks doctor: {problem.message}", file=sys.stderr)
        return NOT_FOUND if problem.code == "agentNotFound" else FAILED
    except OSError as problem:
        print(f"sidekicks doctor: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return FAILED


def _arguments(argv: list[str]) -> Namespace | int:
    parser = ArgumentParser(
        prog="sidekicks doctor",
        description="Try everything out: the configuration, the history, the bridge, and every agent (each is started "
        "once, in this folder). Where something is wrong it says what to do.",
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="only these agents")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--record", metavar="FILE", help="keep what one agent and the bridge say, without secrets")
    parser.add_argument("--prompt", action="append", default=[], metavar="TEXT", help="send this too (again: more)")
    parser.add_argument(
        "--allow", choices=("once", "never"), default="never", help="what to answer when it asks for permission (never)"
    )
    parser.add_argument("--replay", metavar="FILE", help="be an agent: play a recording on stdin and stdout")
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    try:
        given = parser.parse_args(argv)
        if given.record and len(given.agents) != 1:
            parser.error("--record needs exactly one agent")
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    return given


def _replay(path: Path) -> int:
    from sidekicks_bridge.agents.replay import NoRecordingError, Replay, frames_of, read_recording

    try:
        entries = read_recording(path)
    except NoRecordingError as problem:
        print(f"sidekicks doctor: {problem}", file=sys.stderr)
        return FAILED
    Replay(entries, frames_of(sys.stdin.buffer), sys.stdout.buffer).run()
    return OK


async def _examine(given: Namespace) -> int:
    from sidekicks_bridge.cli import doctor_checks as checks
    from sidekicks_bridge.cli.config import usable
    from sidekicks_bridge.config.load import load
    from sidekicks_bridge.config.locate import ensure
    from sidekicks_bridge.config.model import Config

    location = located(given.config)
    ensure(location)
    parsed = load(location.path)
    config = usable(location.path) if given.agents else parsed.config or Config()
    specs = _chosen(config, given.agents)
    report = _Report(as_json=given.json)
    if not given.agents:
        report.add(checks.installation())
        report.add(*checks.configuration(location.path, parsed))
        report.add(*checks.history(location.path))
        report.add(await checks.running_bridge(location.path))
    for spec in specs:
        report.add(await _try_out(given, config, spec))
    return report.finish()


def _chosen(config: Config, names: list[str]) -> list[AgentSpec]:
    from sidekicks_bridge.cli.channel_ref import unknown

    if not names:
        return config.agents
    by_name = {fold(spec.name): spec for spec in config.agents}
    wanted = [fold(name.removeprefix("@")) for name in names]
    for name, key in zip(names, wanted, strict=True):
        if key not in by_name:
            known = [f"@{spec.name}" for spec in config.agents]
            raise SidekicksError("agentNotFound", unknown(f"@{name.removeprefix('@')}", known))
    return [by_name[key] for key in wanted]


async def _try_out(given: Namespace, config: Config, spec: AgentSpec) -> Finding:
    from sidekicks_bridge.agents.examine import examine
    from sidekicks_bridge.agents.recording import Recorder, secrets_of
    from sidekicks_bridge.cli import doctor_checks as checks

    folder = spec.workspace or str(Path.cwd())
    allow = given.allow == "once"
    if not given.record:
        return checks.agent(spec, await examine(spec, config.limits, folder, prompts=given.prompt, allow=allow))
    path = Path(given.record)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
        secrets = secrets_of(spec.env.values(), spec.mcp_servers)
        recorder = Recorder(spec.name, stream.write, time.monotonic, secrets)
        seen = await examine(spec, config.limits, folder, prompts=given.prompt, allow=allow, recorder=recorder)
    print(f"sidekicks doctor: recorded in {path}; read it before you give it away.", file=sys.stderr)
    return checks.agent(spec, seen)


class _Report:
    """Prints findings as they come; as JSON all at once at the end."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._findings: list[Finding] = []
        self._colours = not as_json and sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def add(self, *findings: Finding) -> None:
        """Take findings."""
        self._findings += findings
        for finding in () if self._as_json else findings:
            mark, colour = _MARKS[finding.status]
            name = finding.name if finding.area == "installation" else f"{finding.area} {finding.name}"
            shown = _told(f"{mark} {name}: {finding.text}")
            print(f"\x1b[{colour}m{mark}\x1b[0m{shown[1:]}" if self._colours else shown, flush=True)
            if finding.todo:
                print(_told(f"  → {finding.todo}"), flush=True)

    def finish(self) -> int:
        """The exit code."""
        broken = any(finding.status == "error" for finding in self._findings)
        if self._as_json:
            from sidekicks_bridge.protocol.base import encode, to_builtins

            listed = [to_builtins(finding) for finding in self._findings]
            print(encode({"ok": not broken, "findings": listed}).decode())
        return FAILED if broken else OK


def _told(text: str) -> str:
    """A text of one line or several, the further ones indented."""
    first, *others = safe(text).split("\n")
    return "\n".join([rows(first, 4), *(rows("    " + line, 4) for line in others)])
