"""Signing in as agents offer it: their methods read tolerantly, and the command of one that wants a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from sidekicks_bridge.agents.process import build_argv, build_environment
from sidekicks_bridge.agents.raw import dicts, line, record, text
from sidekicks_bridge.protocol.types import SignInMethod, SignInVariable

if TYPE_CHECKING:
    from sidekicks_bridge.agents.spec import AgentSpec

_KINDS = {None: "agent", "agent": "agent", "terminal": "terminal", "env_var": "envVar"}


class Command(msgspec.Struct, frozen=True):
    """A command for the user's terminal; ``env`` is added to the environment there."""

    program: str
    args: list[str]
    env: dict[str, str]


class Offer(msgspec.Struct, frozen=True):
    """A method and what the agent said of it, raw."""

    method: SignInMethod
    raw: dict[str, Any]


def read_offers(introduction: dict[str, Any]) -> list[Offer]:
    """The methods in the answer to ``initialize``; what has no id is left out."""
    return [Offer(_method(item), item) for item in dicts(introduction.get("authMethods")) if text(item.get("id"))]


def _method(item: dict[str, Any]) -> SignInMethod:
    kind = "terminal" if _zed(item) else _KINDS.get(text(item.get("type")), "other")
    return SignInMethod(
        id=item["id"],
        name=line(item.get("name")) or item["id"],
        kind=kind,  # type: ignore[arg-type]  # the values of the table
        description=line(item.get("description")),
        variables=_variables(item) if kind == "envVar" else [],
        link=line(item.get("link")),
    )


def _zed(item: dict[str, Any]) -> dict[str, Any]:
    """Zed's extension of before there were kinds: the whole command."""
    return record(record(item.get("_meta")).get("terminal-auth"))


def _variables(item: dict[str, Any]) -> list[SignInVariable]:
    listed = dicts(item.get("vars")) or [{"name": item.get("varName")}]
    return [
        SignInVariable(
            name=one["name"],
            label=line(one.get("label")),
            secret=one.get("secret") is not False,
            optional=one.get("optional") is True,
        )
        for one in listed
        if text(one.get("name"))
    ]


def terminal_command(offer: Offer, spec: AgentSpec, cwd: str) -> Command:
    """What is to be run: the agent's own program with the method's arguments after its own.

    Raises agentSpawnFailed when that program is not there.
    """
    given = _zed(offer.raw)
    env = {**spec.env, **_texts(given.get("env")), **_texts(offer.raw.get("env"))}
    args = [word for word in offer.raw.get("args") or given.get("args") or [] if isinstance(word, str)]
    program = text(given.get("command"))
    if program is not None:
        return Command(program, args, env)
    first, *own = build_argv(spec, build_environment(os.environ, spec, ""), cwd)
    return Command(first, [*own, *args], env)


def _texts(raw: Any) -> dict[str, str]:
    if isinstance(raw, list):  # of {name, value}, as ACP has it elsewhere
        raw = {item.get("name"): item.get("value") for item in dicts(raw)}
    return {str(name): value for name, value in record(raw).items() if isinstance(value, str)}


def describe(methods: list[SignInMethod]) -> str:
    """The methods as a clause."""
    return ", ".join(f"{one.name} ({one.description})" if one.description else one.name for one in methods)
