"""Which channel a person means by `#general`, `general` or `@scout`, and what to say when there is none."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.text import one_line
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.requests import DirectChannel
from sidekicks_bridge.protocol.types import Channel

if TYPE_CHECKING:
    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.protocol.requests import State
    from sidekicks_bridge.protocol.types import Agent
    from sidekicks_bridge.store.contract import StoredChannel


class UnknownChannel(Exception):
    """No channel or agent is called so. The message names ``near`` ones; ``name`` was asked for, without its mark."""

    def __init__(self, name: str, message: str, near: list[str]) -> None:
        super().__init__(message)
        self.name = name
        self.near = near


def slug(channel: Channel | StoredChannel) -> str:
    """How a channel is called by people: `#name`, `@agent`, or `a ↔ b` for a pair. Safe to print."""
    if channel.kind == "direct":
        return "@" + one_line(channel.agent or "?", 64)
    if channel.kind == "pair":
        return " ↔ ".join(one_line(peer, 64) for peer in channel.peers)
    return "#" + one_line(channel.name or "?", 64)


async def find_channel(client: BridgeClient, state: State, ref: str) -> Channel:
    """The channel that ``ref`` names (a bare word: a channel first, then an agent); raises `UnknownChannel`."""
    mark, name = (ref[0], ref[1:]) if ref[:1] in ("#", "@") else ("", ref)
    if mark != "@":
        for channel in state.channels:
            if channel.kind == "named" and (channel.name or "").casefold() == name.casefold():
                return channel
    for channel in state.channels:
        if channel.kind == "pair" and "--".join(channel.peers).casefold() == ref.casefold():
            return channel
    if mark != "#":
        for agent in state.agents:
            if agent.name.casefold() == name.casefold():
                return await client.request("sidekicks/channel/direct", DirectChannel(agent=agent.name), Channel)
    names = [slug(channel) for channel in state.channels if channel.kind == "named"]
    raise _unknown(state, ref, names + ["@" + agent.name for agent in state.agents])


def find_agent(state: State, ref: str) -> Agent:
    """The agent that ``ref`` names, with or without its mark; raises `UnknownChannel`."""
    name = ref.removeprefix("@")
    for agent in state.agents:
        if agent.name.casefold() == name.casefold():
            return agent
    raise _unknown(state, f"@{name}", ["@" + agent.name for agent in state.agents])


def _unknown(state: State, ref: str, names: list[str]) -> UnknownChannel:
    return UnknownChannel(ref.lstrip("#@"), unknown(ref, names) + config_trouble(state), near(ref, names))


def default_channel(state: State, folder: str) -> Channel | None:
    """Where `sidekicks chat` without a name goes: a channel of this folder, else #general, else the last used one."""

    def rank(channel: Channel) -> tuple[bool, bool, bool, str]:
        return (
            same_folder(channel.root, folder),
            channel.root is None,
            channel.name == "general",
            channel.last_message_at or channel.created_at,
        )

    return max((channel for channel in state.channels if channel.kind == "named"), key=rank, default=None)


def config_trouble(state: State) -> str:
    """The first error of the configuration, which may be why something is not there; empty if it has none."""
    errors = [problem for problem in state.config.problems if problem.severity == "error"]
    if not errors:
        return ""
    more = "; `sidekicks config check` shows all" if len(errors) > 1 else ""
    where = f"{errors[0].file}:{errors[0].line}:{errors[0].column}"
    return f"\nThe configuration has errors: {where}: {one_line(errors[0].message, 500)}{more}"


def unknown(ref: str, names: list[str]) -> str:
    """That nothing is called ``ref``, which of ``names`` (`#general`, `@scout`) is near, or what there is."""
    names = list(dict.fromkeys(names))
    if close := near(ref, names):
        hint = "Did you mean " + " or ".join(f"'{known}'" for known in close) + "?"
    elif names:
        hint = "There are: " + " ".join(names[:12]) + (" …" if len(names) > 12 else "")
    else:
        hint = "There is no channel yet and no agent; `sidekicks config path` says where to add some."
    what = {"#": "channel", "@": "agent"}.get(ref[:1], "channel or agent")
    return f"There is no {what} {one_line(ref, 64)!r}. {hint}"


def near(ref: str, names: list[str]) -> list[str]:
    """Which of ``names`` are written nearly like ``ref``, whatever their marks; the nearest first."""
    bare = {known[1:].casefold(): known for known in reversed(names)}
    return [bare[found] for found in get_close_matches(ref.lstrip("#@").casefold(), bare, n=2, cutoff=0.6)]
