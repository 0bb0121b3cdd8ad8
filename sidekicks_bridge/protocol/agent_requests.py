"""The parameters and results of requests about agents themselves: signing in, their sessions, what they ask for."""

from __future__ import annotations

from typing import Any, Literal

from sidekicks_bridge.protocol.base import Wire
from sidekicks_bridge.protocol.types import AgentSession, SignInVariable


class AnswerElicitation(Wire, kw_only=True):
    """Answer what an agent asked for; ``content`` (field name → value) only with `accept` of a form."""

    request_id: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = {}


class ListSessions(Wire, kw_only=True):
    """The sessions that an agent remembers; ``folder`` (absolute): only those of that folder."""

    agent: str
    folder: str | None = None


class AgentSessions(Wire, kw_only=True):
    """Sessions, as the agent orders them."""

    sessions: list[AgentSession]


class SessionRef(Wire, kw_only=True):
    """A session of an agent."""

    agent: str
    session_id: str


class PickUpSession(Wire, kw_only=True):
    """Go on in a channel with a session that the agent remembers."""

    channel_id: str
    agent: str
    session_id: str


class Authenticate(Wire, kw_only=True):
    """Sign in to an agent by one of its methods. ``ran``: the command of a terminal method has been run."""

    agent: str
    method_id: str
    ran: bool = False


class TerminalCommand(Wire, kw_only=True):
    """A command for the user's terminal; ``env`` is added to the client's environment, ``cwd`` is a folder."""

    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str


class Authenticated(Wire, kw_only=True):
    """What came of it, as a sentence. ``done``: the agent takes prompts again, what had failed for it is tried anew.

    Else ``terminal`` is to be run (then ask again with ``ran``), or ``variables`` are to be set.
    """

    done: bool
    text: str
    terminal: TerminalCommand | None = None
    variables: list[SignInVariable] = []
