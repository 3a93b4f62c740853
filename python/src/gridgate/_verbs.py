"""What is done to one job or many: kill, hold, release, reschedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ._call import Call, filters_of, query_text
from .errors import ProblemError, problem_with
from .model import Job

#: What narrows no list.
_WIDE = {"allOwners", "page", "sort", "startJob", "maxJobs", "after"}
_CODES = {403: "job.forbidden", 404: "job.not-found", 409: "job.state-conflict"}


@dataclass(frozen=True)
class Verb:
    """A verb: its name, what has been done then, the jobs that a filter finds and it is for, and its call for one job."""

    name: str
    done: str
    is_for: Callable[[Job], bool]
    call: Callable[[int], Call]


def _is_held(job: Job) -> bool:
    return job.status == "Waiting" and job.minor_status.startswith("Held")


def _posted(name: str) -> Callable[[int], Call]:
    return lambda jid: Call("POST", f"/jobs/{jid}/{name}")


KILL = Verb("kill", "killed", lambda job: not job.is_final, lambda jid: Call("DELETE", f"/jobs/{jid}"))
PURGE = Verb(
    "kill", "deleted", lambda job: job.status != "Deleted", lambda jid: Call("DELETE", f"/jobs/{jid}", {"purge": True})
)
HOLD = Verb("hold", "held", lambda job: job.status == "Waiting" and not _is_held(job), _posted("hold"))
RELEASE = Verb("release", "released", _is_held, _posted("release"))
RESCHEDULE = Verb("reschedule", "rescheduled", lambda job: job.status == "Failed", _posted("reschedule"))


def check_choice(verb: Verb, given: object, filters: Mapping[str, Any]) -> None:
    """Raises ValueError unless there are either jobs or filters, each of which leaves something out."""
    if given is not None and filters:
        raise ValueError(f"{verb.name} takes jobs or filters, not both")
    narrow = {name: value for name, value in filters_of(filters).items() if name not in _WIDE}
    empty = [name for name, value in narrow.items() if not query_text({name: value}) or _has_none(value)]
    if given is None and (not narrow or empty):
        why = f"{', '.join(empty)} says nothing" if empty else "give some, or a filter such as job_group='mc'"
        raise ValueError(f"{verb.name} which jobs? {why}")


def _has_none(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) and None in value


def is_refusal(error: Exception) -> bool:
    """Whether it is about one job, so that others may be tried."""
    return isinstance(error, ProblemError) and error.status in _CODES


def refusals_of(results: Mapping[str, Mapping[str, Any]]) -> dict[int, ProblemError]:
    """What was refused in the answer of a call for many jobs."""
    return {
        int(jid): problem_with(result["status"], {**result, "code": _CODES.get(result["status"], "unknown")})
        for jid, result in results.items()
        if result["status"] != 200
    }
