"""What every channel is given: the seams and the shared parts around it. Holds references, decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.agents.contract import Agents
    from sidekicks_bridge.channels.announced import AnnouncedCommands
    from sidekicks_bridge.channels.journal import Journal
    from sidekicks_bridge.clock import Clock
    from sidekicks_bridge.config.model import Config
    from sidekicks_bridge.ids import Ids
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.errors import SidekicksError
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store


class Subscriber(Protocol):
    """A client that has opened a channel."""

    def notify(self, event: Wire) -> bool:
        """Queue an event for the client; False: it was too slow and has to open the channel again."""
        ...


class Spawn(Protocol):
    """Starts a child task whose failure is contained."""

    def __call__(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Start ``task(*args)``."""
        ...


@dataclass(frozen=True)
class Env:
    """The surroundings of a channel."""

    agents: Agents
    store: Store
    journal: Journal
    announced: AnnouncedCommands
    ids: Ids
    clock: Clock
    config: Callable[[], Config]
    spawn: Spawn
    to_all: Callable[[Wire], None]
    """Sends an event to every client."""
    channel_changed: Callable[[], None]
    """Tells every client the list of channels anew."""
    finished: Callable[[Message], None]
    """A message got its seq (it may not be on disk yet): mail delivers it."""
    peers: Callable[[], list[str]]
    """The registered peers' names."""
    auth_required: Callable[[str, str, str | None, SidekicksError], None]
    """An agent (name) wants the user to sign in, in a channel (id), for an answer (id, if there is one)."""
    auth_settled: Callable[[str], object]
    """An agent took a session: it wants no signing in."""
