"""One agent process: how it is started, what it writes to stderr, and how it and its whole group are ended.

Knows nothing of ACP: it hands out the two byte streams. Nothing here waits without a limit, except `wait_exit`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.agents import reaper
from sidekicks_bridge.agents.raw import ESCAPES
from sidekicks_bridge.builtin import BUILTIN_AGENTS
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.abc import ByteReceiveStream, ByteSendStream, Process

    from sidekicks_bridge.agents.spec import AgentSpec

STEP_SECONDS = 0.5
"""How long each step of the stop ladder waits: stdin closed, TERM, then KILL."""
LINE_BYTES = 64 * 1024
RING_LINES = 1000
_TAIL_LINES = 10
_TAIL_CHARACTERS = 2000
_POLL_SECONDS = 0.02
_TOO_OLD = re.compile(
    r"\b(?:SyntaxError|ERR_UNKNOWN_BUILTIN_MODULE|ERR_REQUIRE_ESM)\b.*^Node\.js (v[\d.]+)$", re.MULTILINE | re.DOTALL
)
"""How Node.js ends that does not know a module or a word of the program: its version stands last."""
_UNKILLABLE_SECONDS = 2.0
"""A process in the kernel's hands may outlive KILL; nobody waits longer for it."""


class LogRing:
    """The last `RING_LINES` lines an agent wrote that were not ACP; each line goes to ``report`` too."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._lines: deque[str] = deque(maxlen=RING_LINES)

    def add(self, line: bytes) -> None:
        """Keep one line, cut at `LINE_BYTES`."""
        text = line[:LINE_BYTES].decode("utf-8", "replace").rstrip("\r\n")
        self._lines.append(text)
        self._report(text)

    def lines(self) -> list[str]:
        """All kept lines, oldest first."""
        return list(self._lines)


class AgentProcess:
    """A running agent in its own process group. Made by `spawn`."""

    def __init__(self, process: Process, mark: str, log: LogRing, watch: reaper.Reaper) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin: ByteSendStream = process.stdin
        self.stdout: ByteReceiveStream = process.stdout
        self.pid = process.pid
        self._process = process
        self._mark = mark
        self._log = log
        self._reaper = watch
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._stderr_done = anyio.Event()
        watch.add(mark, process.pid)

    async def drain_stderr(self) -> None:
        """Read stderr to its end in blocks, so that no amount and no line length can stop the agent."""
        assert self._process.stderr is not None
        line = bytearray()
        try:
            async for block in self._process.stderr:
                *whole, rest = block.split(b"\n")
                for end in whole:
                    line += end[: LINE_BYTES - len(line)] if len(line) < LINE_BYTES else b""
                    self.keep(bytes(line))
                    line.clear()
                line += rest[: max(0, LINE_BYTES - len(line))]
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # the process is gone: what was read counts
        finally:
            if line:
                self.keep(bytes(line))
            self._stderr_done.set()

    def keep(self, line: bytes) -> None:
        """Put a line into the log and among its last words."""
        self._log.add(line)
        shown = ESCAPES.sub("", line[:_TAIL_CHARACTERS].decode("utf-8", "replace")).strip()
        if shown:
            self._tail.append(shown)

    def last_words(self) -> str:
        """The last lines it wrote that were no ACP; empty if there are none."""
        return "\n".join(self._tail)[-_TAIL_CHARACTERS:]

    async def wait_exit(self) -> None:
        """Wait until the process itself has ended (its children may live)."""
        await self._process.wait()

    async def stderr_read(self) -> None:
        """Wait until stderr has been read to its end (a child may hold it open for ever)."""
        await self._stderr_done.wait()

    @property
    def running(self) -> bool:
        """Whether the process itself still runs."""
        return self._process.returncode is None

    @property
    def exit_code(self) -> int | None:
        """How it ended; negative: by that signal. None while it runs."""
        return self._process.returncode

    def epitaph(self, *, closed_output: bool) -> str:
        """How it ended, as a clause, with the last lines of stderr."""
        code = self._process.returncode
        if closed_output or code is None:
            ending = "closed its output and was ended"
        elif code < 0:
            ending = f"was ended by {_signal_name(-code)}"
        else:
            ending = f"exited with code {code}"
        words = self.last_words()
        if not words:
            return f"{ending}, without a word on stderr."
        old = _TOO_OLD.search(words)
        hint = f"\nIt seems to need a newer Node.js than the {old[1]} that it was started with." if old else ""
        return f"{ending}. Its last words were:\n{words}{hint}"

    async def stop(self) -> None:
        """The ladder: close stdin, then TERM to the group, then KILL to the group, half a second each."""
        await self._close_stdin()
        with anyio.move_on_after(STEP_SECONDS):
            await self._process.wait()
        if self._signal(signal.SIGTERM):
            with anyio.move_on_after(STEP_SECONDS):
                while self._signal(0):  # noqa: ASYNC110 - no event tells that a group is empty
                    await anyio.sleep(_POLL_SECONDS)
        await self.kill()

    async def kill(self) -> None:
        """KILL the group, and what left it but carries our mark; then wait for the process itself."""
        with anyio.CancelScope(shield=True):
            self.kill_group()
            with anyio.move_on_after(_UNKILLABLE_SECONDS):
                await self._process.wait()
            await anyio.to_thread.run_sync(reaper.kill_marked, {self._mark})
            self._reaper.remove(self._mark)

    def kill_group(self) -> None:
        """KILL the group, whoever is left in it."""
        self._signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    async def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        with anyio.move_on_after(_UNKILLABLE_SECONDS, shield=True):
            await self._process.aclose()

    async def _close_stdin(self) -> None:
        with anyio.move_on_after(STEP_SECONDS, shield=True):
            try:
                await self.stdin.aclose()
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # the agent closed its end first

    def _signal(self, number: int) -> bool:
        """Signal the group; whether there still was one. Zombies whose parent does not reap them count."""
        if sys.platform == "win32":
            if self.running and number:
                self._process.kill()
            return self.running
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # macOS says so of a group of zombies
        return True


async def check_folder(spec: AgentSpec, cwd: str) -> None:
    """Raises ``agentSpawnFailed`` unless there is such a folder to work in; agents say it badly."""
    try:
        there = await anyio.Path(cwd).is_dir()
    except OSError:  # a name too long, say
        there = False
    if not there:
        advice = "Correct the agent's workspace" if spec.workspace else "Give the channel another root"
        raise _spawn_failed(spec, cwd, f"the folder {cwd} does not exist. {advice}")


async def spawn(spec: AgentSpec, cwd: str, mark: str, log: LogRing, watch: reaper.Reaper) -> AgentProcess:
    """Start ``spec`` in the folder ``cwd``; raises ``agentSpawnFailed`` with a sentence that names the command."""
    environment = build_environment(os.environ, spec, mark)
    await check_folder(spec, cwd)
    argv = build_argv(spec, environment, cwd)
    watch.expect(mark)
    try:
        process = await anyio.open_process(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as problem:
        watch.remove(mark)
        raise _spawn_failed(spec, argv[0], _why(problem, argv[0])) from problem
    return AgentProcess(process, mark, log, watch)


def build_environment(base: Mapping[str, str], spec: AgentSpec, mark: str) -> dict[str, str]:
    """The full environment without npm's variables (they misdirect a nested npx), the agent's own, our mark."""
    environment = {name: value for name, value in base.items() if not name.lower().startswith("npm_")}
    environment.update(spec.env)
    environment[reaper.MARK] = mark
    return environment


def build_argv(spec: AgentSpec, environment: Mapping[str, str], cwd: str) -> list[str]:
    """The argument list, the command resolved; raises ``agentSpawnFailed`` when there is nothing to run."""
    if spec.builtin:
        return [sys.executable, *BUILTIN_AGENTS[spec.builtin].argv(spec.name)]
    command = spec.command or ""
    named_by_path = os.sep in command or command.startswith("~")
    candidate = str(Path(cwd, Path(command).expanduser())) if named_by_path else command
    found = shutil.which(candidate, path=environment.get("PATH"))
    if found is not None:
        return [found, *spec.args]
    if named_by_path and Path(candidate).is_dir():
        raise _spawn_failed(spec, command, "it is a folder. Name the program itself")
    if named_by_path and Path(candidate).exists():
        raise _spawn_failed(spec, command, f"it is not executable. Run `chmod +x {candidate}`")
    raise _spawn_failed(spec, command, "it was not found. Install it, or correct `command` in the configuration")


def _spawn_failed(spec: AgentSpec, command: str, why: str) -> SidekicksError:
    return SidekicksError(
        "agentSpawnFailed",
        f"Agent {spec.name} could not be started: `{command}`: {why}.",
        {"agent": spec.name, "command": command},
    )


def _why(problem: OSError | ValueError, program: str) -> str:
    if isinstance(problem, OSError):
        if problem.errno == 2 and (needed := _interpreter(program)):  # ENOENT, though the script is there
            return f"its first line names `{needed}`, which is not there. Install that, or the agent anew"
        if problem.errno == 8:  # ENOEXEC
            return "it is no program this system can run (a script needs a first line like `#!/bin/sh`)"
        return (problem.strerror or str(problem)).lower()
    return str(problem)


def _interpreter(program: str) -> str | None:
    """What the first line of a script says it is run by; the system's "no such file" is about that, not the script."""
    try:
        with Path(program).open("rb") as script:
            first = script.readline(256)
    except OSError:
        return None
    words = first[2:].decode("utf-8", "replace").split(maxsplit=1) if first.startswith(b"#!") else []
    return words[0] if words else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
