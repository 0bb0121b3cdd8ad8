"""Who answers a user's message: the one function that explains a route (design rules 1, 2, 5 and Mentions).

Sending and previewing both call `explain`, so they can never disagree. Pure: a `RoutingView` in, a `Route` out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.commands import SlashCommand, find_command
from sidekicks_bridge.channels.mentions import ALL, UnknownMention, closest_name, find_mentions, stands_first
from sidekicks_bridge.protocol.routes import Route, RouteNote, RouteProblem, RouteTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sidekicks_bridge.protocol.types import WaitsFor


_AFTER_A_NAME = ("", *" ,:;!?*_")
"""What follows whom one speaks to."""


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


def explain(text: str, view: RoutingView, *, attached: bool = False) -> Route:
    """The route of ``text`` as it stands: who answers in which order, or what is wrong (then nobody).

    ``attached``: whether attachments go along; without any, nothing is sent where nothing is written.
    """
    if not text.strip() and not attached:
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
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


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
    """Who answers and with which command (None: an ordinary message); adds to ``notes``."""
    if view.direct is not None:
        _require_configured(view.direct, view)
        command = find_command(text, [])
        return [(view.direct, _direct_command(command, view.direct, view, notes) if command else None)]
    mentions = find_mentions(text, [ALL, *view.peers, *view.agents])
    named = list(dict.fromkeys(mention.name for mention in mentions.known))
    _note_peers(named, view, notes)
    if command := find_command(text, mentions.known):
        return _command_targets(command, view, notes)
    addressed = _agents_of(named, view)
    unknown = mentions.unknown
    if addressed or unknown is None or not stands_first(text, unknown.start):
        unknown = None
    else:
        _check_unknown(unknown, view)
    addressed = addressed or _default_agents(view)
    if unknown and text[unknown.end : unknown.end + 1] not in _AFTER_A_NAME:
        unknown = None  # a decorator before a line of code, say
    if not addressed:
        raise _nobody(view, unknown)
    if unknown:
        notes.append(RouteNote(code="unknownAgent", text=f"No agent is named @{unknown.word}: it is read as text."))
    return [(name, None) for name in addressed]


def _require_configured(agent: str, view: RoutingView) -> None:
    if agent not in view.agents:
        raise _Problem("agentNotFound", f"@{agent} is no longer in the configuration, so it cannot answer.")


def _agents_of(names: list[str], view: RoutingView) -> list[str]:
    """The agents that mentions name, each once, in order; `@all` is every member."""
    addressed: dict[str, None] = {}
    for name in names:
        if name == ALL:
            addressed.update(dict.fromkeys(_present(view)))
        elif name in view.agents:
            addressed[name] = None
    return list(addressed)


def _present(view: RoutingView) -> list[str]:
    return [name for name in view.members if name in view.agents]


def _check_unknown(first: UnknownMention, view: RoutingView) -> None:
    """A slip at the very start of what addresses no agent stops the message instead of sending it to another."""
    meant = closest_name(first.word, view.agents)
    if meant:
        raise _Problem(
            "unknownAgent",
            f"No agent is named @{first.word}. Did you mean @{meant}?",
            f"@{meant}",
            (first.start, first.end),
        )


def _note_peers(named: list[str], view: RoutingView, notes: list[RouteNote]) -> None:
    for name in named:
        if name in view.peers:
            notes.append(RouteNote(code="peer", text=f"@{name} is not an agent here and reads this by mail."))


def _default_agents(view: RoutingView) -> list[str]:
    """Rule 2c: the last one active, else the only one; none, and rule 2d holds."""
    if view.last_active is not None and view.last_active in view.agents:
        return [view.last_active]
    present = _present(view)
    return present if len(present) == 1 else []


def _nobody(view: RoutingView, unknown: UnknownMention | None = None) -> _Problem:
    """Rule 2d."""
    if not view.agents:
        return _Problem("nobody", "No agent is configured. Add one to the configuration.")
    present = _present(view)
    names = ", ".join(f"@{name}" for name in (present or view.agents)[:5])
    whom = "who should answer" if present else "an agent to invite it"
    nobody = f"No agent is named @{unknown.word}" if unknown else "Nobody was addressed"
    return _Problem("nobody", f"{nobody}. Mention {whom}: {names}.")


def _command_targets(command: SlashCommand, view: RoutingView, notes: list[RouteNote]) -> list[tuple[str, str | None]]:
    named = _agent_named(command, view)
    if named is not None:
        return [(named, _named_command(command, named, view, notes))]
    addressed = _agents_of(command.leading, view)
    targets = addressed or _default_agents(view)
    if command.agent is not None and not (targets and all(_has(name, command.word, view) for name in targets)):
        raise _unknown_agent(command, command.agent, targets, view)
    if not addressed:
        _check_only_other(command, targets, view)
    if not targets:
        raise _nobody(view)
    _note_unlisted(command.word, targets, view, notes)
    return [(name, command.text) for name in targets]


def _direct_command(command: SlashCommand, direct: str, view: RoutingView, notes: list[RouteNote]) -> str:
    """What a direct conversation's agent is sent: a command there can name nobody else."""
    named = _agent_named(command, view)
    if named == direct:
        return _named_command(command, direct, view, notes)
    announced = _has(direct, command.word, view)
    if command.agent is None or (named is None and announced):
        _note_unlisted(command.word, [direct], view, notes)
        return command.text
    word = command.word if announced else command.own_word
    raise _Problem(
        "unknownAgent",
        f"In this conversation a command can only name @{direct}.",
        f"/{direct}:{word}" if word else None,
        (command.start, command.end),
    )


def _agent_named(command: SlashCommand, view: RoutingView) -> str | None:
    """The agent in `/agent:command`, if there is one of that name."""
    wanted = (command.agent or "").lower()
    return next((name for name in view.agents if name.lower() == wanted), None)


def _named_command(command: SlashCommand, agent: str, view: RoutingView, notes: list[RouteNote]) -> str:
    if not command.own_word[:1].isalnum():
        sentence = f"/{command.word} names no command. Write /{agent}:command."
        raise _Problem("unknownCommand", sentence, None, (command.start, command.end))
    _note_unlisted(command.own_word, [agent], view, notes)
    return command.without_agent()


def _has(agent: str, word: str, view: RoutingView) -> bool:
    """Whether the agent announced that command."""
    return word in view.commands.get(agent, frozenset())


def _note_unlisted(word: str, targets: list[str], view: RoutingView, notes: list[RouteNote]) -> None:
    """Agents have commands they do not list, so an unknown one is sent, and the route says so."""
    for name in targets:
        if not _has(name, word, view):
            notes.append(
                RouteNote(code="unlistedCommand", text=f"@{name} has not announced /{word}; it is sent anyway.")
            )


def _unknown_agent(command: SlashCommand, agent: str, targets: list[str], view: RoutingView) -> _Problem:
    """`/x:y` where ``x`` is nobody and not all who would get it announced `/x:y`."""
    having = [name for name in _present(view) if _has(name, command.word, view)]
    meant = closest_name(agent, view.agents) if command.own_word else None
    suggestion = f"/{having[0]}:{command.word}" if having else f"/{meant}:{command.own_word}" if meant else None
    lacking = [
        f", and @{name} has no command /{command.word}" for name in targets if not _has(name, command.word, view)
    ]
    hint = f" Did you mean {suggestion}?" if suggestion else ""
    sentence = f"No agent is named {agent}{''.join(lacking[:1])}.{hint}"
    return _Problem("unknownAgent", sentence, suggestion, (command.start, command.end))


def _check_only_other(command: SlashCommand, targets: list[str], view: RoutingView) -> None:
    """A plain command that only members announced who would not get it: suggest the one who has it."""
    having = [name for name in _present(view) if _has(name, command.word, view)]
    if not having or any(name in having for name in targets):
        return
    suggestion = f"/{having[0]}:{command.word}"
    who = f"@{targets[0]} has no command /{command.word}" if targets else "Nobody was addressed"
    raise _Problem("unknownCommand", f"{who}. Did you mean {suggestion}?", suggestion, (command.start, command.end))
