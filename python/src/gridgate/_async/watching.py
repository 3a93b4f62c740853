"""Watching jobs: lists, follows the feed, goes on after each interruption, lists again when the feed is gone."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Optional

import httpx

from .._call import Call, gives_up, is_passing, next_page, parsed, pause_before
from ..errors import FeedGone, GridgateError
from ..model import Change, Job
from ._runtime import closed_after, pause
from .transport import AsyncTransport

#: The service says every 15 seconds that it lives.
SILENCE = 45.0
PAGE = 1000


class AsyncWatch:
    """Watches the jobs that ``lists`` let through at first, and of whose moves ``follow`` lets events through."""

    def __init__(
        self,
        transport: AsyncTransport,
        lists: Sequence[dict[str, Any]],
        follow: dict[str, Any],
        after: Optional[str] = None,
    ) -> None:
        self._transport = transport
        self._lists = lists
        self._follow = follow
        self.position = after
        self._in_vain = 0

    async def changes(self) -> AsyncGenerator[Change, None]:
        """All changes, until the caller stops. Raises GridgateError for what trying again does not help."""
        while True:
            try:
                if self.position is None:
                    async with closed_after(self._list()) as listed:
                        async for change in listed:
                            yield change
                else:
                    async with closed_after(self._events(self.position)) as events:
                        async for change in events:
                            yield change
                    # the service has ended it: it stops, or the token is no good any more, which the next call tells
                    await self._rest(None)
            except FeedGone:
                self.position = None
            except GridgateError as error:
                if not is_passing(error):
                    raise
                await self._rest(error)

    async def _list(self) -> AsyncGenerator[Change, None]:
        position: Optional[str] = None
        yield Change("listed", None, anew=True)
        for query in self._lists:
            page: Optional[Call] = Call("GET", "/jobs", {**query, "maxJobs": PAGE})
            while page is not None:
                answer = await self._transport.answer(page)
                # the oldest position: what moves while the rest is listed is told again
                position = position or answer.headers.get("Grid-Feed-Position")
                if position is None:
                    raise GridgateError("the service has no feed of jobs")
                for record in parsed(answer.content)["jobs"]:
                    yield Change("listed", Job.of(record))
                path = next_page(answer.headers.get("Link"), self._transport.url)
                page = None if path is None else Call("GET", path)
        self.position = position
        self._in_vain = 0
        yield Change("current", None, position)

    async def _events(self, after: str) -> AsyncGenerator[Change, None]:
        call = Call(
            "GET",
            "/jobs/events",
            {**self._follow, "after": after},
            headers={"Accept": "application/x-ndjson"},
        )
        async with self._transport.once(call, stream=True, silence=SILENCE) as answer:
            async with closed_after(lines_of(answer)) as lines:
                async for line in lines:
                    self._in_vain = 0
                    if line == "":
                        continue
                    event = parsed(line)
                    position = event.get("id")
                    if event["event"] in ("job", "left"):
                        # before the caller has it, so that stopping here does not tell it twice to the next watch
                        self.position = position or self.position
                        yield Change(event["event"], Job.of(event["data"]), self.position)
                    elif position is not None:
                        self.position = position

    async def _rest(self, error: Optional[GridgateError]) -> None:
        await pause(pause_before(self._in_vain, error))
        self._in_vain += 1


async def lines_of(answer: httpx.Response) -> AsyncGenerator[str, None]:
    """Lines of a streamed answer, the empty ones too; a last one that is not whole is left out."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "replace")


async def pages_of(transport: AsyncTransport, call: Call, member: str) -> AsyncIterator[dict[str, Any]]:
    """The records of a list, page by page."""
    page: Optional[Call] = call
    while page is not None:
        answer = await transport.answer(page)
        for record in parsed(answer.content)[member]:
            yield record
        path = next_page(answer.headers.get("Link"), transport.url)
        page = None if path is None else Call("GET", path)


async def followed(transport: AsyncTransport, path: str, errors: str) -> AsyncIterator[str]:
    """What a job writes into a file until it has ended, piece by piece; goes on where the connection breaks."""
    last: Optional[str] = None
    attempt = 0
    while True:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last is not None else {})}
        call = Call("GET", path, {"follow": True}, headers=headers)
        try:
            async with transport.once(call, stream=True, silence=SILENCE) as answer:
                fields: dict[str, str] = {}
                async with closed_after(lines_of(answer)) as lines:
                    async for line in lines:
                        if line != "":
                            name, _, value = line.partition(":")
                            fields[name] = value[1:] if value.startswith(" ") else value
                            continue
                        attempt = 0
                        last = fields.get("id") or last
                        if fields.get("event") == "end":
                            return
                        if fields.get("event") == "output":
                            yield _text_of(parsed(fields["data"]), errors)
                        fields = {}
        except GridgateError as error:
            if gives_up(error, attempt, transport.retries + 4, call):
                raise
            await pause(pause_before(attempt, error))
        else:
            await pause(pause_before(attempt, None))
        attempt += 1


def _text_of(output: dict[str, Any], errors: str) -> str:
    """The text of an event; bytes that are no UTF-8 come beside it."""
    if "base64" in output:
        return base64.b64decode(output["base64"]).decode("utf-8", errors)
    return str(output["text"])
