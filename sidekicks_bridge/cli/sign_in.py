"""Signing in to an agent from a terminal: asks the bridge, runs the agent's command where there is one, asks again."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.agent_requests import Authenticate, Authenticated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.protocol.agent_requests import TerminalCommand


async def sign_in(
    client: BridgeClient, agent: str, method_id: str, run: Callable[[TerminalCommand], Awaitable[int]]
) -> Authenticated:
    """Sign in by a method; ``run`` runs a command in the user's terminal and answers its exit code."""
    first = Authenticate(agent=agent, method_id=method_id)
    result = await client.request("sidekicks/agent/authenticate", first, Authenticated)
    if result.terminal is None:
        return result
    code = await run(result.terminal)
    if code != 0:
        words = " ".join([result.terminal.command, *result.terminal.args])
        return Authenticated(done=False, text=f"Not signed in: `{words}` ended with {code}.")
    again = Authenticate(agent=agent, method_id=method_id, ran=True)
    return await client.request("sidekicks/agent/authenticate", again, Authenticated)


def run_here(command: TerminalCommand) -> int:
    """Run a command on this terminal and wait for it. Blocks; 127: it could not be started."""
    try:
        ended = subprocess.run(
            [command.command, *command.args], env={**os.environ, **command.env}, cwd=command.cwd, check=False
        )
    except OSError:
        return 127
    return ended.returncode
