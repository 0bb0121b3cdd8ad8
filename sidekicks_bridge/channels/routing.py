"""Who answers a user's message: the one function that explains a route (design rules 1, 2, 5 and Mentions).

Sending and previewing both call `explain`, so they can never disagree. Pure: a `RoutingView` in, a `Route` out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.commands import SlashCommand, find_command
from sidekicks_bridge.channels.mentions import ALL, Mentions, closest_name, find_mentions
from sidekicks_bridge.protocol.types import Route, RouteNote, RouteProblem, RouteTarget, WaitsFor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Prospect:
    """How a turn of an agent would begin now: what it has not seen, and what it would wait for."""

    unseen: int = 0
    cut: int = 0
    fresh: bool = True
    waits_for: WaitsFor | None = None


@dataclass(frozen=True)
class RoutingView:
    """What routing needs to know of a channel and the configuration.

    ``agents``: every configured agent. ``members``: the agents of the channel, in the order they joined.
    ``direct``: the agent of a direct conversation. ``commands``: what each agent announced (absent: never).
    ``last_active``: the last agent with a running or queued turn here, else the author of the last agent message who is
    still a member.
    ``forbidden``: why no agent may run here, if so.
    """

    agents: list[str]
    members: list[str]
    prospect: Callable[[str], Prospect]
    direct: str | None = None
    peers: list[str] = field(default_factory=list)
    commands: Mapping[str, frozenset[str]] = field(default_factory=dict)
    last_active: str | None = None
    forbidden: str | None = None


class _Problem(Exception):
    """Nobody is started; carries the sentence."""

    def __init__(self, code: str, text: str, suggestion: str | None = None, place: tuple[int, int] | None = None):
        super().__init__(text)
        self.code = code
        self.text = text
        self.suggestion = suggestion
        self.place = place


def explain(text: str, view: RoutingView) -> Route:
    """The route of ``text`` as it stands: who answers in which order, or what is wrong (then nobody)."""
    if not text.strip():
        return Route(to=[])
    notes: list[RouteNote] = []
    try:
        if view.forbidden is not None:
            raise _Problem("untrusted", view.forbidden)
        targets = _targets(text, view, notes)
    except _Problem as problem:
        start, end = problem.place or (None, None)
        return Route(
            to=[],
            problem=RouteProblem(
                code=problem.code,
                text=problem.text,
                suggestion=problem.suggestion,
                start=None if start is None else utf16_length(text[:start]),
                end=None if end is None else utf16_length(text[:end]),
            ),
            notes=notes,
        )
    return Route(to=[_target(name, command, view) for name, command in targets], notes=notes)


def utf16_length(text: str) -> int:
    """The length of ``text`` in UTF-16 units: offsets on the wire."""
    return len(text) + sum(character > "\uffff" for character in text)


def _target(name: str, command: str | None, view: RoutingView) -> RouteTarget:
    prospect = view.prospect(name)
    alone = command is not None  # a slash command is sent without context
    return RouteTarget(
        agent=name,
        invited=view.direct is None and name not in view.members,
        command=command,
        unseen=0 if alone else prospect.unseen,
        cut=0 if alone else prospect.cut,
        fresh=prospect.fresh,
        waits_for=prospect.waits_for,
    )


def _targets(text: str, view: RoutingView, notes: list[RouteNote]) -> list[tuple[str, str | None]]:
    if view.direct is not None:
        _require_configured(view.direct, view)
        command = find_command(text, [])
        return [(view.direct, _direct_command(command, view, notes) if command else None)]
    mentions = find_mentions(text, [*view.agents, *view.peers, ALL])
    if command := find_command(text, mentions.known):
        return _command_targets(command, view, notes)
    if addressed := _agents_of([mention.name for mention in mentions.known], view):
        return [(name, None) for name in addressed]
    _check_unknown(text, mentions, view)
    _note_peers(mentions, view, notes)
    return [(name, None) for name in _default_target(view)]


def _require_configured(agent: str, view: RoutingView) -> None:
    if agent not in view.agents:
        raise _Problem("agentNotFound", f"@{agent} is no longer in the configuration, so it cannot answer.")


def _agents_of(names: list[str], view: RoutingView) -> list[str]:
    """The agents that mentions name, each once, in order; `@all` is every member."""
    addressed: dict[str, None] = {}
    for name in names:
        if name == ALL:
            addressed.update(dict.fromkeys(member for member in view.members if member in view.agents))
        elif name in view.agents:
            addressed[name] = None
    return list(addressed)


def _check_unknown(text: str, mentions: Mentions, view: RoutingView) -> None:
    """A slip at the very start that addresses nobody else stops the message instead of going to somebody else."""
    if mentions.known or not mentions.unknown:
        return
    first = mentions.unknown[0]
    if text[: first.start].strip(" \t\r\n\u00a0\ufeff\u200b*_~\"'([{<"):
        return
    if meant := closest_name(first.word, view.agents):
        raise _Problem(
            "unknownAgent",
            f"No agent is named @{first.word}. Did you mean @{meant}?",
            f"@{meant}",
            (first.start, first.end),
        )


def _note_peers(mentions: Mentions, view: RoutingView, notes: list[RouteNote]) -> None:
    for name in dict.fromkeys(mention.name for mention in mentions.known if mention.name in view.peers):
        notes.append(RouteNote(code="peer", text=f"@{name} is not an agent here and reads this by mail."))


def _default_target(view: RoutingView) -> list[str]:
    """Rule 2c, else the problem of 2d."""
    present = [name for name in view.members if name in view.agents]
    if view.last_active is not None and view.last_active in view.agents:
        return [view.last_active]
    if len(present) == 1:
        return present
    if not view.agents:
        raise _Problem("nobody", "No agent is configured. Add one to the configuration.")
    names = ", ".join(f"@{name}" for name in (present or view.agents)[:5])
    whom = "who should answer" if present else "an agent to invite it"
    raise _Problem("nobody", f"Nobody was addressed. Mention {whom}: {names}.")


def _direct_command(command: SlashCommand, view: RoutingView, notes: list[RouteNote]) -> str:
    assert view.direct is not None
    agent, colon, rest = command.word.partition(":")
    if not colon:
        _note_unlisted(command.word, [view.direct], view, notes)
        return command.text
    if agent.lower() == view.direct.lower():
        return _named_command(command, view.direct, rest)
    if command.word in view.commands.get(view.direct, frozenset()):
        return command.text
    raise _Problem(
        "unknownAgent",
        f"In this conversation a command can only name @{view.direct}.",
        f"/{view.direct}:{rest}" if rest else None,
        (command.start, command.end),
    )


def _named_command(command: SlashCommand, agent: str, rest: str) -> str:
    if not rest:
        raise _Problem(
            "unknownCommand", f"/{agent}: names no command. Write /{agent}:command.", None, (command.start, command.end)
        )
    return command.without_agent()


def _command_targets(command: SlashCommand, view: RoutingView, notes: list[RouteNote]) -> list[tuple[str, str | None]]:
    agent, colon, rest = command.word.partition(":")
    if colon:
        named = next((name for name in view.agents if name.lower() == agent.lower()), None)
        if named is not None:
            return [(named, _named_command(command, named, rest))]
    addressed = _agents_of(command.leading, view)
    if not addressed and not colon:
        _check_only_other(command, view)
    targets = addressed or _default_target(view)
    if colon:
        _check_announced(command, targets, agent, rest, view)
    _note_unlisted(command.word, targets, view, notes)
    return [(name, command.text) for name in targets]


def _note_unlisted(word: str, targets: list[str], view: RoutingView, notes: list[RouteNote]) -> None:
    """Agents have commands they do not list, so an unknown one is sent, and the route says so."""
    if not any(word in view.commands.get(name, frozenset()) for name in targets):
        who = " nor ".join(f"@{name}" for name in targets)
        notes.append(RouteNote(code="unlistedCommand", text=f"{who} did not announce /{word}; it is sent anyway."))


def _check_announced(command: SlashCommand, targets: list[str], agent: str, rest: str, view: RoutingView) -> None:
    if all(command.word in view.commands.get(name, frozenset()) for name in targets):
        return
    meant = closest_name(agent, view.agents)
    hint = f" Did you mean /{meant}:{rest}?" if meant else ""
    raise _Problem(
        "unknownAgent",
        f"No agent is named {agent}, and nobody announced /{command.word}.{hint}",
        f"/{meant}:{rest}" if meant else None,
        (command.start, command.end),
    )


def _check_only_other(command: SlashCommand, view: RoutingView) -> None:
    """A plain command that only members announced who would not get it: suggest the one who has it."""
    having = [name for name in view.members if command.word in view.commands.get(name, frozenset())]
    try:
        default = _default_target(view)
    except _Problem:
        default = []
    if not having or any(name in having for name in default):
        return
    suggestion = f"/{having[0]}:{command.word}"
    who = f"@{default[0]} has no command /{command.word}" if default else "Nobody was addressed"
    raise _Problem(
        "unknownCommand",
        f"{who}. Did you mean {suggestion}?",
        suggestion,
        (command.start, command.end),
    )
