"""A file system over the catalogue and the sandboxes, for fsspec: ``gridgate://``.

``gridgate://jobs/<jid>/output/<name>`` and ``…/input/<name>`` are files of sandboxes. ``gridgate://catalogue/vo/a``, or
``gridgate:///vo/a``, is the catalogue: bytes are read in parts from the storage elements, and written there whole.
"""

from __future__ import annotations

import errno
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Optional

from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from ._call import Call, name_in_path
from ._sync.client import Client
from .errors import Conflict, GridgateError, LoginFailed, NotFound, NotLoggedIn, ProblemError, StorageError

CATALOGUE = "catalogue/"
#: Bytes of a file that is written which are kept in memory; more are on the disk until it is closed.
IN_MEMORY = 16 << 20
KINDS = {"output": "outputsandbox", "input": "inputsandbox"}


class GridFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Reads sandboxes, and reads and writes the catalogue; options are those of ``Client``, or ``client`` itself.

    The address of the service is ``endpoint`` here, since fsspec has a ``url`` of its own in its functions.
    """

    protocol = "gridgate"
    root_marker = ""

    def __init__(self, client: Optional[Client] = None, endpoint: Optional[str] = None, **options: Any) -> None:
        kept = {name: options.pop(name) for name in list(options) if name in _FSSPEC}
        super().__init__(client=client, **kept)
        if "url" in options:
            raise TypeError("the address of the service is the option endpoint, not url")
        self.client = client or Client(endpoint, **options)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """The entries of a folder. Raises FileNotFoundError."""
        found = self._entries(self._strip_protocol(path).strip("/"))
        return found if detail else sorted(entry["name"] for entry in found)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """What a path is: ``name``, ``size``, ``type``, and the attributes of files of the catalogue."""
        path = self._strip_protocol(path).strip("/")
        parts = path.split("/")
        if len(parts) <= 1 or path in ("jobs", "catalogue"):
            if path in ("", "jobs", "catalogue"):
                return _folder(path)
            raise FileNotFoundError(path)
        if parts[0] == "jobs" and len(parts) <= 3:
            self._entries(path)
            return _folder(path)
        if parts[0] == "catalogue":
            return self._catalogue_info(path)
        for entry in self._entries(path.rsplit("/", 1)[0]):
            if entry["name"] == path:
                return dict(entry)
        raise FileNotFoundError(path)

    def find(self, path: str, *given: Any, detail: bool = False, **options: Any) -> Any:
        """The files below a path, with links to files; what a link to a directory leads to is there under its own name."""
        found = super().find(path, *given, detail=True, **options)
        files = {name: entry for name, entry in found.items() if entry["type"] != "other"}
        return files if detail else list(files)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, str) and path.startswith("gridgate:///"):
            path = f"gridgate://{CATALOGUE}{path[len('gridgate:///') :]}"
        return super()._strip_protocol(path)

    def _open(self, path: str, mode: str = "rb", block_size: Any = "default", **options: Any) -> Any:
        path = self._strip_protocol(path).strip("/")
        if path.startswith(CATALOGUE) and mode in ("wb", "xb"):
            return CatalogueWriter(self, path, mode, **options)
        if mode != "rb":
            raise NotImplementedError("sandboxes are read only, and files of the catalogue are written once, from their begin")
        if path.startswith(CATALOGUE):
            return CatalogueReader(self, path, mode, block_size, **options)
        entry = self.info(path)
        if entry["type"] != "file":
            raise IsADirectoryError(path)
        return SandboxReader(self, path, mode, block_size, size=entry["size"], **options)

    def get_file(self, rpath: str, lpath: Any, outfile: Any = None, **options: Any) -> None:
        """Copies a file here; one of the catalogue is compared with its checksums."""
        path = self._strip_protocol(rpath).strip("/")
        if not path.startswith(CATALOGUE) or self.isdir(path):
            super().get_file(rpath, lpath, outfile=outfile, **options)
            return
        with _told(path):
            self.client.catalogue.get(_lfn(path), outfile or lpath, se=options.get("se"))

    def put_file(self, lpath: Any, rpath: str, **options: Any) -> None:
        """Copies a file into the catalogue."""
        path = self._strip_protocol(rpath).strip("/")
        if Path(lpath).is_dir():
            self.makedirs(path, exist_ok=True)
            return
        with Path(lpath).open("rb") as source:
            self._put(path, source, options.get("se"))

    def _put(self, path: str, source: BinaryIO, se: Optional[str]) -> None:
        if not path.startswith(CATALOGUE):
            raise NotImplementedError("sandboxes are read only")
        with _told(path):
            self.client.catalogue.put(source, _lfn(path), se=se)

    def rm_file(self, path: str) -> None:
        """Removes a file of the catalogue, and its bytes where they came through the service."""
        path = self._strip_protocol(path).strip("/")
        if not path.startswith(CATALOGUE):
            raise NotImplementedError("sandboxes are read only")
        with _told(path):
            self.client.catalogue.remove(_lfn(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: Optional[int] = None) -> None:
        """Removes files; with ``recursive`` also directories and what is in them."""
        for one in reversed(self.expand_path(path, recursive=recursive, maxdepth=maxdepth)):
            try:
                self.rm_file(one)
            except FileNotFoundError:
                if not recursive or not self.isdir(one):
                    raise
                self.rmdir(one)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Makes a directory of the catalogue, and those above it. Raises FileExistsError."""
        self.makedirs(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Makes a directory of the catalogue, and those above it."""
        path = self._strip_protocol(path).strip("/")
        if not path.startswith(CATALOGUE):
            raise NotImplementedError("sandboxes are read only")
        with _told(path):
            if not self.client.catalogue.make_directory(_lfn(path)) and not exist_ok:
                raise FileExistsError(errno.EEXIST, "it is there already", path)

    def rmdir(self, path: str) -> None:
        """Removes an empty directory of the catalogue."""
        path = self._strip_protocol(path).strip("/")
        if not path.startswith(CATALOGUE):
            raise NotImplementedError("sandboxes are read only")
        with _told(path):
            self.client.catalogue.remove_directory(_lfn(path))

    def cat_file(self, path: str, start: Optional[int] = None, end: Optional[int] = None, **options: Any) -> bytes:
        """The bytes of a file; all of a file of the catalogue are compared with its checksums."""
        path = self._strip_protocol(path).strip("/")
        if path.startswith(CATALOGUE) and start is None and end is None:
            whole = io.BytesIO()
            with _told(path):
                self.client.catalogue.get(_lfn(path), whole, se=options.get("se"))
            return whole.getvalue()
        with self.open(path, "rb", cache_type="none") as file:
            first = start or 0
            first = max(0, first + file.size) if first < 0 else first
            last = file.size if end is None else end
            last = last + file.size if last < 0 else last
            file.seek(first)
            return bytes(file.read(max(0, last - first)))

    def _entries(self, path: str) -> list[dict[str, Any]]:
        parts = path.split("/") if path else []
        if not parts:
            return [_folder("jobs"), _folder("catalogue")]
        try:
            if parts[0] == "catalogue":
                return self._catalogue("/" + "/".join(parts[1:]))
            if parts[0] == "jobs" and len(parts) == 1:
                return [_folder(f"jobs/{job.jid}") for job in self.client.jobs()]
            if parts[0] == "jobs" and parts[1].isdecimal():
                return self._sandboxes(parts)
        except ProblemError as error:
            if error.status == 404:
                raise FileNotFoundError(path) from error
            raise
        raise FileNotFoundError(path)

    def _catalogue_info(self, path: str) -> dict[str, Any]:
        with _told(path):
            try:
                attributes = self.client.catalogue.attributes(_lfn(path))
            except NotFound:
                next(iter(self.client.catalogue.list(_lfn(path))), None)
                return _folder(path)
        return {**attributes, "name": path, "size": attributes["Size"], "type": "file"}

    def _catalogue(self, path: str) -> list[dict[str, Any]]:
        entries = []
        for entry in self.client.catalogue.list(path, verbose=True):
            kind = "file" if entry.kind == "file" else "directory"
            more = dict(entry.attributes)
            entries.append({**more, "name": f"catalogue{entry.path}", "size": entry.size or 0, "type": kind})
        return entries

    def _sandboxes(self, parts: list[str]) -> list[dict[str, Any]]:
        jid = parts[1]
        if len(parts) == 2:
            self.client.job(int(jid))
            return [_folder(f"jobs/{jid}/{kind}") for kind in KINDS]
        if parts[2] not in KINDS:
            raise FileNotFoundError("/".join(parts))
        try:
            files = self.client.json(Call("GET", f"/jobs/{jid}/{KINDS[parts[2]]}/files"))["files"]
        except NotFound as error:
            if error.code != "job.no-sandbox":
                raise
            files = []
        return _below("/".join(parts), f"jobs/{jid}/{parts[2]}", files)


class CatalogueReader(AbstractBufferedFile):  # type: ignore[misc]
    """A file of the catalogue, read in parts at the storage elements that have it, whose checksums are of the whole.

    Blocks are small beside those of fsspec, since columns of tables are read by them: what is read ahead of each is lost.
    """

    DEFAULT_BLOCK_SIZE = 1 << 20

    def __init__(
        self, fs: GridFileSystem, path: str, mode: str, block_size: Any, se: Optional[str] = None, **options: Any
    ) -> None:
        self._content = fs.client.catalogue._content(_lfn(path), se)
        try:
            with _told(path):
                size = self._content.file().size
        except FileNotFoundError:
            if fs.isdir(path):
                raise IsADirectoryError(path) from None
            raise
        super().__init__(fs, path, mode, block_size, **{**options, "size": size})

    def _fetch_range(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        with _told(self.path):
            return self._content.part(start, end)


class CatalogueWriter(io.IOBase):
    """A new file of the catalogue. It is put when it is closed: size and checksum must be known before.

    Left by an error in its own ``with``, or forgotten, it is not put.
    """

    def __init__(
        self, fs: GridFileSystem, path: str, mode: str, autocommit: bool = True, se: Optional[str] = None, **_: Any
    ) -> None:
        self.fs, self.path, self.mode = fs, path, mode
        self._se = se
        self._is_committed_by_close = autocommit
        self._bytes: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        try:
            taken = fs.info(path)["type"]
        except FileNotFoundError:
            return
        if taken == "directory":
            raise IsADirectoryError(errno.EISDIR, "it is a directory", path)
        raise FileExistsError(errno.EEXIST, "files of the catalogue are not overwritten", path)

    def writable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True, until it is put."""
        return True

    def write(self, piece: Any) -> int:
        """Writes bytes where it stands."""
        return int(self._bytes.write(piece))

    def seek(self, offset: int, whence: int = 0) -> int:
        """Goes to a place."""
        self._bytes.seek(offset, whence)
        return self.tell()

    def tell(self) -> int:
        """Where it stands."""
        return int(self._bytes.tell())

    def close(self) -> None:
        """Puts the file, unless a transaction does."""
        if self.closed:
            return
        super().close()
        if self._is_committed_by_close:
            self.commit()

    def commit(self) -> None:
        """Puts the file."""
        try:
            self._bytes.seek(0)
            self.fs._put(self.path, self._bytes, self._se)
        finally:
            self._bytes.close()

    def discard(self) -> None:
        """Forgets the file."""
        self._is_committed_by_close = False
        self._bytes.close()
        self.close()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        self._is_committed_by_close = False
        super().__del__()


class SandboxReader(AbstractBufferedFile):  # type: ignore[misc]
    """A file of a sandbox, read by ranges."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        _, jid, kind, name = self.path.split("/", 3)
        if end <= start:
            return b""
        path = f"/jobs/{jid}/{KINDS[kind]}/files/{name_in_path(name)}"
        call = Call("GET", path, headers={"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"})
        answer = self.fs.client.answer(call)
        content: bytes = answer.content
        return content if answer.status_code == 206 else content[start:end]


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Errors of the package as those of files."""
    try:
        yield
    except GridgateError as error:
        raise _os_error(error, path) from error


def _os_error(error: GridgateError, path: str) -> OSError:
    status = error.status if isinstance(error, ProblemError) else None
    if status == 404:
        return FileNotFoundError(errno.ENOENT, str(error), path)
    if isinstance(error, Conflict) and error.code in ("catalogue.exists", "catalogue.being-removed"):
        return FileExistsError(errno.EEXIST, str(error), path)
    is_closed = isinstance(error, StorageError) and error.kind == "closed"
    if status in (401, 403) or is_closed or isinstance(error, (NotLoggedIn, LoginFailed)):
        return PermissionError(errno.EACCES, str(error), path)
    if isinstance(error, Conflict) and error.code == "catalogue.not-empty":
        return OSError(errno.ENOTEMPTY, str(error), path)
    return OSError(errno.EIO, str(error), path)


def _lfn(path: str) -> str:
    """The path in the catalogue."""
    return f"/{path[len(CATALOGUE) :]}"


def _folder(path: str) -> dict[str, Any]:
    return {"name": path, "size": 0, "type": "directory"}


def _file(name: str, file: dict[str, Any], plain: set[str]) -> dict[str, Any]:
    """A file, or a link, which fsspec calls ``other`` when it leads to no file."""
    entry = {"name": name, "size": file["size"], "type": "file"}
    if "link" in file:
        kind = "file" if file["link"] in plain else "other"
        entry.update(type=kind, islink=True, destination=file["link"])
    return entry


def _below(folder: str, sandbox: str, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of a folder of a sandbox, whose files may have folders in their names."""
    entries: dict[str, dict[str, Any]] = {}
    plain = {file["name"] for file in files if not {"link", "directory"} & file.keys()}
    for file in files:
        whole = f"{sandbox}/{file['name']}"
        if whole == folder and "directory" in file:
            return []
        if not whole.startswith(f"{folder}/"):
            continue
        first, _, rest = whole[len(folder) + 1 :].partition("/")
        name = f"{folder}/{first}"
        entries[name] = _folder(name) if rest or "directory" in file else _file(name, file, plain)
    if not entries and folder != sandbox:
        raise FileNotFoundError(folder)
    return list(entries.values())


_FSSPEC = {
    "use_listings_cache",
    "listings_expiry_time",
    "max_paths",
    "skip_instance_cache",
    "asynchronous",
    "loop",
}
