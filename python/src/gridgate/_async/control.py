"""Calls that do something to jobs."""

from __future__ import annotations

from collections.abc import Sequence

from .._call import Call
from .._verbs import Verb, is_refusal, refusals_of
from ..errors import GridgateError, JobsRefused
from .transport import AsyncTransport

#: Ids in one filter, so that addresses stay short.
IDS = 100


async def do_each(transport: AsyncTransport, verb: Verb, jids: Sequence[int]) -> list[int]:
    """Does it to several jobs, and answers to which. Raises JobsRefused; what is refused does not keep it from the others."""
    wanted = list(dict.fromkeys(jids))
    size = IDS if verb.name == "kill" else 1
    done: list[int] = []
    refused: dict[int, GridgateError] = {}
    unknown: list[int] = []
    for at in range(0, len(wanted), size):
        chunk = wanted[at : at + size]
        try:
            refused.update(await _do(transport, verb, chunk))
        except GridgateError as error:
            if not is_refusal(error):
                if not done and not refused:
                    raise
                refused.update(dict.fromkeys(wanted[at:], error))
                unknown = chunk
                break
            refused.update(dict.fromkeys(chunk, error))
        done += [jid for jid in chunk if jid not in refused]
    if refused:
        raise JobsRefused(done, refused, verb.done, unknown)
    return done


async def _do(transport: AsyncTransport, verb: Verb, jids: Sequence[int]) -> dict[int, GridgateError]:
    """Does it by one call; answers what was refused."""
    call = verb.call(jids[0])
    if verb.name != "kill":
        await transport.answer(call)
        return {}
    answer = await transport.json(Call("DELETE", "/jobs", {**call.query, "jid": list(jids)}))
    return {**refusals_of(answer["results"])}
