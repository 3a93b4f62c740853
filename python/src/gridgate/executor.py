"""An executor of ``concurrent.futures`` whose calls are jobs, many in each."""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar
from weakref import WeakSet

from ._files import Content, Files, named_files
from ._sync.client import Client, Manifest
from ._task import (
    Packages,
    PackedCall,
    Results,
    manifest_of,
    name_of,
    packed_chunks,
    pickled,
    refuse_options,
    wheels_of,
)
from .errors import JobFailed, JobsRefused, ProblemError
from .model import Job

if TYPE_CHECKING:
    from typing import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")

#: Seconds without another call after which those that wait are sent, and the longest that the first of them waits.
QUIET = 0.05
LONGEST_QUIET = 1.0
#: Jobs among which calls are spread whose length nobody knows yet, or that are short.
SPREAD = 16
#: Seconds that a job works through its calls: those that have not begun then come back and go out in smaller chunks.
SLICE = 30.0
#: Calls that dask and joblib have at once.
AT_ONCE = 1000
#: Submits whose jobs have not all ended: each follows the feed, and a user has 100 streams of it.
MOST_BATCHES = 32
#: Seconds that the end of a program waits for a submit, to kill what it has made.
LAST_SECONDS = 10.0
#: Bytes of calls that are sent at once.
MOST_BYTES = 64 << 20


@dataclass(eq=False)
class _Call:
    packed: PackedCall
    name: str
    future: Future[Any]
    chunksize: Optional[int]
    is_begun: bool = False


class GridExecutor(Executor):
    """Makes calls in jobs, for all that takes an executor: ``concurrent.futures``, dask, and joblib by ``gridgate.joblib``.

    Calls that come within a moment go out together, many in each job: as many as the job makes in half a minute, by the
    time that calls before took. ``chunksize`` says how many instead, ``max_jobs`` how many jobs there are at once. ``python``,
    ``packages``, ``files`` and ``manifest`` are those of ``Client.map``; files and packages go up with each submit.

    ``results``: values come back as JSON (tuples as lists), and exceptions of Python's own as such, others as ``CallFailed``.
    ``results="pickle"`` brings back any value and exception, which dask needs; to unpickle runs what the job's site has made
    of it with your rights: ask for it where you trust the sites.

    A call that raises has its exception in its future, with the traceback of the job as its cause; where a job fails, its
    calls have ``JobFailed``. A future can be cancelled until its call is sent. An exception that leaves the ``with`` block,
    Ctrl-C among them, cancels what waits and kills the jobs; so does the end of the program.
    """

    def __init__(
        self,
        client: Client,
        *,
        results: Results = "json",
        python: str = "python3",
        chunksize: Optional[int] = None,
        max_jobs: int = 1000,
        packages: Optional[Packages] = None,
        files: Files = (),
        manifest: Optional[Manifest] = None,
    ) -> None:
        refuse_options("an executor", results, manifest or {}, chunksize)
        if max_jobs < 1:
            raise ValueError(f"max_jobs is {max_jobs}: without jobs there are no calls")
        self._client = client
        self._results = results
        self._python = python
        self._chunksize = chunksize
        self._wheels = wheels_of(packages)
        self._files: dict[str, Content] = {**named_files(files), **self._wheels}
        self._manifest = dict(manifest or {})
        self._max_jobs = max_jobs
        #: How many calls dask may have at once.
        self._max_workers = AT_ONCE
        self._changed = threading.Condition()
        self._waiting: deque[_Call] = deque()
        self._batches: dict[int, _Batch] = {}
        self._thread: Optional[threading.Thread] = None
        self._is_shut = False
        self._is_stopped = False
        self._seconds = 0.0
        self._calls = 0
        _executors.add(self)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Makes one call; see the class."""
        return self._submit(fn, args, kwargs, self._chunksize)

    def map(
        self,
        fn: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: Optional[int] = None,
    ) -> Iterator[T]:
        """The results of the calls in order; ``chunksize``: how many calls each job makes, chosen unless it is given."""
        if chunksize is not None and chunksize < 1:
            raise ValueError(f"chunksize is {chunksize}, and a job makes at least one call")
        end = None if timeout is None else time.monotonic() + timeout
        size = self._chunksize if chunksize is None else chunksize
        [body] = pickled(fn)  # once, as it may be large
        return _results_of(deque(self._submit(fn, args, {}, size, body) for args in zip(*iterables)), end)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no further calls; ``wait``: until those that there are have ended.

        ``cancel_futures``: calls that wait are cancelled, and jobs are killed, whose calls then have ``JobFailed``.
        """
        with self._changed:
            self._is_shut = True
            self._is_stopped = self._is_stopped or cancel_futures
            dropped = [self._waiting.popleft() for _ in range(len(self._waiting))] if cancel_futures else []
            jids = [jid for batch in self._batches.values() for jid in batch.jids] if cancel_futures else []
            self._changed.notify_all()
        for call in dropped:
            _drop(call)
        is_killed = self._kill(jids)
        thread = self._thread
        if wait and is_killed and thread is not None and thread is not threading.current_thread():
            thread.join()

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.shutdown(wait=True, cancel_futures=kind is not None)

    def _submit(
        self,
        fn: Callable[..., T],
        args: Sequence[Any],
        named: dict[str, Any],
        chunksize: Optional[int],
        body: Optional[bytes] = None,
    ) -> Future[T]:
        future: Future[T] = Future()
        if self._results == "json" and str(getattr(fn, "__module__", "")).partition(".")[0] == "dask":
            raise ValueError(
                "dask needs values that JSON cannot carry: GridExecutor(…, results='pickle') where you trust the sites"
            )
        call: Optional[_Call] = None
        try:
            *bodies, arguments = pickled(*([fn] if body is None else []), (tuple(args), named))
            call = _Call(PackedCall(body or bodies[0], arguments), name_of(fn), future, chunksize)
        except Exception as error:  # as the executors of Python do
            future.set_exception(error)
        with self._changed:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if call is not None:
                self._waiting.append(call)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="gridgate-executor", daemon=True)
                    self._thread.start()
                self._changed.notify_all()
        return future

    def _work(self) -> None:
        """Sends what waits, until there is nothing more to come."""
        while True:
            with self._changed:
                while not self._may_send():
                    if self._is_shut and not self._waiting and not self._batches:
                        return
                    # jobs that have been away for long make room for others without a word
                    self._changed.wait(1.0 if self._waiting else None)
                self._await_quiet()
                batch = self._next_batch()
            if batch is not None:
                threading.Thread(target=batch.run, name="gridgate-batch", daemon=True).start()

    def _may_send(self) -> bool:
        return bool(self._waiting) and len(self._batches) < MOST_BATCHES and self._room() * 2 >= self._most()

    def _most(self) -> int:
        """Jobs that there may be at once: calls that are short, or of which nobody knows, shall be in few."""
        known = self._mean()
        is_long = self._waiting[0].chunksize is not None or (known is not None and known > SLICE / SPREAD)
        return self._max_jobs if is_long else min(SPREAD, self._max_jobs)

    def _room(self) -> int:
        """Jobs that there may be beside those that there are; those of before count for the most only."""
        now = time.monotonic()
        sizes = [(batch.size, now - batch.sent < SLICE) for batch in self._batches.values()]
        young = sum(size for size, is_young in sizes if is_young)
        return min(self._most() - young, self._max_jobs - sum(size for size, _ in sizes))

    def _mean(self) -> Optional[float]:
        return self._seconds / self._calls if self._calls else None

    def _await_quiet(self) -> None:
        """Waits until no further call has come for a moment."""
        end = time.monotonic() + LONGEST_QUIET
        before = -1
        while len(self._waiting) != before and time.monotonic() < end and not self._is_shut:
            before = len(self._waiting)
            self._changed.wait_for(lambda: self._is_shut, QUIET)

    def _next_batch(self) -> Optional[_Batch]:
        """The chunks of the calls that are sent next; those that were cancelled go."""
        if not self._waiting:
            return None
        wish = self._waiting[0].chunksize
        count = sum(1 for _ in takewhile(lambda call: call.chunksize == wish, self._waiting))
        size = wish or self._chunk_of(count)
        calls: list[_Call] = []
        total = 0
        most = size * max(1, self._room())
        while self._waiting and self._waiting[0].chunksize == wish and len(calls) < most and total < MOST_BYTES:
            call = self._waiting.popleft()
            if call.is_begun or call.future.set_running_or_notify_cancel():
                call.is_begun = True
                calls.append(call)
                total += len(call.packed.arguments)
        if not calls:
            return None
        places = iter(calls)
        chunks = [list(islice(places, size)) for _ in range(-(-len(calls) // size))]
        batch = _Batch(self, chunks, None if wish is not None else SLICE)
        self._batches[id(batch)] = batch
        return batch

    def _chunk_of(self, count: int) -> int:
        """Calls for each job: so few that each has some, and no more than it makes in its time."""
        spread = -(-count // min(SPREAD, self._max_jobs))
        known = self._mean()
        return max(1, min(spread, int(SLICE / max(known, 1e-6)))) if known is not None else spread

    def _again(self, calls: Sequence[_Call]) -> None:
        """Takes back what a job has not begun."""
        with self._changed:
            if not self._is_stopped:
                self._waiting.extendleft(reversed(calls))
                calls = []
            self._changed.notify_all()
        for call in calls:
            _drop(call)

    def _await_settled(self) -> None:
        """Waits until the jobs of each submit that is under way are known, and killed."""
        with self._changed:
            self._changed.wait_for(lambda: all(batch.is_settled for batch in self._batches.values()), LAST_SECONDS)

    def _kill(self, jids: Iterable[int]) -> bool:
        """Kills jobs; False when the service could not be asked to."""
        wanted = list(jids)
        try:
            if wanted:
                self._client.kill(wanted)
        except JobsRefused as error:  # they have ended
            return all(isinstance(one, ProblemError) for one in error.refused.values())
        except Exception:
            return False
        return True


class _Batch:
    """Jobs that were sent at once."""

    def __init__(self, executor: GridExecutor, chunks: list[list[_Call]], seconds: Optional[float]) -> None:
        self._executor = executor
        self._chunks = chunks
        self._seconds = seconds
        self.sent = time.monotonic()
        self.jids: dict[int, list[_Call]] = {}
        self.size = len(chunks)
        self._is_sent = False
        #: Whether its jobs can be killed, or were.
        self.is_settled = False

    def run(self) -> None:
        """Sends the calls and gives each future what came of its call."""
        executor = self._executor
        try:
            self._submit()
            for job in executor._client._each_ended(list(self.jids)):
                self._take(job)
                with executor._changed:
                    del self.jids[job.jid]
                    self.size -= 1
                    executor._changed.notify_all()
        except Exception as error:
            executor._kill(self.jids)
            for call in (call for chunk in (self.jids.values() if self._is_sent else self._chunks) for call in chunk):
                if not call.future.done():
                    call.future.set_exception(error)
        finally:
            with executor._changed:
                del executor._batches[id(self)]
                executor._changed.notify_all()

    def _submit(self) -> None:
        executor = self._executor
        packed = [[call.packed for call in chunk] for chunk in self._chunks]
        task = packed_chunks(packed, executor._results, list(executor._wheels), self._seconds)
        name = f"calls of {self._chunks[0][0].name}"
        wish = manifest_of(name, len(packed), executor._results, executor._python, executor._manifest)
        uploads: dict[str, Content] = {**executor._files, **task}
        jids = executor._client.submit(wish, uploads)
        with executor._changed:
            self.jids = dict(zip(jids, self._chunks))
            self._is_sent = True
            is_stopped = executor._is_stopped
        if is_stopped:
            executor._kill(jids)
        self._settle()

    def _settle(self) -> None:
        with self._executor._changed:
            self.is_settled = True
            self._executor._changed.notify_all()

    def _take(self, job: Job) -> None:
        """Gives what came of the calls of a job to their futures."""
        executor = self._executor
        calls = self.jids[job.jid]
        # what a killed job has written comes when its processes have ended, seconds later
        is_killed = job.status in ("Killed", "Deleted")
        outcomes = [] if is_killed else executor._client._outcomes(job.jid, executor._results)
        if not outcomes:
            told = executor._client.job(job.jid)
            failure = JobFailed(job.jid, told.status, told.minor_status) if is_killed else executor._client.failure(told)
            for call in calls:
                call.future.set_exception(failure.of_call(failure.stderr))
            return
        with executor._changed:
            executor._seconds += sum(one.seconds for one in outcomes)
            executor._calls += len(outcomes)
        for call, one in zip(calls, outcomes):
            if one.fault is not None:
                call.future.set_exception(one.exception())
                continue
            try:
                value = one.value()
            except Exception as error:  # what it is made of is not here
                call.future.set_exception(error)
            else:
                call.future.set_result(value)
        executor._again(calls[len(outcomes) :])


def _drop(call: _Call) -> None:
    """Cancels a call that is not sent any more."""
    if call.is_begun:
        call.future.set_exception(CancelledError())
    elif call.future.cancel():
        call.future.set_running_or_notify_cancel()


def _results_of(futures: deque[Future[T]], end: Optional[float]) -> Iterator[T]:
    try:
        while futures:
            yield futures.popleft().result(None if end is None else end - time.monotonic())
    finally:
        for future in futures:
            future.cancel()


_executors: WeakSet[GridExecutor] = WeakSet()


@atexit.register
def _stop_all() -> None:
    """Nobody will take the results of what still runs."""
    for executor in list(_executors):
        with suppress(Exception):
            executor.shutdown(wait=False, cancel_futures=True)
            executor._await_settled()
