"""The background queue from the log to the transcript: commits everything that waits at once, at most once a second.

The log is the truth: what is not committed when the bridge ends is projected again at the next start. A failure of git
or of the disk fails no mail: it is shown, and tried again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import msgspec

from sidekicks_bridge.mail.signing import BadKey
from sidekicks_bridge.mail.transcript.git import GitFailed, Repository
from sidekicks_bridge.mail.transcript.page import folder_of
from sidekicks_bridge.mail.transcript.shares import Keys, Share, commit
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import PutValue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sidekicks_bridge.channels.directory import Directory
    from sidekicks_bridge.channels.env import Env
    from sidekicks_bridge.store.contract import StoredChannel

_log = logging.getLogger(__name__)
PREFIX = "mail/transcript/"
FOLDER = "transcript"
GAP_SECONDS = 1.0
RETRY_SECONDS = 5.0
IDLE_SECONDS = 30.0
"""Housekeeping begins when nothing was written for so long."""
TIDY_AFTER = 20
"""Commits after which housekeeping is worth while."""
_PAGE = 500


class Projected(msgspec.Struct):
    """How far a channel is in the transcript: its folder there, and the seq up to which it is committed."""

    folder: str
    upto: int = 0


class Projector:
    """The transcript of a bridge. ``folder``: its data folder. ``on_problem``: something is (or is no more) wrong."""

    def __init__(self, env: Env, directory: Directory, folder: Path, on_problem: Callable[[], None]) -> None:
        self.problem: str | None = None
        self.repository = Repository(folder / FOLDER)
        self._env = env
        self._directory = directory
        self._keys = Keys(folder)
        self._on_problem = on_problem
        self._states: dict[str, Projected] = {}
        self._waiting: set[str] = set()
        self._arrived = anyio.Event()
        self._ended = anyio.Event()
        self._working = False
        self._anew = False
        self._commits = 0
        self._life = anyio.CancelScope()

    async def load(self) -> None:
        """Read how far everything is; what is not in the transcript yet waits from now on."""
        for key, value in (await self._env.store.values(PREFIX)).items():
            self._states[key.removeprefix(PREFIX)] = msgspec.convert(value, Projected)
        for channel in self._directory.all():
            state = self._states.get(channel.id)
            if state is None or state.upto < channel.state.last_seq or state.folder != folder_of(channel.state.stored):
                self.touch(channel.id)
        for channel_id in self._states:
            if self._directory.find(channel_id) is None:
                self.touch(channel_id)

    def touch(self, channel_id: str) -> None:
        """Something about a channel is new: a message, a member, its name, its end."""
        channel = self._directory.find(channel_id)
        if channel_id in self._states or (channel is not None and is_projected(channel.state.stored)):
            self._waiting.add(channel_id)
            self._arrived.set()

    async def settled(self) -> bool:
        """Wait until everything written so far is committed; False: it cannot be now."""
        while self._waiting or self._working:
            await self._ended.wait()
            if self.problem is not None:
                return False
        return True

    async def purge(self) -> None:
        """Write the transcript anew, without what was deleted. Raises storeUnavailable."""
        self._anew = True
        self._waiting.update(one.id for one in self._directory.all() if is_projected(one.state.stored))
        self._waiting.update(self._states)
        self._arrived.set()
        if not await self.settled():
            raise SidekicksError("storeUnavailable", self.problem or "The transcript cannot be written now.")

    async def run(self) -> None:
        """Project what waits; runs until `stop`, or cancelled."""
        with self._life:
            await self._run()

    def stop(self) -> None:
        """The bridge ends: what is not committed is projected at the next start."""
        self._life.cancel()

    async def _run(self) -> None:
        while True:
            if not self._waiting:
                self._arrived = anyio.Event()
                with anyio.move_on_after(IDLE_SECONDS) as idle:
                    await self._arrived.wait()
                if idle.cancelled_caught:
                    await self._tidy()
                continue
            began = anyio.current_time()
            done = await self._attempt()
            await anyio.sleep_until(began + (GAP_SECONDS if done else RETRY_SECONDS))

    async def _attempt(self) -> bool:
        """Commit what waits, once; whether it worked."""
        channel_ids, self._working = list(self._waiting), True
        self._waiting.clear()
        problem: str | None = None
        try:
            await self._project(channel_ids)
        except (GitFailed, BadKey, OSError, SidekicksError) as failure:
            self._waiting.update(channel_ids)
            problem = (
                f"The transcript in {self.repository.folder} is behind: {failure} Mail goes on; it is tried again."
            )
        self._working = False
        if problem != self.problem:
            self.problem = problem
            _log.warning("%s", problem or "the transcript is up to date again")
            self._on_problem()
        self._ended.set()
        self._ended = anyio.Event()
        return problem is None

    async def _project(self, channel_ids: list[str]) -> None:
        if not await anyio.to_thread.run_sync(self._prepare):
            self._states = {}  # no commits (any more): everything is written anew
            channel_ids = list(
                {*channel_ids, *(one.id for one in self._directory.all() if is_projected(one.state.stored))}
            )
        shares = {channel_id: await self._share(channel_id) for channel_id in channel_ids}
        wanted = {channel_id: share for channel_id, share in shares.items() if share is not None}
        await anyio.to_thread.run_sync(commit, self.repository, list(wanted.values()), self._keys)
        self._commits += 1
        await self._env.journal.keep(*[self._note(channel_id, share) for channel_id, share in wanted.items()])

    def _prepare(self) -> bool:
        """In the worker: see to it that there is a repository; whether what was committed is in it."""
        if self._anew:
            self.repository.begin_anew()
            self._anew = False
        had = self.repository.exists()
        self.repository.make()
        return had

    async def _share(self, channel_id: str) -> Share | None:
        """What of a channel is to be written."""
        state = self._states.get(channel_id)
        channel = self._directory.find(channel_id)
        if channel is None:
            return None if state is None else Share(state.folder)
        stored = msgspec.structs.replace(channel.state.stored)
        page = await self._env.store.page(channel_id, after=state.upto if state is not None else 0, limit=_PAGE)
        if page.has_more:
            self._waiting.add(channel_id)
        folder = folder_of(stored)
        former = state.folder if state is not None and state.folder != folder else None
        return Share(folder, stored, former, page.messages, list(channel.state.members))

    def _note(self, channel_id: str, share: Share) -> PutValue:
        """Remember what is committed."""
        before = self._states.pop(channel_id, None)
        if share.channel is None:
            return PutValue(PREFIX + channel_id, None)
        upto = (share.messages[-1].seq or 0) if share.messages else before.upto if before is not None else 0
        self._states[channel_id] = Projected(share.folder, upto)
        return PutValue(PREFIX + channel_id, msgspec.to_builtins(self._states[channel_id]))

    async def _tidy(self) -> None:
        if self._commits >= TIDY_AFTER:
            self._commits = 0
            try:
                await anyio.to_thread.run_sync(self.repository.tidy)
            except GitFailed as problem:
                _log.warning("git's housekeeping failed: %s", problem)


def is_projected(stored: StoredChannel) -> bool:
    """Whether a channel belongs into the transcript: a pair always, a named one once a peer was in it."""
    return stored.kind == "pair" or (stored.kind == "named" and stored.projected)
