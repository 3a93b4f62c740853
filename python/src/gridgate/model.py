"""What the service tells, as Python values."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Optional

from .errors import GridgateError

#: States that a job does not leave by itself.
FINAL = ("Done", "Failed", "Killed", "Deleted")


@dataclass(frozen=True)
class Job:
    """A job. ``record`` is all that the service told of it, in its own spelling."""

    jid: int
    status: str
    minor_status: str = ""
    app_status: str = ""
    name: str = ""
    job_group: str = ""
    site: str = ""
    owner: str = ""
    owner_group: str = ""
    submitted: Optional[datetime] = None
    started: Optional[datetime] = None
    ended: Optional[datetime] = None
    updated: Optional[datetime] = None
    record: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_final(self) -> bool:
        """True when it has ended."""
        return self.status in FINAL

    @property
    def is_done(self) -> bool:
        """True when it has ended well."""
        return self.status == "Done"

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Job:
        """The job of a record of ``GET /jobs``, or of an event of its feed."""
        times = record.get("times", {})
        return cls(
            jid=int(record["jid"]),
            status=str(record["status"]),
            minor_status=str(record.get("minorStatus", "")),
            app_status=str(record.get("appStatus", "")),
            name=str(record.get("name", "")),
            job_group=str(record.get("jobGroup", "")),
            site=str(record.get("site", "")),
            owner=str(record.get("owner", "")),
            owner_group=str(record.get("ownerGroup", "")),
            submitted=instant(times.get("submission")),
            started=instant(times.get("startExecution")),
            ended=instant(times.get("endExecution")),
            updated=instant(times.get("lastUpdate") or record.get("lastUpdate")),
            record=record,
        )


@dataclass(frozen=True, repr=False)
class Identity:
    """Who a token says one is, at which service, and until when."""

    server: str
    user: str
    group: str
    setup: str
    scopes: tuple[str, ...]
    expires: datetime

    def __repr__(self) -> str:
        until = self.expires.astimezone().strftime("%Y-%m-%d %H:%M")
        return f"<{self.user}, group {self.group}, setup {self.setup}, at {self.server} until {until}>"

    @classmethod
    def of(cls, server: str, token: str) -> Identity:
        """What an access token of the service says, which alone checks it. Raises GridgateError for one that says nothing."""
        try:
            body = token.split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            return cls(
                server=server,
                user=str(claims.get("preferred_username") or claims["sub"]),
                group=str(claims.get("group", "")),
                setup=str(claims.get("setup", "")),
                scopes=tuple(str(claims.get("scope", "")).split()),
                expires=datetime.fromtimestamp(float(claims["exp"]), timezone.utc),
            )
        except (IndexError, KeyError, TypeError, ValueError, AttributeError) as cause:
            raise GridgateError("the token says nothing of its user") from cause


@dataclass(frozen=True)
class Change:
    """What a watcher learns.

    ``kind``: ``listed`` (it was there when the list was made), ``current`` (the list is whole, from here on things
    move; without a job), ``job`` (it has moved), ``left`` (the filters do not let it through any more). ``anew``:
    everything that was known before is forgotten, a list begins; without a job, too. ``position``: where another watch
    goes on, behind this change; None inside a list.
    """

    kind: str
    job: Optional[Job]
    position: Optional[str] = None
    anew: bool = False


@dataclass(frozen=True)
class SandboxFile:
    """A file of a sandbox: its name, and its size in bytes.

    ``link`` is what a symbolic link leads to, a path in the sandbox; ``size`` is then that of the file there.
    ``is_directory`` is true for an empty directory, ``is_executable`` for a file that its owner may execute.
    """

    name: str
    size: int
    link: Optional[str] = None
    is_directory: bool = False
    is_executable: bool = False

    @classmethod
    def of(cls, file: Mapping[str, Any]) -> SandboxFile:
        """The file of an entry of the list of a sandbox."""
        return cls(file["name"], file["size"], file.get("link"), file.get("directory", False), file.get("executable", False))


@dataclass(frozen=True)
class Entry:
    """A directory or file of the catalogue; ``size`` in bytes and ``attributes`` of files."""

    path: str
    kind: str
    size: Optional[int] = None
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Access:
    """Where a file lies, and what opens it there until ``expires``.

    ``headers`` go with requests to ``url``, and to no other address; of S3 ``presigned`` is opened instead. ``checksum`` is
    hexadecimal, by its kind. Whoever prints it prints neither headers nor signature.
    """

    path: str
    se: str
    url: str
    expires: datetime
    size: Optional[int] = None
    checksum: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    presigned: Optional[str] = field(default=None, repr=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Access:
        """The access of an element of an answer of ``POST /filecatalogue/access``."""
        return cls(
            path=str(record["path"]),
            se=str(record["se"]),
            url=str(record["url"]),
            expires=datetime.fromisoformat(record["expires"].replace("Z", "+00:00")),
            size=record.get("size"),
            checksum=record.get("checksum", {}),
            headers=record.get("headers", {}),
            presigned=record.get("presigned"),
        )


@dataclass(frozen=True)
class FoundDirectory:
    """A directory that a search has found, with the number and bytes of the files in it and in all directories below."""

    path: str
    files: int
    size: int


def instant(text: Optional[str]) -> Optional[datetime]:
    """An instant of the interface (RFC 3339, UTC)."""
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))
