"""A thread that owns one SQLite connection: reads one by one, writes in groups that share a transaction and its fsync.

Knows nothing of tables. Every failure ends in the future of the job that caused it; the thread goes on. A group is
answered in one step: waking the loop for each job would cost more than the job.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_log = logging.getLogger(__name__)

GROUP = 256
"""The most jobs that share a transaction."""
IDLE_SECONDS = 0.05
"""How long nothing must have happened before the idle work begins."""


@dataclass(slots=True)
class _Job:
    """``future`` is the loop's: the thread leaves a result or problem here, and the loop hands it on."""

    work: Callable[[sqlite3.Connection], Any]
    is_write: bool
    future: asyncio.Future[Any]
    result: Any = None
    problem: Exception | None = None


class Worker:
    """The only user of ``connection`` from now on. Asked from one event loop.

    ``idle`` does a bit of spare work and says whether more is left; it begins with the first job or when started.
    ``closed`` is called once the connection is.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        name: str,
        idle: Callable[[sqlite3.Connection], bool] | None = None,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        self._connection = connection
        self._closed = closed
        self._idle = idle
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self.ended: Future[None] = Future()
        """Ends with the thread, after `stop`."""
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def read(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Run ``work`` on one snapshot of the database, unless the future is cancelled before."""
        return self._put(work, is_write=False)

    def write(self, work: Callable[[sqlite3.Connection], None]) -> asyncio.Future[None]:
        """Run ``work`` in a transaction, even if the future is cancelled.

        The future ends when it is durable, or with why nothing was changed.
        """
        return self._put(work, is_write=True)

    def start_spare_work(self) -> None:
        """From now on do it whenever nothing else is asked for."""
        self.read(lambda _connection: None).cancel()  # a job that nobody waits for: it only wakes the thread

    def stop(self) -> None:
        """Finish what was asked for, close the connection, end the thread."""
        self._queue.put(None)

    def _put(self, work: Callable[[sqlite3.Connection], Any], *, is_write: bool) -> asyncio.Future[Any]:
        job = _Job(work, is_write, asyncio.get_running_loop().create_future())
        self._queue.put(job)
        return job.future

    def _run(self) -> None:
        more, wait = False, IDLE_SECONDS
        while True:
            try:
                jobs = self._take(wait if more else None)
            except Empty:
                more = self._spare_work()
                wait = 0.0
                continue
            more, wait = self._idle is not None, IDLE_SECONDS
            for is_write, group in itertools.groupby(filter(None, jobs), key=lambda job: job.is_write):
                if is_write:
                    self._write(together := list(group))
                    _answer(together)
                else:
                    for job in group:
                        if not job.future.cancelled():
                            self._read(job)
                            _answer([job])
            if jobs[-1] is None:
                break
        try:
            self._connection.close()
        except sqlite3.Error as problem:  # it is all committed; the next one to open it merges the log
            _log.warning("The database could not be closed cleanly: %s", problem)
        self._closed()
        self.ended.set_result(None)

    def _take(self, wait: float | None) -> list[_Job | None]:
        """What waits, at least one; None is the last. Raises Empty after ``wait`` seconds."""
        jobs = [self._queue.get(timeout=wait)]
        while jobs[-1] is not None and len(jobs) < GROUP:
            try:
                jobs.append(self._queue.get_nowait())
            except Empty:
                break
        return jobs

    def _read(self, job: _Job) -> None:
        try:
            job.result = self._transaction("BEGIN", [job])
        except Exception as problem:  # contained: it belongs to whoever asked
            job.problem = problem

    def _write(self, jobs: list[_Job]) -> None:
        try:
            self._transaction("BEGIN IMMEDIATE", jobs)
        except Exception as problem:  # contained: it belongs to whoever asked
            if len(jobs) == 1:
                jobs[0].problem = problem
                return
            for job in jobs:  # one bad job must not fail the others
                self._write([job])

    def _transaction(self, begin: str, jobs: list[_Job]) -> object:
        result: object = None
        self._connection.execute(begin)
        try:
            for job in jobs:
                result = job.work(self._connection)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return result

    def _spare_work(self) -> bool:
        try:
            return self._idle is not None and self._idle(self._connection)
        except sqlite3.Error as problem:  # a full disk, say: tried again after the next write
            _log.warning("The search index could not be brought up to date: %s", problem)
            return False


def _answer(jobs: list[_Job]) -> None:
    try:
        jobs[0].future.get_loop().call_soon_threadsafe(_settle, jobs)
    except RuntimeError:
        pass  # the loop has ended: nobody waits any more


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # whoever asked was cancelled
            continue
        if job.problem is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.problem)
