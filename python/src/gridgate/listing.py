"""Lists of the service, as they are iterated and as a notebook shows them."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from .model import Job

T = TypeVar("T")
#: Rows that are shown.
SHOWN = 20


class Listing(Iterator[T]):
    """A list that is read page by page while it is iterated, once; its first page is read when it is made.

    So a filter that the service does not know is refused at once. A notebook shows the rows that come next.
    """

    def __init__(self, records: Generator[T, None, None], what: str) -> None:
        self._records = records
        self._what = what
        self._read: deque[T] = deque()
        self._is_over = False
        self._fill(1)

    def __iter__(self) -> Listing[T]:
        if self._is_over:
            raise RuntimeError(f"these {self._what} were read to their end already: rows = list(...) keeps them, or ask again")
        return self

    def __next__(self) -> T:
        try:
            return self._read.popleft() if self._read else next(self._records)
        except StopIteration:
            self._is_over = True
            raise

    def close(self) -> None:
        """Reads no further."""
        self._read.clear()
        self._records.close()

    def _fill(self, count: int) -> None:
        while len(self._read) < count:
            try:
                self._read.append(next(self._records))
            except StopIteration:
                return

    def __repr__(self) -> str:
        return f"<{self._what}, read as they are iterated: list(...) has them all>"

    def _repr_html_(self) -> str:
        self._fill(SHOWN + 1)
        rows = list(self._read)[:SHOWN]
        more = "<p>and more</p>" if len(self._read) > SHOWN else ""
        return f"<div>{table_of(rows)}{more}</div>" if rows else "<div><p>nothing</p></div>"


def table_of(records: Sequence[Any]) -> str:
    """A table of jobs, entries or directories in HTML."""
    names: tuple[str, ...] = ("job", "state", "why", "site", "updated")
    if records and not isinstance(records[0], Job):
        names = tuple(field.name for field in fields(records[0]) if field.repr)
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in _row(record, names)) + "</tr>" for record in records
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(record: Any, names: Sequence[str]) -> Sequence[Any]:
    if not isinstance(record, Job):
        return ["" if getattr(record, name) is None else getattr(record, name) for name in names]
    when = "" if record.updated is None else record.updated.strftime("%Y-%m-%d %H:%M:%S")
    return record.jid, record.status, record.minor_status, record.site, when
