"""joblib by a ``GridExecutor``: ``joblib.parallel_config("gridgate", executor=executor)`` after ``import gridgate.joblib``."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, Callable, Optional

from joblib import register_parallel_backend
from joblib.parallel import ParallelBackendBase

from .executor import AT_ONCE, GridExecutor

Results = list[Future[Any]]


class GridBackend(ParallelBackendBase):  # type: ignore[misc]
    """Hands the calls of ``joblib.Parallel`` to an executor; the jobs need no joblib.

    ``n_jobs`` is how many calls are awaited at once, not how many jobs there are: without one as many as are worth it.
    """

    default_n_jobs = -1
    supports_retrieve_callback = True
    supports_timeout = True

    def __init__(self, executor: GridExecutor, **options: Any) -> None:
        super().__init__(**options)
        self._executor = executor
        self._futures: set[Future[Any]] = set()

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        """How many calls are awaited at once."""
        if n_jobs == 0:
            raise ValueError("n_jobs is 0: no call would be made")
        # joblib has twice as many ready
        return n_jobs if n_jobs is not None and n_jobs > 0 else AT_ONCE // 2

    def submit(self, func: Any, callback: Optional[Callable[[Results], Any]] = None) -> Results:
        """Makes the calls of a batch of joblib, each by itself: the executor makes chunks of them."""
        futures = [self._executor.submit(function, *args, **named) for function, args, named in func.items]
        self._futures.update(futures)
        lock = threading.Lock()
        left = len(futures)

        def done(future: Future[Any]) -> None:
            nonlocal left
            self._futures.discard(future)
            with lock:
                left -= 1
                is_last = left == 0
            if is_last and callback is not None:
                callback(futures)

        for future in futures:
            future.add_done_callback(done)
        return futures

    apply_async = submit

    def retrieve_result_callback(self, out: Results) -> list[Any]:
        """The results of a batch whose calls have ended."""
        return [future.result() for future in out]

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Calls that were not sent are cancelled; jobs go on until the executor is stopped."""
        for future in list(self._futures):
            future.cancel()


register_parallel_backend("gridgate", GridBackend)
