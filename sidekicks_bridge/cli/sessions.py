"""`sidekicks sessions @agent`: the sessions that an agent remembers; going on with one in a channel, deleting one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.exit_codes import BRIDGE_GONE, FAILED, NOT_FOUND, OK, USAGE
from sidekicks_bridge.cli.text import one_line, use_utf8

if TYPE_CHECKING:
    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.protocol.types import AgentSession


def main(argv: list[str]) -> int:
    """0: done, 1: the agent or the bridge refused, 3: no bridge, 5: no such channel or agent, 64: wrong arguments."""
    given = _arguments(use_utf8(argv))
    if isinstance(given, int):
        return given
    import anyio

    from sidekicks_bridge.cli.channel_ref import UnknownChannel
    from sidekicks_bridge.cli.client import BridgeError, BridgeGone

    try:
        anyio.run(_run, given)
    except BridgeError as refused:
        print(f"sidekicks sessions: {refused.message}", file=sys.stderr)
        return FAILED
    except UnknownChannel as unknown:
        print(f"sidekicks sessions: {unknown}", file=sys.stderr)
        return NOT_FOUND
    except BridgeGone as gone:
        print(f"sidekicks sessions: {gone}", file=sys.stderr)
        return BRIDGE_GONE
    return OK


def _arguments(argv: list[str]) -> Namespace | int:
    parser = ArgumentParser(
        prog="sidekicks sessions", description="The sessions that an agent remembers, wherever they were begun."
    )
    parser.add_argument("agent", metavar="AGENT")
    parser.add_argument("--here", action="store_true", help="only those of this folder")
    parser.add_argument("--pick-up", metavar="ID", help="go on with this one, in the channel given by --in")
    parser.add_argument("--in", dest="channel", metavar="CHANNEL", help="'#channel'; else the direct conversation")
    parser.add_argument("--delete", metavar="ID", help="have the agent forget this one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    try:
        return parser.parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK


async def _run(given: Namespace) -> None:
    from sidekicks_bridge.cli.attach import connection
    from sidekicks_bridge.cli.channel_ref import find_agent
    from sidekicks_bridge.protocol.requests import Empty, State

    async with connection(None, given.config, lambda _name, _raw: None, folder=str(Path.cwd())) as client:
        state = await client.request("sidekicks/state/get", Empty(), State)
        given.agent = find_agent(state, given.agent).name
        if given.pick_up:
            await _pick_up(given, client)
        elif given.delete:
            await _delete(given, client)
        else:
            await _list(given, client)


async def _list(given: Namespace, client: BridgeClient) -> None:
    from sidekicks_bridge.protocol.agent_requests import AgentSessions, ListSessions
    from sidekicks_bridge.protocol.base import encode

    asked = ListSessions(agent=given.agent, folder=str(Path.cwd()) if given.here else None)
    found = await client.request("sidekicks/agent/sessions", asked, AgentSessions)
    if given.json:
        print(encode(found.sessions).decode())
    else:
        print("\n".join(_line(one) for one in found.sessions) or f"@{given.agent} remembers no session.")


def _line(session: AgentSession) -> str:
    facts = [session.updated_at or "", session.cwd or "", "in use in a channel" if session.channel_id else ""]
    shown = "  ".join(one_line(fact) for fact in facts if fact)
    return f"{one_line(session.session_id)}  {one_line(session.title or 'untitled')}" + (f"  {shown}" if shown else "")


async def _pick_up(given: Namespace, client: BridgeClient) -> None:
    from sidekicks_bridge.cli.channel_ref import find_channel, slug
    from sidekicks_bridge.protocol.agent_requests import PickUpSession
    from sidekicks_bridge.protocol.requests import Empty, State

    state = await client.request("sidekicks/state/get", Empty(), State)
    channel = await find_channel(client, state, given.channel or f"@{given.agent}")
    asked = PickUpSession(channel_id=channel.id, agent=given.agent, session_id=given.pick_up)
    await client.request("sidekicks/session/pickUp", asked, Empty)
    print(f"@{given.agent} goes on with that session in {slug(channel)}, with the next message.")


async def _delete(given: Namespace, client: BridgeClient) -> None:
    from sidekicks_bridge.protocol.agent_requests import SessionRef
    from sidekicks_bridge.protocol.requests import Empty

    asked = SessionRef(agent=given.agent, session_id=given.delete)
    await client.request("sidekicks/agent/deleteSession", asked, Empty)
    print(f"@{given.agent} has forgotten it.")
