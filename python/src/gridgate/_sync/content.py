"""The bytes of a file of the catalogue, at the storage elements that have it."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Optional, TypeVar

import httpx

from .._call import Call, parsed
from .._files import Sink
from .._storage import Sums, was_cut
from ..errors import ProblemError, StorageError
from ..model import Access
from .transport import Transport

T = TypeVar("T")
#: Seconds before its end at which what opens a file is asked for again.
EARLY = 30.0


class Content:
    """One file, opened for reading: where one storage element fails, the next one is asked.

    What opens the file is asked for again shortly before it ends, and once when it is refused. Where a connection was cut,
    the same storage element is asked once more.
    """

    def __init__(
        self,
        transport: Transport,
        path: str,
        se: Optional[str],
        elements: Callable[[], list[str]],
    ) -> None:
        self._transport = transport
        self._path = path
        self._se = se
        self._elements = elements
        self._file: Optional[Access] = None
        self._ends = 0.0
        self._others: Optional[list[str]] = None

    def file(self) -> Access:
        """Where it lies, and what opens it. Raises ProblemError."""
        if self._file is not None and time.monotonic() < self._ends:
            return self._file
        return self._open(self._se if self._file is None else self._file.se)

    def part(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to before ``end``, without a checksum. Raises ProblemError and StorageError."""

        def work(file: Access) -> bytes:
            return self._transport.storage.part(file, start, end)

        return self._tried(work)

    def fetch(self, sink: Sink) -> str:
        """Writes all of it, compared with its checksums; answers the storage element. Raises ProblemError and StorageError."""

        def work(file: Access) -> str:
            sums = Sums(file.size or 0, file.checksum)
            with self._transport.storage.whole(file) as answer:
                sink.begin(answer)
                for piece in answer.iter_raw():
                    sums.update(piece)
                    sink.write(piece)
            sums.finish()
            return file.se

        return self._tried(work)

    def _tried(self, work: Callable[[Access], T]) -> T:
        faults: list[str] = []
        is_anew = False
        while True:
            file = self.file()
            try:
                return work(file)
            except StorageError as error:
                if not is_anew and (error.kind == "closed" or was_cut(error)):
                    is_anew = True
                    self._ends = 0.0 if error.kind == "closed" else self._ends
                    continue
                faults.append(f"{file.se}: {error}")
                is_anew = False
                if not self._next(file.se):
                    self._file = self._others = None
                    raise StorageError(error.kind, f"{self._path} cannot be read: {'; '.join(faults)}") from error

    def _next(self, failed: str) -> bool:
        """Goes on to the next storage element that has it at an address."""
        if self._others is None:
            self._others = [] if self._se is not None else [se for se in self._elements() if se != failed]
        while self._others:
            try:
                self._open(self._others.pop(0))
            except ProblemError as error:
                if error.status not in (400, 409):  # it has no address
                    raise
            else:
                return True
        return False

    def _open(self, se: Optional[str]) -> Access:
        body: dict[str, Any] = {"paths": [self._path], "right": "read"}
        if se is not None:
            body["se"] = se
        call = Call("POST", "/filecatalogue/access", json=body, again=True)
        answer = self._transport.answer(call)
        self._file = Access.of(parsed(answer.content)[0])
        left = (self._file.expires - _now(answer)).total_seconds()
        self._ends = time.monotonic() + left - min(EARLY, left / 4)
        return self._file


def _now(answer: httpx.Response) -> datetime:
    """The service's time: the clock of this machine may be wrong."""
    with suppress(TypeError, ValueError):
        return parsedate_to_datetime(answer.headers.get("Date"))
    return datetime.now(timezone.utc)
