"""One thread that writes: it takes every step that waits, commits once, then answers them all."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from mufakat.core import base
from mufakat.storage import errors
from mufakat.storage.clock import HighWater
from mufakat.storage.scope import Head, Scope
from mufakat.storage.transaction import Transaction

BATCH = 64
"""Steps in one commit."""
BATCH_SECONDS = 0.05
"""A batch that took longer commits before it takes another step."""
IDLE_SECONDS = 2.0
"""Quiet time after which the database is tidied."""

Step = Callable[[Transaction], Any]


@dataclass(frozen=True, slots=True)
class Job:
    """A step and the future of the one who waits for it."""

    step: Step
    future: Future[Any]


class VoidBatch(Exception):
    """The database gave the whole transaction up; no step of the batch remains."""


class Savepoint(Protocol):
    """One step's part of a transaction."""

    def commit(self) -> None:
        """Keep what the step wrote, if the transaction commits."""
        ...

    def rollback(self) -> None:
        """Undo what the step wrote, and nothing else."""
        ...


class Backend(Protocol):
    """The database under a writer; used by the writer's thread alone."""

    def transaction(self, known: Head) -> AbstractContextManager[tuple[Connection, Head]]:
        """A transaction in which nobody else writes, and the head that it goes on from.

        `known` is the head of our last commit. It commits at its end; an error inside undoes it.
        """
        ...

    def savepoint(self, connection: Connection) -> Savepoint:
        """Begin a step of a transaction; the one before has been ended."""
        ...

    def save(self, connection: Connection, head: Head, *, grown: bool) -> None:
        """Write the head row, last thing before the commit; `grown` where the log has grown."""
        ...

    def idle(self) -> None:
        """Tidy up: nothing came for a while."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


class Writer:
    """Owns the one writing connection; started once, stopped once."""

    def __init__(
        self,
        backend: Backend,
        head: Head,
        *,
        clock: HighWater,
        committed: Callable[[Head], None],
    ) -> None:
        """`committed` is called after each commit."""
        self._backend = backend
        self.head = head
        self._clock = clock
        self._committed = committed
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)

    def start(self) -> None:
        """Begin to take steps."""
        self._thread.start()

    def submit(self, step: Step) -> Future[Any]:
        """Queue a step; its future answers after the commit."""
        future: Future[Any] = Future()
        with self._closing:
            if self._closed:
                raise base.Unavailable("The store is closed.")
            self._jobs.put(Job(step, future))
        return future

    def stop(self) -> None:
        """Finish what is queued, store the time, and end the thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                # An empty step moves the clock's mark to whatever readers were told last.
                self._jobs.put(Job(lambda tx: None, Future()))
                self._jobs.put(None)
        self._thread.join()

    def _loop(self) -> None:
        try:
            self._take_steps()
        finally:
            try:
                self._backend.close()
            finally:
                self._abandon()

    def _abandon(self) -> None:
        """Answer whoever still waits; there is somebody only when the thread ends by a fault."""
        with self._closing:
            self._closed = True
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is not None and job.future.set_running_or_notify_cancel():
                job.future.set_exception(base.Unavailable("The store's writer has ended."))

    def _take_steps(self) -> None:
        quiet: float | None = None
        running = True
        while running:
            try:
                first = self._jobs.get(timeout=quiet)
            except queue.Empty:
                self._backend.idle()
                quiet = None
                continue
            running = first is not None
            if first is not None:
                running = self._serve(first)
            quiet = IDLE_SECONDS

    def _serve(self, first: Job) -> bool:
        """Run a batch that begins with `first`; False when the writer is told to stop."""
        batch = _Batch(self._backend, self._clock, self.head)
        job: Job | None = batch.take(first)
        more = True
        try:
            with self._backend.transaction(self.head) as (connection, head):
                batch.head = head
                if job is not None and self._jobs.empty():
                    batch.run_alone(connection, job)
                    job = None
                while job is not None:
                    batch.run(connection, job)
                    job, more = self._next(batch)
                batch.finish(connection, grown=batch.head.revision > head.revision)
        except BaseException as error:  # noqa: BLE001 - whoever waits must get an answer
            batch.fail(error)
            return more
        self.head = batch.head
        try:
            self._committed(batch.head)
        finally:
            batch.answer()
        return more

    def _next(self, batch: _Batch) -> tuple[Job | None, bool]:
        """The next step of the batch, if there is room; False when told to stop."""
        while not batch.full():
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return None, False
            taken = batch.take(job)
            if taken is not None:
                return taken, True
        return None, True


class _Batch:
    """The steps of one commit, each in its savepoint where there are several."""

    def __init__(self, backend: Backend, clock: HighWater, head: Head) -> None:
        self._backend = backend
        self._clock = clock
        self.head = head
        self._end = time.monotonic() + BATCH_SECONDS
        self._taken: list[Future[Any]] = []
        self._done: list[tuple[Future[Any], Any]] = []
        self._failed: list[tuple[Future[Any], BaseException]] = []

    def full(self) -> bool:
        return len(self._taken) >= BATCH or time.monotonic() > self._end

    def take(self, job: Job) -> Job | None:
        """Promise the job an answer; None when its caller has gone."""
        if not job.future.set_running_or_notify_cancel():
            return None
        self._taken.append(job.future)
        return job

    def run_alone(self, connection: Connection, job: Job) -> None:
        """Run the one step of a transaction; what it raises undoes the transaction.

        A savepoint would cost as much as a short step.
        """
        scope = Scope(connection, self._clock.now(), head=self.head)
        try:
            result = job.step(Transaction(scope))
            self.head = scope.outcome()
        finally:
            scope.close()
        self._done.append((job.future, result))

    def run(self, connection: Connection, job: Job) -> None:
        """Run one step; what it raises is kept for its caller alone."""
        scope = Scope(connection, self._clock.now(), head=self.head)
        savepoint = self._backend.savepoint(connection)
        try:
            result = job.step(Transaction(scope))
            head = scope.outcome()
        except BaseException as error:  # noqa: BLE001 - the caller's error, not ours
            scope.close()
            _end(savepoint.rollback, error)
            self._failed.append((job.future, error))
            return
        _end(savepoint.commit, None)
        self.head = head
        self._done.append((job.future, result))
        scope.close()

    def finish(self, connection: Connection, *, grown: bool) -> None:
        """Write the head row, last thing before the commit."""
        if not self._done:
            return
        self.head = replace(self.head, hwm=self._clock.now())
        self._backend.save(connection, self.head, grown=grown)

    def answer(self) -> None:
        """Tell every caller what came of it; the commit is on disk."""
        for future, result in self._done:
            future.set_result(result)
        for future, error in self._failed:
            future.set_exception(error)

    def fail(self, error: BaseException) -> None:
        """Tell every caller that nothing of the batch remains."""
        cause = error.__cause__ if isinstance(error, VoidBatch) and error.__cause__ else error
        if isinstance(cause, SQLAlchemyError):
            cause = errors.translate(cause)
        for future, own in self._failed:
            future.set_exception(own)
        for future in self._taken:
            if not future.done():
                future.set_exception(cause)


def _end(close: Callable[[], None], error: BaseException | None) -> None:
    """End a savepoint; when it is gone, the database has rolled everything back by itself."""
    try:
        close()
    except DBAPIError as gone:
        raise VoidBatch from (error or gone)
