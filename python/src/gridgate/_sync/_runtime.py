"""What differs between the two kinds of client beside `async` and `await`: pauses and work that blocks."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Callable, TypeVar, Union

from .._call import OneJob, is_several
from ..listing import Listing as Listing

T = TypeVar("T")
#: One job or several.
Jobs = Union[OneJob, Iterable[OneJob]]


def pause(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


def in_thread(work: Callable[..., T], *words: Any) -> T:
    """Work that blocks: here it may."""
    return work(*words)


@contextmanager
def closed_after(generator: Generator[T, None, None]) -> Iterator[Generator[T, None, None]]:
    """A generator that is closed at once when its reader stops early."""
    try:
        yield generator
    finally:
        generator.close()


def listed(records: Generator[T, None, None], what: str) -> Listing[T]:
    """A list that is read page by page."""
    return Listing(records, what)


def collected(given: Any) -> list[Any]:
    """One thing or several as a list; a text is one."""
    return list(given) if is_several(given) else [given]
