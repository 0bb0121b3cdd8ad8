"""The sessions of one process by id and by channel, and what to do with updates for an id nobody knows.

Agents announce commands before they answer ``session/new``, and some let sub-agents speak under ids of their own.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sidekicks_bridge.agents.session import AcpSession

    Deliver = Callable[[AcpSession], None]

HELD_UPDATES = 1000


class Sessions:
    """Registered sessions; while one is being opened, updates for unknown ids are held back (bounded)."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.by_channel: dict[str, AcpSession] = {}
        self._by_id: dict[str, AcpSession] = {}
        self._former: set[str] = set()
        self._held: deque[tuple[str, Deliver]] = deque(maxlen=HELD_UPDATES)
        self._opening = 0
        self._report = report

    def add(self, session: AcpSession) -> None:
        """Register a session and give it what was held for it."""
        self._former.discard(session.id)
        self._by_id[session.id] = session
        self.by_channel[session.channel_id] = session
        mine = [deliver for session_id, deliver in self._held if session_id == session.id]
        self._held = deque((item for item in self._held if item[0] != session.id), HELD_UPDATES)
        for deliver in mine:
            deliver(session)

    def remove(self, session: AcpSession) -> None:
        """Forget a session; what is still said in it is nobody's business."""
        self._former.add(session.id)
        if self._by_id.get(session.id) is session:
            del self._by_id[session.id]
        if self.by_channel.get(session.channel_id) is session:
            del self.by_channel[session.channel_id]

    def __iter__(self) -> Iterator[AcpSession]:
        return iter(list(self._by_id.values()))

    @contextmanager
    def opening(self) -> Iterator[None]:
        """While a session's id is not known yet; afterwards what is still unclaimed goes to the running session."""
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1
            if not self._opening:
                held, self._held = list(self._held), deque(maxlen=HELD_UPDATES)
                for session_id, deliver in held:
                    self.deliver(session_id, deliver)

    def find(self, session_id: object) -> AcpSession | None:
        """The session meant by ``session_id``: that one, else the only one with a prompt in flight."""
        if isinstance(session_id, str) and (session_id in self._by_id or session_id in self._former):
            return self._by_id.get(session_id)
        running = [session for session in self._by_id.values() if session.running]
        return running[0] if len(running) == 1 else None

    def deliver(self, session_id: str, deliver: Deliver) -> None:
        """Call ``deliver`` with the session meant, now or when it is known; else say so in the log."""
        session = self._by_id.get(session_id)
        if session is None and self._opening:
            self._held.append((session_id, deliver))
            return
        session = session or self.find(session_id)
        if session is None and session_id in self._former:
            return
        if session is None:
            self._report(f"[an update for the unknown session {session_id[:80]!r} was dropped]")
        else:
            deliver(session)
