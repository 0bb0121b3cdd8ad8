"""What a file says, and what is in force after it changed (design invariant 8). Pure."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sidekicks_bridge.config.model import AgentSpec, ChannelSpec, Config
from sidekicks_bridge.names import fold
from sidekicks_bridge.protocol.types import Problem

ANY = ""
"""In `Parsed.kept`, for the name of an entry whose own name cannot be read: it may be any that is missing."""

S = TypeVar("S", AgentSpec, ChannelSpec)
E = TypeVar("E", bound=msgspec.Struct)


class Parsed(msgspec.Struct, frozen=True):
    """What a file says. ``config`` holds its good entries; None: the file as a whole says nothing.

    ``kept`` names what is bad and stays as it last was: ``(section,)``, ``("agents", folded name)``,
    ``("limits", field)``. ``order`` gives the folded names of a list section as the file has them.
    """

    config: Config | None
    problems: list[Problem]
    kept: frozenset[tuple[str, ...]] = frozenset()
    order: dict[str, list[str]] = {}

    @property
    def errors(self) -> list[Problem]:
        """The problems that are not mere warnings."""
        return [problem for problem in self.problems if problem.severity == "error"]


def settle(previous: Config | None, parsed: Parsed) -> Config:
    """What is in force after reading ``parsed`` over ``previous`` (None: at start). Design invariant 8.

    A file that says nothing as a whole leaves everything as it was; a bad entry stays as it last was (at start: is
    not there), the rest applies.
    """
    if parsed.config is None:
        return previous or Config()
    if previous is None:
        return parsed.config
    now = parsed.config
    return Config(
        agents=_settle_list("agents", previous.agents, now.agents, parsed),
        channels=_settle_list("channels", previous.channels, now.channels, parsed),
        limits=_settle_section("limits", previous.limits, now.limits, parsed),
        permissions=_settle_section("permissions", previous.permissions, now.permissions, parsed),
        messaging=_settle_section("messaging", previous.messaging, now.messaging, parsed),
        ui=_settle_section("ui", previous.ui, now.ui, parsed),
    )


def _settle_list(section: str, before: list[S], now: list[S], parsed: Parsed) -> list[S]:
    if (section,) in parsed.kept:
        return before
    present = {fold(spec.name) for spec in now}
    gone = [spec for spec in before if fold(spec.name) not in present]
    kept = {name for kind, *names in parsed.kept if kind == section for name in names}
    rank = {name: place for place, name in reversed([*enumerate(parsed.order.get(section, []))])}
    specs = now + [spec for spec in gone if fold(spec.name) in kept or ANY in kept]
    return sorted(specs, key=lambda spec: rank.get(fold(spec.name), len(rank)))


def _settle_section(section: str, before: E, now: E, parsed: Parsed) -> E:
    if (section,) in parsed.kept:
        return before
    kept = [field for field in now.__struct_fields__ if (section, field) in parsed.kept]
    return msgspec.structs.replace(now, **{field: getattr(before, field) for field in kept})
