"""Errors: what the service answers (RFC 9457 problems), what keeps it from answering, and jobs that failed."""

from __future__ import annotations

import json
import ssl
from collections.abc import Sequence
from typing import Any, Optional

import httpx


class GridgateError(Exception):
    """Every error of this package."""


class NotLoggedIn(GridgateError):
    """There is no token: neither given, nor in the environment, nor stored by ``gridgate login``."""


class LoginFailed(GridgateError):
    """A login, or its renewal, was refused; the text says why."""


class UnreachableError(GridgateError):
    """The service cannot be reached, or its answer broke off, also after the tries that were allowed."""


class ProblemError(GridgateError):
    """The service has answered with an error.

    ``status`` is the status of HTTP, ``code`` one of the closed list of docs/errors.md (``unknown`` when something
    else has answered), ``violations`` are ``{"field", "problem"}`` with ``pointer`` where the service names one,
    ``retry_after`` are seconds, ``problem`` is the whole document.
    """

    def __init__(self, status: int, problem: dict[str, Any], retry_after: Optional[float] = None) -> None:
        self.status = status
        self.problem = problem
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail") or problem.get("error_description") or self.title)
        self.pointer: Optional[str] = problem.get("pointer")
        violations = problem.get("violations")
        self.violations: list[dict[str, Any]] = violations if isinstance(violations, list) else []
        self.retry_after = retry_after
        text = self.detail or f"the service answered {status}"
        # the detail names what it has room for, each with its problem
        faults = [f"{fault.get('field')}: {fault.get('problem')}" for fault in self.violations]
        super().__init__("; ".join([text, *(fault for fault in faults if fault not in text)]))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.problem, self.retry_after)


class InvalidRequest(ProblemError):
    """400, 413, 415, 416, 422: what was sent is not right."""


class Unauthorized(ProblemError):
    """401: the token is missing, expired or revoked."""


class Forbidden(ProblemError):
    """403: not allowed."""


class NotFound(ProblemError):
    """404: it is not there, or not to be seen by this user."""


class Conflict(ProblemError):
    """409: its state does not allow it."""


class FeedGone(ProblemError):
    """410: the feed does not go back so far."""


class RateLimited(ProblemError):
    """429: too many requests."""


class ServiceError(ProblemError):
    """500 and more: the service is in trouble."""


_CLASSES: dict[int, type[ProblemError]] = {
    **dict.fromkeys((400, 413, 415, 416, 422), InvalidRequest),
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: FeedGone,
    429: RateLimited,
}


class StorageError(GridgateError):
    """The storage elements do not give or take the bytes of a file; the text says why for each.

    ``kind`` is that of the last one: ``other`` (it has other bytes, or none), ``closed`` (it does not accept what the service
    gave for it), or ``away``. No address is in the text, since addresses may be signed.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, str(self))


class OutputWarning(UserWarning):
    """Files of a job are not there: it did not make them, could not keep them, or was not asked to bring them back."""


class JobsRefused(GridgateError):
    """Something was not done to some of several jobs.

    ``done``: the ids of the others, to which it was done; ``refused``: id → why not; ``unknown``: ids of those among the
    refused of which the answer did not come, so that it may have been done.
    """

    def __init__(
        self, done: list[int], refused: dict[int, GridgateError], what: str = "changed", unknown: Sequence[int] = ()
    ) -> None:
        self.done = done
        self.refused = refused
        self.what = what
        self.unknown = list(unknown)
        reasons = [f"{jid}: {error}" for jid, error in list(refused.items())[:10]]
        more = [f"and {len(refused) - 10} more"] if len(refused) > 10 else []
        count = f"{len(refused)} of {len(done) + len(refused)} jobs were not {what}"
        doubt = f" (of {len(self.unknown)} it is not known, see .unknown)" if unknown else ""
        super().__init__(f"{count}{doubt}: {'; '.join([*reasons, *more])}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.done, self.refused, self.what, self.unknown)


class JobFailed(GridgateError):
    """A job has ended, and not as ``Done``; ``stderr`` is the end of what it wrote as errors."""

    def __init__(self, jid: int, status: str, minor_status: str, stderr: str = "", app_status: str = "") -> None:
        self.jid = jid
        self.status = status
        self.minor_status = minor_status
        self.stderr = stderr
        self.app_status = app_status
        why = ": ".join(text for text in (minor_status, app_status) if text not in ("", "Unknown"))
        end = f"\n{stderr.rstrip()}" if stderr.strip() else ""
        super().__init__(f"job {jid} ended as {status} ({why}){end}")

    def of_call(self, stderr: str) -> JobFailed:
        """The same of one of the calls that the job has made."""
        return JobFailed(self.jid, self.status, self.minor_status, stderr, self.app_status)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.jid, self.status, self.minor_status, self.stderr, self.app_status)


class CallFailed(GridgateError):
    """A call of an executor has raised what cannot be made here. ``type``, ``text`` and ``traceback`` tell of it."""

    def __init__(self, type: str, text: str, traceback: str) -> None:
        self.type = type
        self.text = text
        self.traceback = traceback
        super().__init__(f"{type}: {text}")

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, (self.type, self.text, self.traceback)


class MapFailed(GridgateError):
    """Calls of ``map`` have failed. ``failures``: place of the parameter → why; ``results``: the others, None there."""

    def __init__(self, failures: dict[int, JobFailed], results: list[Any]) -> None:
        self.failures = failures
        self.results = results
        place, first = next(iter(failures.items()))
        super().__init__(f"{len(failures)} of {len(results)} calls failed; parameter {place}: {first}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.failures, self.results)


def seconds_of(header: Optional[str]) -> Optional[float]:
    """The seconds of ``Retry-After``; a date or nonsense is None."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None


def problem_of(answer: httpx.Response) -> ProblemError:
    """The error of an answer that was read, with a status of 400 or more, or a redirection, which is not followed."""
    try:
        problem = json.loads(answer.content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": f"the service answered {answer.status_code}, and not as Gridgate does"}
    return problem_with(answer.status_code, problem, seconds_of(answer.headers.get("Retry-After")))


def problem_with(status: int, problem: dict[str, Any], retry_after: Optional[float] = None) -> ProblemError:
    """The error of a status and a problem."""
    kind = _CLASSES.get(status, ServiceError if status >= 500 else ProblemError)
    return kind(status, problem, retry_after)


#: A certificate whose CA is not known here, as OpenSSL numbers faults.
_UNKNOWN_CA = (18, 19, 20, 21)


def unreachable(url: str, cause: Exception) -> UnreachableError:
    """The error of a connection that there is not; of a server whose CA is unknown it says how to name it."""
    hint = ""
    error: Optional[BaseException] = cause
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in _UNKNOWN_CA:
            hint = ": ca= names the file of its CA"
        error = error.__cause__ or error.__context__
    return UnreachableError(f"{url} cannot be reached: {cause or type(cause).__name__}{hint}")
