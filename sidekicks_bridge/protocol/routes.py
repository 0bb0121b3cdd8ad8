"""Where a message goes and why: what a client shows before it is sent, and what sending answers."""

from __future__ import annotations

from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.types import WaitsFor


class RouteTarget(Wire, kw_only=True):
    """One agent that will answer: what it will be sent (``unseen`` messages, of them ``cut`` shortened or dropped)."""

    agent: str
    invited: bool
    command: str | None = None
    unseen: int
    cut: int
    fresh: bool
    waits_for: WaitsFor | None = None


class RouteProblem(Wire, kw_only=True):
    """Why nobody is started, as a sentence; ``suggestion`` replaces the range (UTF-16) of the text that is wrong."""

    code: str
    text: str
    suggestion: str | None = None
    start: int | None = None
    end: int | None = None


class RouteNote(Wire, kw_only=True):
    """Something worth knowing about a route that stops nothing."""

    code: str
    text: str


class Route(Wire, kw_only=True):
    """Who will answer a message, in which order, and why (not). A ``problem`` starts nobody."""

    to: list[RouteTarget]
    problem: RouteProblem | None = None
    notes: list[RouteNote] = []
