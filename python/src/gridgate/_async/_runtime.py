"""What differs between the two kinds of client beside `async` and `await`: pauses and work that blocks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Callable, TypeVar, Union

from .._call import OneJob, is_several

T = TypeVar("T")
#: One job or several.
Jobs = Union[OneJob, Iterable[OneJob], AsyncIterable[OneJob]]


async def pause(seconds: float) -> None:
    """Waits, and lets others work meanwhile."""
    await asyncio.sleep(seconds)


async def in_thread(work: Callable[..., T], *words: Any) -> T:
    """Work that blocks, in a thread of its own."""
    return await asyncio.to_thread(work, *words)


@asynccontextmanager
async def closed_after(generator: AsyncGenerator[T, None]) -> AsyncIterator[AsyncGenerator[T, None]]:
    """A generator that is closed at once when its reader stops early."""
    try:
        yield generator
    finally:
        await generator.aclose()


class Listing(AsyncIterator[T]):
    """A list that is read page by page while it is iterated, once; nothing is read before."""

    def __init__(self, records: AsyncGenerator[T, None], what: str) -> None:
        self._records = records
        self._what = what
        self._is_over = False

    def __aiter__(self) -> Listing[T]:
        if self._is_over:
            raise RuntimeError(f"these {self._what} were read to their end already: keep them, or ask again")
        return self

    async def __anext__(self) -> T:
        try:
            return await self._records.__anext__()
        except StopAsyncIteration:
            self._is_over = True
            raise

    async def aclose(self) -> None:
        """Reads no further."""
        await self._records.aclose()

    def __repr__(self) -> str:
        return f"<{self._what}, read as they are iterated: [one async for one in ...] has them all>"


def listed(records: AsyncGenerator[T, None], what: str) -> Listing[T]:
    """A list that is read page by page."""
    return Listing(records, what)


async def collected(given: Any) -> list[Any]:
    """One thing or several as a list; a text is one."""
    if isinstance(given, AsyncIterable):
        return [one async for one in given]
    return list(given) if is_several(given) else [given]
