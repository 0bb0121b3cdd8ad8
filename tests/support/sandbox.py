"""A bridge in a folder of its own: configuration, fake agents with their logs and gates, a workspace, real processes.

It owns the files and starts the bridges; what a client says and waits for is `client`'s business.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from tests.fake_agent import command, log
from tests.fake_agent.gates import Gates
from tests.support.client import Client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from anyio.abc import Process

    JSON = dict[str, Any]

REPOSITORY = Path(__file__).parents[2]
END_SECONDS = 10.0
COMMAND_SECONDS = 40
HIDDEN = ("env", "env_names", "argv", "at", "agent", "pid")
TWO: Mapping[str, str] = {"alice": "", "bob": ""}


class BridgeSandbox:
    """The files of one bridge under ``folder``.

    ``agents``: name → options of the fake agent, as a line. ``channels``: name → members; by default `general` with
    all. ``fields``: name → further keys of the agent's entry. ``keys``: top-level keys of the configuration.
    """

    def __init__(
        self,
        folder: Path,
        agents: Mapping[str, str] = TWO,
        channels: Mapping[str, list[str]] | None = None,
        *,
        fields: Mapping[str, JSON] | None = None,
        **keys: Any,
    ) -> None:
        self.folder = folder
        self.config_home = folder / "config"
        self.workspace = folder / "workspace"
        self.logs = folder / "logs"
        for made in (self.config_home, self.workspace, self.logs, folder / "gates"):
            made.mkdir(parents=True, exist_ok=True)
        self.gates = Gates(folder / "gates")
        self.config_path = folder / "sidekicks.yaml"
        fields = fields or {}
        channels = {"general": list(agents)} if channels is None else channels
        self.config: JSON = {
            "agents": [self.agent(name, options, **fields.get(name, {})) for name, options in agents.items()],
            "channels": [{"name": name, "members": members} for name, members in channels.items()],
            **keys,
        }
        self.write_config()
        self._bridges = 0
        self._since = 0.0

    # ── the configuration ────────────────────────────────────────────────────────────────────────────────────────

    def agent(self, name: str, options: str = "", **fields: Any) -> JSON:
        """An entry of the configuration for a fake agent."""
        program, *args = command("--name", name, *shlex.split(options))
        env = {"FAKE_AGENT_LOG": str(self.log_path(name)), "FAKE_AGENT_GATES": self.gates.folder}
        return {"name": name, "command": program, "args": args, "env": env, **fields}

    def entry(self, name: str) -> JSON:
        """The agent's entry as it stands in ``config``."""
        return next(entry for entry in self.config["agents"] if entry["name"] == name)

    def write_config(self, text: str | None = None) -> None:
        """Write ``config`` (or ``text``) to the file, at once: nobody sees half of it."""
        new = self.config_path.with_suffix(".new")
        new.write_text(text or json.dumps(self.config, indent=2, ensure_ascii=False), encoding="utf-8")
        new.replace(self.config_path)

    # ── what agents received ─────────────────────────────────────────────────────────────────────────────────────

    def log_path(self, agent: str) -> Path:
        """The log of a fake agent, over all its starts."""
        return self.logs / f"{agent}.jsonl"

    def begin(self) -> None:
        """From now on show only what agents receive later."""
        self._since = time.monotonic()

    def records(self, agent: str, event: str) -> list[JSON]:
        """The records of one kind since `begin`."""
        return [record for record in log.records(self.log_path(agent), event) if record["at"] >= self._since]

    def received(self, agent: str, method: str) -> list[JSON]:
        """The parameters of each message of that method (``session/new``) the agent got."""
        messages = [record["message"] for record in self.records(agent, "received")]
        return [message.get("params", {}) for message in messages if message.get("method") == method]

    def blocks(self, agent: str) -> list[list[JSON]]:
        """The content blocks of each prompt the agent got, oldest first."""
        return [params["prompt"] for params in self.received(agent, "session/prompt")]

    def prompts(self, agent: str) -> list[str]:
        """The text of each prompt the agent got, exactly, oldest first."""
        return ["".join(block.get("text", "") for block in blocks) for blocks in self.blocks(agent)]

    def replies(self, agent: str) -> list[JSON]:
        """What the bridge answered to the agent's own requests."""
        messages: list[JSON] = [record["message"] for record in self.records(agent, "received")]
        return [message for message in messages if "method" not in message]

    def starts(self, agent: str) -> int:
        """How often the agent was started."""
        return len(self.records(agent, "start"))

    def pids(self, agent: str) -> list[int]:
        """The agent's process ids, oldest first."""
        return log.pids(self.log_path(agent))

    def violations(self) -> list[str]:
        """Each time the bridge broke a rule of ACP."""
        paths = sorted(self.logs.glob("*.jsonl"))
        return [f"{path.stem}: {record['what']}" for path in paths for record in log.records(path, "violation")]

    def agent_lines(self) -> str:
        """What all agents received, a line a message, for a failed test to show."""
        lines: list[str] = []
        for path in sorted(self.logs.glob("*.jsonl")):
            for record in log.records(path):
                what = {key: value for key, value in record.items() if key not in HIDDEN}
                lines.append(f"  {path.stem}: {json.dumps(what, ensure_ascii=False)[:240]}")
        return "\n".join(lines[-30:])

    @property
    def data(self) -> Path:
        """The folder that holds the history of this configuration."""
        digest = hashlib.sha256(os.fsencode(self.config_path)).hexdigest()[:16]
        return self.config_home / "sidekicks" / "data" / digest

    # ── processes ────────────────────────────────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def bridge(
        self,
        *,
        root: Path | str | None = "workspace",
        options: JSON | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        args: tuple[str, ...] = (),
    ) -> AsyncIterator[Client]:
        """A running bridge and its client on stdio, shaken hands. ``root``: the client's folder, None for none.

        ``options``: further initializationOptions. ``env``: further variables. At the end the client leaves in order,
        and how the bridge ended is checked (exit code 0, no bug in its log, the law of every open channel), unless
        it was killed or ``check`` is off.
        """
        self._bridges += 1
        errors = self.folder / f"bridge-{self._bridges}.err"
        folder = self.folder / root if root is not None else None
        with errors.open("wb") as stderr:
            process = await anyio.open_process(
                [sys.executable, "-m", "sidekicks_bridge", "serve", "--config", str(self.config_path), *args],
                stderr=stderr,
                cwd=self.folder,
                env={**self.environment(), **(env or {})},
            )
        client = Client(process, errors, self.agent_lines)
        failure: Exception | None = None
        async with process, anyio.create_task_group() as tasks:
            tasks.start_soon(client.read)
            try:
                await client.shake_hands(folder, options or {})
                yield client
                if check and not client.gone:
                    await client.check_law()
            except Exception as error:  # raised below, without a group around it
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(client, process)
        if failure is not None:
            raise failure
        if check:
            client.check_end()
            assert self.violations() == []

    def command(self, *words: str) -> list[str]:
        """The command line of `sidekicks` with ``words``, for this configuration."""
        verb, *rest = words
        return [sys.executable, "-m", "sidekicks_bridge", verb, "--config", str(self.config_path), *rest]

    async def sidekicks(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `sidekicks` with ``words`` in the workspace, to its end."""

        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                self.command(*words),
                cwd=self.workspace,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=COMMAND_SECONDS,
                check=False,
            )

        return await anyio.to_thread.run_sync(run)

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """At the end, whatever bridge runs is stopped: for tests that leave a hub behind."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.sidekicks("stop")

    def environment(self) -> dict[str, str]:
        """The environment of a bridge: ours, with a configuration folder of its own, and compiling its code once."""
        dropped = ("SIDEKICKS_", "FAKE_AGENT_", "PYTHONDONTWRITEBYTECODE")
        ours = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        return {**ours, "XDG_CONFIG_HOME": str(self.config_home), "PYTHONPATH": str(REPOSITORY)}


async def _end(client: Client, process: Process) -> None:
    """The client leaves; a bridge that does not end is killed, which `check_end` will tell."""
    await client.leave()
    with anyio.move_on_after(END_SECONDS):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
