"""Bytes of files as storage elements have them: their sums, where requests go, and what is wrong."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Optional
from urllib.parse import urljoin, urlsplit

import httpx

from .errors import StorageError

PIECE = 1 << 20
HASHES = frozenset({"md5", "sha1", "sha256", "sha512"})
_CLOSED = (401, 403)
_REFUSED = {
    401: "it does not accept tokens of this service",
    403: "something lies there already, or it does not accept tokens of this service",
    409: "something lies there already",
    412: "something lies there already",
    507: "it is full",
}


class _Adler32:
    def __init__(self) -> None:
        self._sum = 1

    def update(self, piece: bytes) -> None:
        self._sum = zlib.adler32(piece, self._sum)

    def hexdigest(self) -> str:
        return f"{self._sum:08x}"


def _sum_of(kind: str) -> Any:
    return _Adler32() if kind == "adler32" else hashlib.new(kind, usedforsecurity=False)


@dataclass(frozen=True)
class Digests:
    """What tells bytes apart; sums hexadecimal."""

    size: int
    adler32: str
    sha256: str
    md5: str


def digests_of(file: BinaryIO) -> Digests:
    """The digests of a file from where it stands, in one pass."""
    size, sums = 0, {kind: _sum_of(kind) for kind in ("adler32", "sha256", "md5")}
    while piece := file.read(PIECE):
        size += len(piece)
        for one in sums.values():
            one.update(piece)
    return Digests(size, **{kind: one.hexdigest() for kind, one in sums.items()})


class Sums:
    """Size and sums of bytes as they come, beside what the catalogue knows; a sum of an unknown kind is not compared."""

    def __init__(self, size: int, wanted: Mapping[str, str]) -> None:
        self._size = size
        self._bytes = 0
        named = ((kind, kind.replace("-", ""), text) for kind, text in wanted.items())
        # numbers are written without the zeros before them, too
        self._sums = {
            kind: (_sum_of(name), text.lower().rjust(8, "0")) for kind, name, text in named if name in HASHES | {"adler32"}
        }

    def update(self, piece: bytes) -> None:
        """Takes the next bytes. Raises StorageError when they are too many."""
        self._bytes += len(piece)
        for one, _ in self._sums.values():
            one.update(piece)
        if self._bytes > self._size:
            raise StorageError("other", f"it has more than {self._size} bytes")

    def finish(self) -> None:
        """Raises StorageError when all that came is not the file."""
        if self._bytes != self._size:
            raise StorageError("other", f"it has {self._bytes} of {self._size} bytes")
        for kind, (one, wanted) in self._sums.items():
            if one.hexdigest() != wanted:
                raise StorageError("other", f"its {kind} is {one.hexdigest()}, in the catalogue {wanted}")


class Target:
    """An address as it is asked for: what logs see of it has neither a signature nor a token."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        self.origin = (parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme))
        self.shown = parts._replace(query="", fragment="").geturl()
        path = parts.path or "/"
        self.extensions = {"target": (f"{path}?{parts.query}" if parts.query else path).encode()}

    def next(self, answer: httpx.Response) -> Optional[Target]:
        """Where an answer sends."""
        try:
            return Target(urljoin(self.url, answer.headers["Location"]))
        except (KeyError, ValueError):
            return None


def read_fault(status: int) -> StorageError:
    """Why bytes are not given."""
    kind = "closed" if status in _CLOSED else "other" if status in (404, 410, 416) else "away"
    return StorageError(kind, f"it answers {status}")


def write_fault(status: int) -> StorageError:
    """Why bytes are not taken."""
    return StorageError("closed" if status in _REFUSED else "away", f"{_REFUSED.get(status, 'it failed')} ({status})")


def away_fault(cause: Exception) -> StorageError:
    """Why a storage cannot be reached."""
    if "certificate verify failed" in str(cause).lower():
        return StorageError("away", "its certificate is not trusted: give its CA as storage_ca")
    return StorageError("away", f"it cannot be reached ({type(cause).__name__})")


def was_cut(error: StorageError) -> bool:
    """Whether a connection was cut, as those are that were kept too long."""
    return isinstance(error.__cause__, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError))


def whole_of(answer: httpx.Response) -> Optional[int]:
    """The size of the file of which an answer with 206 has a part."""
    size = answer.headers.get("Content-Range", "").rpartition("/")[2]
    return int(size) if size.isdecimal() else None
