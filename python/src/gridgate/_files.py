"""Files on their way: what a submit uploads, and what is downloaded into a folder."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Optional, Protocol, Union

import httpx

from ._call import name_in_path
from .errors import StorageError, UnreachableError

Content = Union[str, "os.PathLike[str]", bytes]
#: Paths, or names with a path or bytes each.
Files = Union[Iterable[Union[str, "os.PathLike[str]"]], Mapping[str, Content], "Mapping[str, bytes]"]


def named_files(files: Files) -> dict[str, Content]:
    """Names in the input sandbox with what they hold. Raises ValueError for one name twice, and one that forms change."""
    if isinstance(files, (str, bytes)):
        raise TypeError("files is a list of paths, or names with a path or bytes each")
    if isinstance(files, Mapping):
        for name in files:
            name_in_path(name)
            _in_form(name)
        return dict(files)
    named: dict[str, Content] = {}
    for path in files:
        name = Path(path).name
        _in_form(name)
        if name in named:
            raise ValueError(f"two files are named {name}")
        named[name] = path
    return named


def _in_form(name: str) -> None:
    # httpx writes `"` and control characters so, and nothing else of a name: what it was before nobody could tell.
    found = re.search(r"%22|%0D|%0A|[\x00-\x1f\x7f]", name)
    if found is not None:
        raise ValueError(f"{name!r}: a form cannot carry {found.group()!r} in the name of a file, rename it")


class OpenedFiles(ExitStack):
    """Files of an upload: opened anew for each try, closed in the end."""

    def form(self, manifests: Sequence[Mapping[str, Any]], named: Mapping[str, Content]) -> list[tuple[str, Any]]:
        """The fields of a form of ``POST /jobs``."""
        self.close()
        form: list[tuple[str, Any]] = [("manifest", (None, json.dumps(dict(manifest)).encode())) for manifest in manifests]
        for name, content in named.items():
            body = content if isinstance(content, bytes) else self.enter_context(Path(content).open("rb"))
            form.append(("file", (name, body, "application/octet-stream")))
        return form


def make_folder(folder: Path, name: str) -> None:
    """Makes a directory of a sandbox below ``folder``. Raises ValueError for a name that leads out of it."""
    path = _place(folder, name)
    path.mkdir(exist_ok=True)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} leads out of {folder}")


def _place(folder: Path, name: str) -> Path:
    """Where a file of a sandbox goes below ``folder``; the directories on the way are made."""
    name_in_path(name)
    if os.name == "nt" and (":" in name or "\\" in name):
        raise ValueError(f"{name!r} is no name of a file on this machine")
    path = folder.joinpath(*name.split("/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} leads out of {folder}")
    return path


class PartFile:
    """A file that is being downloaded: beside its place until it is whole."""

    def __init__(self, folder: Path, name: str, is_executable: bool = False) -> None:
        self.path = _place(folder, name)
        self._is_executable = is_executable
        self._modified: Optional[float] = None
        self._draft = self.path.with_name(f".{secrets.token_hex(8)}.part")
        self._file = self._draft.open("xb")
        self._tag: Optional[str] = None
        self._whole: Optional[int] = None
        self.size = 0

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    @property
    def headers(self) -> dict[str, str]:
        """What asks for the bytes that are missing, if the file is still the same."""
        plain = {"Accept-Encoding": "identity"}
        if self.size == 0 or self._tag is None:
            return plain
        return {**plain, "Range": f"bytes={self.size}-", "If-Range": self._tag}

    def begin(self, answer: httpx.Response) -> None:
        """Takes what an answer says of the file; one that is not a part begins anew."""
        tag = answer.headers.get("ETag")
        self._tag = tag if tag is not None and not tag.startswith("W/") else None
        goes_on = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {self.size}-")
        if not goes_on:
            self._file.seek(0)
            self._file.truncate()
            self.size = 0
        length = answer.headers.get("Content-Length")
        self._whole = None if length is None else self.size + int(length)
        modified = answer.headers.get("Last-Modified")
        self._modified = None
        if modified is not None:
            with suppress(ValueError, OverflowError):
                self._modified = parsedate_to_datetime(modified).timestamp()

    def write(self, piece: bytes) -> None:
        """Writes what has come."""
        self._file.write(piece)
        self.size += len(piece)

    def finish(self) -> Path:
        """Gives the file its name. Raises UnreachableError when bytes are missing."""
        if self._whole is not None and self.size != self._whole:
            raise UnreachableError(f"{self.path.name} broke off after {self.size} of {self._whole} bytes")
        self._file.close()
        if self._is_executable:
            mode = self._draft.stat().st_mode
            self._draft.chmod(mode | (mode & 0o444) >> 2)  # for those who may read it
        if self._modified is not None:
            with suppress(OSError, OverflowError):
                os.utime(self._draft, (self._modified, self._modified))
        self._draft.replace(self.path)
        return self.path


class Sink(Protocol):
    """What takes the bytes of a file, anew from each storage element that gives some."""

    def begin(self, answer: httpx.Response) -> None:
        """Forgets what it has."""

    def write(self, piece: bytes) -> None:
        """Takes what has come."""


class OpenSink:
    """A file object that takes bytes from where it stands; begun anew, what was written is cut off."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = file.tell() if file.seekable() else None
        self._is_written = False

    def begin(self, answer: httpx.Response) -> None:
        """Forgets what it has. Raises StorageError where it cannot."""
        if not self._is_written:
            return
        if self._start is None:
            raise StorageError("other", "a part of the file is written already")
        self._file.seek(self._start)
        self._file.truncate()

    def write(self, piece: bytes) -> None:
        """Writes what has come."""
        self._is_written = True
        self._file.write(piece)
