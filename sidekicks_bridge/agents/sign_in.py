"""Signing in as agents offer it: their methods read tolerantly, and the command of one that wants a terminal."""

from __future__ import annotations

import os
from pathlib import Path
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

    Zed's extension counts only without ACP's own kind: agents that send both have been seen to be wrong in it (another
    program's name, arguments that belong to it alone). Raises agentSpawnFailed when the program is not there.
    """
    zed = {} if offer.raw.get("type") == "terminal" else _zed(offer.raw)
    given = zed or offer.raw
    env = {**spec.env, **_texts(given.get("env"))}
    listed = given.get("args")
    args = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    first, *own = build_argv(spec, build_environment(os.environ, spec, ""), cwd)
    program = text(zed.get("command"))
    if program is None:
        return Command(first, [*own, *args], env)
    beside = Path(first).parent / program  # a bare name means the agent itself, which may not be on PATH
    return Command(str(beside) if beside.is_file() else program, args, env)


def _texts(raw: Any) -> dict[str, str]:
    if isinstance(raw, list):  # of {name, value}, as ACP has it elsewhere
        raw = {item.get("name"): item.get("value") for item in dicts(raw)}
    return {str(name): value for name, value in record(raw).items() if isinstance(value, str)}


def describe(methods: list[SignInMethod]) -> str:
    """The methods as a clause."""
    return ", ".join(f"{one.name} ({one.description})" if one.description else one.name for one in methods)
