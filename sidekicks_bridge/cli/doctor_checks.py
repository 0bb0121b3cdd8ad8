"""What the doctor looks at: the installation, the configuration, the history, the running bridge, each agent.

Every check is one finding: what was found, and where it is not well, what to do. Prints nothing.
"""

from __future__ import annotations

import platform
import shlex
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec

from sidekicks_bridge import __version__, ownership
from sidekicks_bridge.cli.text import counted
from sidekicks_bridge.protocol.base import Wire, to_builtins

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.agents.examine import Examined
    from sidekicks_bridge.agents.spec import AgentSpec
    from sidekicks_bridge.config.settle import Parsed

Status = Literal["ok", "warning", "error"]
ANSWER_SECONDS = 5.0
LITTLE_SPACE = 200 << 20
_ABLE = {
    "loadSession": "load sessions",
    "resume": "resume sessions",
    "list": "list sessions",
    "delete": "delete sessions",
    "fork": "fork sessions",
    "close": "close sessions",
    "image": "take images",
    "audio": "take sound",
    "embeddedContext": "take files",
    "http": "use tools over http",
    "sse": "use tools over sse",
    "logout": "sign out",
}
"""What an agent announces, as words; anything else is shown as it calls it."""


class Finding(Wire, kw_only=True):
    """One line of the report. ``todo`` where it is not well; ``details`` for programs."""

    area: str
    name: str
    status: Status
    text: str
    todo: str | None = None
    details: dict[str, Any] = {}


def installation() -> Finding:
    """Which program this is."""
    text = f"sidekicks {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Finding(area="installation", name="sidekicks", status="ok", text=text)


def configuration(path: Path, parsed: Parsed) -> list[Finding]:
    """The file, then each of its problems."""
    config = parsed.config
    what = "cannot be used"
    if config is not None:
        what = f"{counted(len(config.agents), 'agent')}, {counted(len(config.channels), 'channel')}"
    found = [
        Finding(
            area="configuration",
            name="file",
            status="error" if config is None else "ok",
            text=f"{path}: {what}",
            todo="Mend it: `sidekicks config edit`." if config is None else None,
        )
    ]
    for problem in parsed.problems:
        found.append(
            Finding(
                area="configuration",
                name=f"line {problem.line}",
                status=problem.severity,
                text=problem.message,
                todo=f"Mend {problem.file}:{problem.line}:{problem.column}: `sidekicks config edit`.",
            )
        )
    return found


def history(path: Path) -> list[Finding]:
    """Where history lies, whether it can be read, what else lies about."""
    from sidekicks_bridge.store.inspect import inspect

    seen = inspect(path)
    text = f"{counted(seen.messages, 'message')}, {size(seen.bytes)} in {seen.folder}" if seen.exists else "none yet"
    found = [Finding(area="history", name="database", status="ok", text=text, details=msgspec.to_builtins(seen))]
    if seen.problem is not None:
        found[0].status, found[0].text = "error", f"{seen.folder} cannot be read: {seen.problem}"
        todo = "Put that right; where it is damaged, the bridge sets it aside at its start and begins a new one."
        found[0].todo = todo
    if seen.free is not None:
        little = seen.free < LITTLE_SPACE
        found.append(
            Finding(
                area="history",
                name="free space",
                status="warning" if little else "ok",
                text=size(seen.free),
                todo="Make room: when the disk is full, history is kept in memory only." if little else None,
            )
        )
    found.append(
        Finding(
            area="history",
            name="search",
            status="ok" if seen.search else "warning",
            text=f"SQLite {seen.sqlite}, " + ("with its index" if seen.search else "without the trigram index"),
            todo=None if seen.search else "Use a Python with SQLite 3.34 or later; until then search reads everything.",
        )
    )
    for orphan in seen.orphans:
        found.append(
            Finding(
                area="history",
                name="orphan",
                status="warning",
                text=f"{orphan.folder} ({size(orphan.bytes)}) belongs to {orphan.config_path}, which is gone",
                todo=f"`sidekicks data adopt {orphan.folder}` gives it to this configuration; "
                f"or put {orphan.config_path} back, or remove the folder.",
            )
        )
    return found


async def running_bridge(path: Path) -> Finding:
    """Whether a bridge owns this configuration, and whether it answers."""
    from sidekicks_bridge.cli.attach import attached
    from sidekicks_bridge.cli.client import BridgeError, BridgeGone
    from sidekicks_bridge.protocol.requests import BridgeStatus, Empty

    found = Finding(area="bridge", name="running", status="ok", text="none runs; one is started when it is needed")
    holder = ownership.running(path)
    if holder is None:
        return found
    status = None
    why = f"it did not answer within {ANSWER_SECONDS:g} s"
    try:
        with anyio.move_on_after(ANSWER_SECONDS):
            async with attached(path, lambda _name, _raw: None, options={}, folder=None, start=False) as client:
                status = await client.request("sidekicks/bridge/status", Empty(), BridgeStatus)
    except (BridgeGone, BridgeError) as problem:
        why = str(problem)
    if status is None:
        found.status, found.text = "error", f"process {holder.pid}: {why}"
        found.todo = "End it with `sidekicks stop`, then try again."
        return found
    kept = status.state.storage
    found.text = f"process {status.pid}, version {status.bridge_version}, {counted(len(status.clients) - 1, 'client')}"
    found.details = to_builtins(status)
    if not kept.persistent:
        found.status, found.text = "warning", f"{found.text}; history is not kept: {kept.reason}"
        found.todo = "Put that right, then `sidekicks stop`: the next start keeps history again."
    return found


def agent(spec: AgentSpec, seen: Examined) -> Finding:
    """What came of trying an agent out."""
    finding = Finding(area="agent", name=spec.name, status="ok", text=_summary(seen), details=msgspec.to_builtins(seen))
    if seen.code == "agentAuthRequired":
        ways = ", ".join(seen.sign_in) or "its makers say how"
        finding.status, finding.text = "warning", f"{_summary(seen)}; you are not signed in"
        finding.todo = f"Sign in: `sidekicks agents signin {spec.name}` ({ways})."
    elif seen.error is not None:
        finding.status, finding.text = "error", seen.error
        finding.todo = _what_to_do(spec, seen)
    elif seen.noise:
        finding.status = "warning"
        finding.todo = f"It writes text that is no ACP to stdout ({seen.noise} lines); that costs nothing but tidiness."
    return finding


def _what_to_do(spec: AgentSpec, seen: Examined) -> str:
    from sidekicks_bridge.config.known import known_by_command

    if seen.program is None:
        command = spec.command or ""
        if " " in command.strip():
            first, *rest = command.split()
            return (
                f"`command` is one program's name and is not split. Write `command: {first}` and "
                f"`args: [{', '.join(rest)}]`: sidekicks config edit"
            )
        known = known_by_command(command)
        return f"Install it: {known.install}" if known else f"Correct `command` of {spec.name}: sidekicks config edit"
    if seen.start_seconds is None:
        slow = "; raise limits.startTimeout if it is only slow" if seen.timed_out else ""
        return f"Run `{shlex.join([seen.program, *spec.args])}` in a terminal and read what it says{slow}."
    return "Run its own program once in a terminal; `sidekicks doctor --record FILE` keeps what it said for a report."


def _summary(seen: Examined) -> str:
    who = " ".join(filter(None, (seen.name, seen.version)))
    facts = [who] if who else []
    if seen.start_seconds is not None:
        facts.append(f"ready in {seen.start_seconds:.1f} s")
    if seen.session_seconds is not None:
        facts.append(f"session in {seen.session_seconds:.1f} s")
    if seen.memory is not None:
        facts.append(size(seen.memory))
    if able := list(dict.fromkeys(_ABLE.get(name, name) for name in seen.capabilities)):
        facts.append(f"can {', '.join(able)}")
    if seen.settings:
        facts.append(f"set: {' '.join(seen.settings)}")
    if seen.session_seconds is not None:
        facts.append(counted(len(seen.commands), "command"))
    if seen.stderr:
        facts.append(f"{seen.stderr} lines on stderr")
    return ", ".join(facts) or "nothing is known of it"


def size(count: int) -> str:
    """A size for people."""
    if count < 1 << 20:
        return f"{-(-count // (1 << 10)):,} KiB"
    return f"{count / (1 << 30):,.1f} GiB" if count >= 10 << 30 else f"{count / (1 << 20):,.0f} MiB"
