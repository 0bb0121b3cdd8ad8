"""`sidekicks agents [available|signin|signout]`: who is configured and how they do, what else could be; signing in.

The lists start nobody: without a running bridge every agent is stopped.
"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidekicks_bridge import ownership
from sidekicks_bridge.cli.exit_codes import FAILED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import one_line, rows, safe, use_utf8
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.config.model import Config
    from sidekicks_bridge.protocol.requests import BridgeStatus


def main(argv: list[str]) -> int:
    """0: done; 1: the configuration cannot be read, or the bridge refused; 5: no such agent; 64: wrong arguments."""
    given = _arguments(use_utf8(argv))
    if isinstance(given, int):
        return given
    from sidekicks_bridge.cli.channel_ref import UnknownChannel
    from sidekicks_bridge.cli.client import BridgeError, BridgeGone

    try:
        if given.act is not None:
            import anyio

            return anyio.run(_attached, given)
        found: list[dict[str, Any]] = given.rows(given)
    except UnknownChannel as unknown:
        print(f"sidekicks agents: {unknown}", file=sys.stderr)
        return NOT_FOUND
    except (SidekicksError, BridgeGone, BridgeError) as problem:
        print(f"sidekicks agents: {problem}", file=sys.stderr)
        return FAILED
    if given.json:
        from sidekicks_bridge.protocol.base import encode

        print(encode(found).decode())
    else:
        print("\n".join(given.line(row) for row in found) or given.none)
    return OK


def _arguments(argv: list[str]) -> Namespace | int:
    parser = ArgumentParser(
        prog="sidekicks agents", description="The configured agents and how they do; `available`: what else could be."
    )
    parser.set_defaults(
        act=None, rows=_configured, line=_configured_line, none="No agent is configured: `sidekicks config edit`"
    )
    _add_options(parser, "")
    verbs = parser.add_subparsers(metavar="available|signin|signout")
    available = verbs.add_parser("available", help="known agents: which are installed, and how the others are")
    available.set_defaults(rows=_available, line=_available_line, none="")
    _add_options(available, "available")
    for verb, act, words in (("signin", _sign_in, "sign in to an agent"), ("signout", _sign_out, "sign out of one")):
        one = verbs.add_parser(verb, help=words)
        one.add_argument("agent", metavar="AGENT")
        if verb == "signin":
            one.add_argument("--method", metavar="ID", help="by this method, where there are several")
        one.set_defaults(act=act)
        _add_options(one, verb)
    try:
        return parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK


def _add_options(parser: ArgumentParser, verb: str) -> None:
    from argparse import SUPPRESS

    default = SUPPRESS if verb else None
    parser.add_argument("--json", action="store_true", default=SUPPRESS if verb else False, help="print JSON")
    parser.add_argument("--config", metavar="FILE", default=default, help="another configuration file")


async def _attached(given: Namespace) -> int:
    from sidekicks_bridge.cli.attach import connection

    async with connection(None, given.config, lambda _name, _raw: None, folder=str(Path.cwd())) as client:
        return int(await given.act(given, client))


async def _sign_in(given: Namespace, client: BridgeClient) -> int:
    import anyio.to_thread

    from sidekicks_bridge.cli.sign_in import run_here, sign_in
    from sidekicks_bridge.protocol.requests import AgentRef, Empty, State

    agent = await _named(given, client)
    await client.request("sidekicks/agent/start", AgentRef(agent=agent), Empty)
    state = await client.request("sidekicks/state/get", Empty(), State)
    methods = next(one.sign_in for one in state.agents if one.name == agent)
    ids = [method.id for method in methods]
    chosen = given.method or (ids[0] if len(ids) == 1 else None)
    if chosen is None:
        offered = "".join(f"\n  --method {method.id:<16} {safe(method.name)}" for method in methods)
        words = f"@{agent} offers several ways:{offered}" if methods else f"@{agent} offers no way to sign in."
        print(f"sidekicks agents: {words}", file=sys.stderr)
        return USAGE if methods else FAILED
    result = await sign_in(client, agent, chosen, lambda command: anyio.to_thread.run_sync(run_here, command))
    print(safe(result.text), file=sys.stdout if result.done else sys.stderr)
    return OK if result.done else FAILED


async def _sign_out(given: Namespace, client: BridgeClient) -> int:
    from sidekicks_bridge.protocol.requests import AgentRef, Empty

    agent = await _named(given, client)
    await client.request("sidekicks/agent/logout", AgentRef(agent=agent), Empty)
    print(f"Signed out of @{agent}.")
    return OK


async def _named(given: Namespace, client: BridgeClient) -> str:
    """The name of the agent that is meant. Raises `UnknownChannel`."""
    from sidekicks_bridge.cli.channel_ref import find_agent
    from sidekicks_bridge.protocol.requests import Empty, State

    return find_agent(await client.request("sidekicks/state/get", Empty(), State), given.agent).name


def _configured(given: Namespace) -> list[dict[str, Any]]:
    from sidekicks_bridge.cli.peers import registered

    path, config = _config(given)
    running = _status(path) if ownership.running(path) is not None else None
    states = {agent.name: agent for agent in running.state.agents} if running else {}
    listed = []
    for spec in config.agents:
        agent = states.get(spec.name)
        listed.append(
            {
                "name": spec.name,
                "title": spec.title,
                "state": agent.state if agent else "stopped",
                "error": agent.error if agent else None,
                "program": spec.builtin or " ".join([spec.command or "", *spec.args]),
                "origin": "builtin" if spec.builtin else "config",
            }
        )
    return [*listed, *registered(path)]


def _configured_line(row: dict[str, Any]) -> str:
    if row["origin"] == "mail":
        return f"@{row['name']:<16} {row['state']:<9} by mail, until {row['expiresAt']}"
    what = f"built in ({row['program']})" if row["origin"] == "builtin" else one_line(row["program"])
    error = "".join("\n" + rows(f"    {line}", 4) for line in safe(row["error"]).split("\n")) if row["error"] else ""
    return rows(f"@{row['name']:<16} {row['state']:<9} {what}", 28) + error


def _available(given: Namespace) -> list[dict[str, Any]]:
    from sidekicks_bridge.config.known import KNOWN_AGENTS, known_by_command

    _, config = _config(given)
    commands = [word for spec in config.agents for word in (spec.command or "", *spec.args)]
    configured = {known.name for word in commands if (known := known_by_command(word.rpartition("/")[2]))}
    return [
        {
            "name": known.name,
            "title": known.title,
            "command": " ".join([known.command, *known.args]),
            "found": shutil.which(known.command),
            "configured": known.name in configured,
            "install": known.install,
            "npx": " ".join(["npx", "--yes", known.package, *known.args]) if known.package else None,
            "link": known.link,
        }
        for known in KNOWN_AGENTS
    ]


def _available_line(row: dict[str, Any]) -> str:
    if row["configured"]:
        what = "configured"
    elif row["found"]:
        what = f"found, not configured: {row['command']}"
    else:
        what = row["install"]
    return rows(f"{row['title']:<12} {what}", 13)


def _config(given: Namespace) -> tuple[Path, Config]:
    from sidekicks_bridge.cli.config import usable

    location = located(given.config)
    ensure(location)
    return location.path, usable(location.path)


def _status(path: Path) -> BridgeStatus:
    import anyio

    from sidekicks_bridge.cli.owner_verbs import ask_status

    return anyio.run(ask_status, path)
