"""What differs between the two kinds of client beside `async` and `await`: pauses and work that blocks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Callable, TypeVar

T = TypeVar("T")


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


def listed(records: AsyncIterator[T]) -> AsyncIterator[T]:
    """A list that is read page by page: here nothing can be read before it is iterated."""
    return records
