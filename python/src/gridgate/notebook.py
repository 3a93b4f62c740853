"""A live table of jobs for notebooks."""

from __future__ import annotations

import html
import threading
from collections import Counter
from typing import Any, Optional

from ._sync.client import Client
from .errors import GridgateError
from .listing import SHOWN, table_of
from .model import Job


class LiveJobs:
    """The jobs that match, as a table that follows them: the last expression of a cell shows it.

    ``LiveJobs(client, job_group="mc")``; ``stop()`` ends it. Everywhere else than in a notebook it is a text.
    """

    def __init__(self, client: Client, **filters: Any) -> None:
        self._client = client
        self._filters = filters
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._shown: list[Any] = []
        self.error: Optional[str] = None

    def start(self) -> LiveJobs:
        """Begins to follow the jobs, in a thread of its own."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._follow, name="gridgate-live", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Ends it; what is shown stays."""
        self._stop.set()

    @property
    def counts(self) -> dict[str, int]:
        """Jobs by state."""
        with self._lock:
            return dict(Counter(job.status for job in self._jobs.values()))

    def _follow(self) -> None:
        try:
            for change in self._client.watch(**self._filters):
                if self._stop.is_set():
                    return
                with self._lock:
                    if change.anew:
                        self._jobs = {}
                    elif change.kind == "left" and change.job is not None:
                        self._jobs.pop(change.job.jid, None)
                    elif change.job is not None:
                        self._jobs[change.job.jid] = change.job
                if change.kind != "listed":
                    self._update()
        except GridgateError as error:
            self._fail(str(error))
        except RuntimeError:
            if not self._client.is_closed:
                raise
            self._fail("the client was closed")

    def _fail(self, why: str) -> None:
        # Whoever stopped it does not want to hear how the watch ended, nor can a program that is about to end.
        if not self._stop.is_set():
            self.error = why
            self._update()

    def _update(self) -> None:
        for handle in self._shown:
            handle.update(_Shown(self))

    def __repr__(self) -> str:
        states = ", ".join(f"{count} {status}" for status, count in sorted(self.counts.items()))
        return f"<{states or 'no jobs'}{f'; ended: {self.error}' if self.error else ''}>"

    def _repr_html_(self) -> str:
        with self._lock:
            jobs = sorted(self._jobs.values(), key=lambda job: -job.jid)
        more = f"<p>and {len(jobs) - SHOWN} more</p>" if len(jobs) > SHOWN else ""
        return f"<div><p>{html.escape(repr(self)[1:-1])}</p>{table_of(jobs[:SHOWN])}{more}</div>"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        self.start()
        handle = display(_Shown(self), display_id=True)
        if handle is not None:
            self._shown.append(handle)


class _Shown:
    """What a notebook keeps of it: text and table."""

    def __init__(self, live: LiveJobs) -> None:
        self._live = live

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self._live), "text/html": self._live._repr_html_()}
