"""`sidekicks status` and `sidekicks stop`: the running bridge of a configuration, looked at and ended."""

from __future__ import annotations

import os
import signal
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING

from sidekicks_bridge import lock, ownership
from sidekicks_bridge.cli.exit_codes import FAILED, OK, OWNER_HELP, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import clock_time, one_line, rows, use_utf8
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.protocol.requests import BridgeStatus, State
    from sidekicks_bridge.protocol.types import Channel, StorageState

STOP_SECONDS = 5.0
_DOES = {
    "queued": "waits",
    "starting": "is starting",
    "thinking": "is thinking",
    "tool": "uses a tool",
    "writing": "is writing",
    "awaitingPermission": "waits for an answer",
    "cancelling": "is being cancelled",
}
_WAITS = {
    "channel": "after another turn",
    "agentBusy": "busy in another channel",
    "noSlot": "as many agents run as may",
}


def _arguments(prog: str, description: str, argv: list[str]) -> Namespace | int:
    parser = ArgumentParser(
        prog=prog, description=description, epilog=OWNER_HELP, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", metavar="FILE", help="another configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        return parser.parse_args(use_utf8(argv))
    except SystemExit as leaving:
        return USAGE if leaving.code else OK


def _owner(given: Namespace) -> tuple[Path, lock.Holder | None]:
    """The configuration that is meant, and who owns its history now. Raises SidekicksError."""
    location = located(given.config)
    holder = ownership.running(location.path)
    if holder is None and location.origin != "default":
        ensure(location)  # a name that was mistyped must not look like a bridge that does not run
    return location.path, holder


def status(argv: list[str]) -> int:
    """Say who owns, who is attached, what runs and waits. 0 also when no bridge runs."""
    given = _arguments("sidekicks status", "Who owns the bridge, who is attached, what runs and what waits.", argv)
    if isinstance(given, int):
        return given
    import anyio

    from sidekicks_bridge.cli.client import BridgeGone

    try:
        path, holder = _owner(given)
        if holder is None:
            print("null" if given.json else f"No bridge is running for {path}.")
            return OK
        found = anyio.run(ask_status, path)
    except (SidekicksError, BridgeGone) as problem:
        print(f"sidekicks status: {problem}", file=sys.stderr)
        return FAILED
    if given.json:
        from sidekicks_bridge.protocol.base import encode

        print(encode(found).decode())
    else:
        print("\n".join(_lines(found)))
    return OK


async def ask_status(path: Path) -> BridgeStatus:
    """What the bridge that runs for ``path`` says of itself. Raises BridgeGone."""
    from sidekicks_bridge.cli.attach import attached
    from sidekicks_bridge.protocol.requests import BridgeStatus, Empty

    async with attached(path, lambda _name, _params: None, options={}, folder=None, start=False) as client:
        return await client.request("sidekicks/bridge/status", Empty(), BridgeStatus)


def _lines(found: BridgeStatus) -> list[str]:
    """Who owns and who is attached; then every channel, with what runs, waits, asks and was not read."""
    from sidekicks_bridge.cli.channel_ref import config_trouble, slug

    state = found.state
    kind = "hub" if found.kind == "hub" else "bridge of an editor"
    clients = [_client(one.name, one.folder) for one in found.clients if not one.you]
    running = [f"@{agent.name} {agent.state}" for agent in state.agents if agent.state not in ("stopped", "error")]
    facts = [
        ("owner", f"{kind}, process {found.pid}, version {found.bridge_version}, since {clock_time(found.started_at)}"),
        ("configuration", one_line(state.config.path, 4096)),
        *[("", trouble) for trouble in [config_trouble(state).strip()] if trouble],
        ("history", _history(state.storage)),
        ("attached", ", ".join(clients) or "nobody"),
        ("agents", ", ".join(running) or "none runs"),
    ]
    facts += [(slug(channel), _doings(channel, state)) for channel in state.channels]
    room = max(len(name) for name, _ in facts)
    return [rows(f"{name:<{room}}  {text}", room + 2) for name, text in facts]


def _history(storage: StorageState) -> str:
    """Whether it is kept, and what is wrong: with it, or with the transcript."""
    kept = "kept" if storage.persistent else "not kept"
    return f"{kept}: {one_line(storage.reason, 4096)}" if storage.reason else kept


def _doings(channel: Channel, state: State) -> str:
    """What goes on in a channel; where nothing does, who is there."""
    doings = []
    for turn in state.turns:
        if turn.channel_id == channel.id:
            why = turn.waits_for.reason if turn.waits_for else None
            doings.append(
                f"@{turn.agent} {_DOES.get(turn.state, turn.state)}" + (f" ({_WAITS.get(why, why)})" if why else "")
            )
    for question in state.permissions:
        if question.channel_id == channel.id:
            doings.append(f"@{question.agent} asks: {one_line(question.tool_call.title)}")
    if channel.unread:
        doings.append(f"{channel.unread} unread")
    return "; ".join(doings) or ", ".join(one_line(member.name) for member in channel.members) or "nobody"


def _client(name: str, folder: str | None) -> str:
    return one_line(f"{name} ({folder})" if folder else name)


def stop(argv: list[str]) -> int:
    """End the running bridge, of whatever version, and wait until it is gone. 0 also when none runs."""
    given = _arguments("sidekicks stop", "End the running bridge: clients are told, what streams is kept.", argv)
    if isinstance(given, int):
        return given
    try:
        path, holder = _owner(given)
    except SidekicksError as problem:
        print(f"sidekicks stop: {problem.message}", file=sys.stderr)
        return FAILED
    if holder is None or not holder.pid:
        print("null" if given.json else f"No bridge is running for {path}.")
        return OK
    try:
        # A signal, not a request: it reaches a bridge of any version, and one whose socket is gone.
        os.kill(holder.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    end = time.monotonic() + STOP_SECONDS
    while (still := ownership.running(path)) is not None and still.pid == holder.pid:
        if time.monotonic() > end:
            print(
                f"sidekicks stop: process {holder.pid} does not end; `kill -9 {holder.pid}` ends it.", file=sys.stderr
            )
            return FAILED
        time.sleep(0.02)
    print(f'{{"stopped": {holder.pid}}}' if given.json else f"Stopped the bridge (process {holder.pid}).")
    return OK
