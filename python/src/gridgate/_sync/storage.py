"""Requests to storage elements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Optional

import httpx

from .._storage import PIECE, Target, away_fault, read_fault, whole_of, write_fault
from ..errors import StorageError
from ..login import verify_with
from ..model import Access
from ._runtime import in_thread

MAX_HOPS = 5


class Storage:
    """Connections to storage elements: requests have what opens an address, and no token of the service.

    Names of headers go as they are spelled here: xrootd 5.5.3 does not find them in small letters.
    """

    def __init__(self, ca: Optional[str], timeout: httpx.Timeout, agent: str) -> None:
        self._http = httpx.Client(verify=verify_with(ca), timeout=timeout, headers={"User-Agent": agent})

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    @contextmanager
    def whole(self, file: Access) -> Iterator[httpx.Response]:
        """The answer that has the bytes of a file. Raises StorageError, also for an answer that breaks off."""
        with self._answer("GET", file, {"Accept-Encoding": "identity"}) as answer:
            if answer.status_code != 200:
                raise read_fault(answer.status_code)
            yield answer

    def part(self, file: Access, start: int, end: int) -> bytes:
        """The bytes from ``start`` to before ``end``. Raises StorageError."""
        headers = {"Accept-Encoding": "identity", "Range": f"bytes={start}-{end - 1}"}
        with self._answer("GET", file, headers) as answer:
            if answer.status_code not in (200, 206):
                raise read_fault(answer.status_code)
            is_part = answer.status_code == 206
            whole = whole_of(answer) if is_part else int(answer.headers.get("Content-Length", file.size))
            if whole is not None and whole != file.size:
                raise StorageError("other", f"it has {whole} of {file.size} bytes")
            skipped = 0 if is_part else start
            wanted = skipped + end - start
            content = bytearray()
            for piece in answer.iter_raw():
                content += piece
                if len(content) > wanted:
                    break  # before the end, which costs the connection
            if len(content) < wanted:
                raise StorageError("away", f"it gives {len(content) - skipped} of {end - start} bytes")
            return bytes(content[skipped:wanted])

    def send(self, file: Access, source: BinaryIO, size: int) -> None:
        """Writes the bytes of a source from where it stands. Raises StorageError; what is there then knows who looks."""
        headers = {"Content-Length": str(size)}
        with self._answer("PUT", file, headers, source) as answer:
            if not 200 <= answer.status_code < 300:
                raise write_fault(answer.status_code)

    @contextmanager
    def _answer(
        self, method: str, file: Access, headers: dict[str, str], source: Optional[BinaryIO] = None
    ) -> Iterator[httpx.Response]:
        """An answer, after those that send elsewhere; what opens the address does not go to other servers."""
        start = 0 if source is None else source.tell()
        first = Target(file.url)
        target: Optional[Target] = Target(file.presigned or file.url)
        for _ in range(MAX_HOPS + 1):
            if target is None:
                break
            own = file.headers if target.origin == first.origin else {}
            try:
                request = self._http.build_request(
                    method,
                    target.shown,
                    headers={**headers, **own},
                    content=None if source is None else _pieces(source, start),
                    extensions=target.extensions,
                )
                answer = self._http.send(request, stream=True)
            except (httpx.HTTPError, httpx.InvalidURL) as cause:
                raise away_fault(cause) from cause
            try:
                if answer.status_code in ((301, 302, 303, 307, 308) if source is None else (307, 308)):
                    target = target.next(answer)
                    continue
                yield answer
                return
            except httpx.HTTPError as cause:
                raise away_fault(cause) from cause
            finally:
                answer.close()
        raise StorageError("away", "it sends elsewhere again and again")


def _pieces(source: BinaryIO, start: int) -> Iterator[bytes]:
    source.seek(start)
    while piece := in_thread(source.read, PIECE):
        yield piece
