"""One call of the interface before it is made: path, query, body, and what may be tried again."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import AsyncIterable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from operator import index
from typing import Any, Optional, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import GridgateError, ProblemError, UnreachableError
from .model import Job

#: Statuses that another try may find mended.
PASSING = frozenset({429, 502, 503, 504})
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
#: Longest pause asked for by ``Retry-After`` that a call waits for by itself.
LONGEST_ASKED = 120.0

#: A job, or its id.
OneJob = Union[int, str, Job]
Conditions = Mapping[str, Union[str, int, float, Iterable[Union[str, int, float]]]]


@dataclass
class Call:
    """A request. ``again`` is true when making it twice does no more than making it once."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    data: Any = None
    content: Optional[bytes] = None
    files: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    again: Optional[bool] = None

    @property
    def may_repeat(self) -> bool:
        """Whether it may be tried again: what changes nothing, what is idempotent, what has a key."""
        if self.again is not None:
            return self.again
        return self.method in ("GET", "HEAD", "PUT", "DELETE") or "Idempotency-Key" in self.headers

    @property
    def target(self) -> str:
        """Path and query."""
        text = query_text(self.query)
        return f"{self.path}?{text}" if text else self.path


def query_text(query: Mapping[str, Any]) -> str:
    """Query text: lists are repeated keys, None is left out, booleans are ``true`` and ``false``."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        many = value if isinstance(value, (list, tuple, set, frozenset, range)) else [value]
        pairs.extend((name, _text(_in_zone(one))) for one in many if one is not None)
    return urlencode(pairs)


def _in_zone(value: Any) -> Any:
    """A time without zone is one of this machine, as everywhere in Python; the service would take it for UTC."""
    return value.astimezone() if isinstance(value, datetime) and value.tzinfo is None else value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Job):
        return str(value.jid)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value)


def jid_of(given: Any) -> int:
    """The id of a job, given as such, as a whole number or as text. Raises TypeError or ValueError."""
    if isinstance(given, Job):
        return given.jid
    if isinstance(given, bool):
        raise TypeError(f"{given} is no id of a job")
    if isinstance(given, str) or (isinstance(given, float) and given.is_integer()):
        return int(given)
    return index(given)


def is_several(given: Any) -> bool:
    """Whether it is a list or the like, and not one thing; a text is one."""
    return isinstance(given, (Iterable, AsyncIterable)) and not isinstance(given, (str, bytes))


def filters_of(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters in Python's spelling (``job_group``) as the interface spells them (``jobGroup``); an age is the time then."""
    return {
        _camel(name): datetime.now(timezone.utc) - value if isinstance(value, timedelta) else value
        for name, value in filters.items()
    }


def days_of(given: Union[str, date, timedelta, None]) -> Optional[str]:
    """A day of UTC as the interface spells it, of a time or an age; a text is left as it is."""
    if isinstance(given, timedelta):
        given = datetime.now(timezone.utc) - given
    if isinstance(given, datetime):
        given = given.astimezone(timezone.utc).date()
    return given.isoformat() if isinstance(given, date) else given


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    if "_" not in name:
        return name
    return first + "".join({"dn": "DN"}.get(word, word.capitalize()) for word in rest)


def catalogue_path(path: str) -> str:
    """``<directory>`` or ``<file>`` of a catalogue path: URL-safe base 64 without padding."""
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is no path of the catalogue: it begins with no /")
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")


def is_plain_text(value: Any) -> bool:
    """Whether a condition is a text that must be equal, whose operation the type of the field decides."""
    return isinstance(value, str) and "|" not in value


def conditions_of(conditions: Conditions, texts: Container[str] = ()) -> dict[str, Any]:
    """Conditions of metadata: ``run=3``, ``run=">=|2"``, or several that all apply. ``texts`` are the fields of type string.

    Raises ValueError for a text that has no spelling in a condition: a comma parts, and blanks around are dropped.
    """
    return {name: [_condition(name, one, name in texts) for one in all_of(value)] for name, value in conditions.items()}


def all_of(value: Any) -> list[Any]:
    """One condition, or several, as a list."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _condition(name: str, value: Any, is_text: bool) -> str:
    if isinstance(value, str) and not is_plain_text(value):
        return value
    text = _text(value)
    if is_text and (text != text.strip() or "," in text or not text):
        raise ValueError(f"{name}={text!r}: no condition asks for a text that is empty, has a comma, or blanks around it")
    return f"in|{text}" if is_text else f"=|{text}"


def name_in_path(name: str) -> str:
    """The name of a file of a sandbox as part of a path; its folders stay."""
    parts = name.split("/")
    if name == "" or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{name!r} is no name of a file in a sandbox")
    return "/".join(quote(part, safe="") for part in parts)


def base_url(url: str) -> str:
    """The address of a service without its last slashes. Tokens are sent by https, or to this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address such as https://grid.example.org")
    local = parts.hostname == "localhost" or parts.hostname == "::1" or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not local:
        raise ValueError(f"{url}: tokens are sent by https only")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"{url!r} has more than an address: user, query or fragment")
    return url.rstrip("/")


_LINK = re.compile(r'<([^<>]*)>\s*;\s*rel="?next"?')


def next_page(link: Optional[str], base: str) -> Optional[str]:
    """The path that ``Link: rel="next"`` leads to; one to another place is not followed: the token would go along."""
    found = _LINK.search(link or "")
    if found is None:
        return None
    target = found.group(1)
    if target.startswith("/") and not target.startswith("//"):
        return target
    return target[len(base) :] if target.startswith(f"{base}/") else None


def is_passing(error: Exception) -> bool:
    """True for what another try may find mended."""
    if isinstance(error, ProblemError):
        return error.status in PASSING or error.code == "idempotency.in-flight"
    return isinstance(error, UnreachableError)


def pause_before(attempt: int, error: Optional[Exception]) -> float:
    """Seconds before another try: longer each time, never the same for two callers, not less than is asked for."""
    growing: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt, 20)) * random.uniform(0.5, 1.0)
    asked = error.retry_after if isinstance(error, ProblemError) and error.retry_after is not None else 0.0
    return max(growing, asked)


def gives_up(error: Exception, attempt: int, retries: int, call: Call) -> bool:
    """True when a failed call is not tried again."""
    asked = error.retry_after if isinstance(error, ProblemError) else None
    if asked is not None and asked > LONGEST_ASKED:
        return True
    # 429 was refused before anything was done
    may = call.may_repeat or (isinstance(error, ProblemError) and error.status == 429)
    return attempt >= retries or not may or not is_passing(error)


def parsed(content: Union[bytes, str]) -> Any:
    """The value of an answer. Raises GridgateError when it is no JSON."""
    try:
        return json.loads(content)
    except ValueError as cause:
        raise GridgateError("the answer is not one of Gridgate") from cause
