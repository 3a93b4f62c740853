"""The file catalogue."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Optional, Union

from .._call import Call, Conditions, all_of, catalogue_path, conditions_of, is_plain_text, next_page, parsed
from .._files import OpenSink, PartFile
from .._storage import digests_of
from ..errors import Conflict, GridgateError, NotFound, ProblemError, StorageError, problem_with
from ..model import Access, Entry, FoundDirectory
from ._runtime import Listing, closed_after, in_thread, listed
from .content import AsyncContent
from .transport import AsyncTransport
from .watching import lines_of

PAGE = 1000
#: Bytes of a second on a slow line: so long a path is held for an upload.
SLOW_BYTES = 1_000_000
#: Of larger files at S3 the service does not compare the Adler-32.
MOST_READ_BYTES = 1 << 30
#: Attributes that a file keeps when it is moved, and their names in a line of many changes.
MOVED = {
    **{"Mode": "mode", "Owner": "owner", "OwnerGroup": "group"},
    **{"Checksum": "checksum", "ChecksumType": "checksumType", "GUID": "guid"},
}
NOT_OF_FILES = "metadata that files have of their own is not searched: set it at their directory"


class AsyncCatalogue:
    """Directories, files and metadata; ``client.catalogue``."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, path: str = "/", *, verbose: bool = False) -> Listing[Entry]:
        """The entries of a directory, page by page; ``verbose``: attributes with ``Replicas``."""
        return listed(self._list(path, verbose), "entries")

    async def _list(self, path: str, verbose: bool) -> AsyncGenerator[Entry, None]:
        base = path.rstrip("/")
        page: Optional[Call] = Call("GET", _directory(path), {"limit": PAGE, "verbose": True if verbose else None})
        while page is not None:
            answer = await self._transport.answer(page)
            contents = parsed(answer.content)
            for name in contents["SubDirs"]:
                yield Entry(f"{base}/{name}", "directory")
            for name, entry in contents["Files"].items():
                attributes = entry["MetaData"]
                yield Entry(f"{base}/{name}", "file", attributes["Size"], {**attributes, **_replicas(entry)})
            following = next_page(answer.headers.get("Link"), self._transport.url)
            page = None if following is None else Call("GET", following)

    def find(self, path: str = "/", **conditions: Any) -> Listing[FoundDirectory]:
        """The directories at and below a path that match conditions of metadata, as they are found.

        A condition is a value (``run=3``, ``particle="mu"``), ``operation|value`` (``run=">=|2"``, ``particle="in|e,mu"``),
        or a list of those that all apply. Those of directories count, not the metadata that files have of their own. A
        directory that matches is counted with all below it, where others may match, too: ``total`` counts each file once.
        """
        return listed(self._find(path, conditions), "directories")

    async def total(self, path: str = "/", **conditions: Any) -> FoundDirectory:
        """The number and bytes of the files in what ``find`` finds, each of them counted once."""
        files = size = 0
        above: Optional[str] = None
        async for found in self.find(path, **conditions):  # what is below a directory comes next after it
            if above is None or not found.path.startswith(above):
                above = f"{found.path.rstrip('/')}/"
                files, size = files + found.files, size + found.size
        return FoundDirectory(path, files, size)

    async def _find(self, path: str, conditions: Conditions) -> AsyncGenerator[FoundDirectory, None]:
        query = await self._query(conditions)
        headers = {"Accept": "application/x-ndjson"}
        call = Call("GET", f"{_directory(path, root=True)}/search", query, headers=headers)
        is_empty = True
        async with self._transport.once(call, stream=True) as answer, closed_after(lines_of(answer)) as lines:
            async for line in lines:
                if line != "":
                    is_empty = False
                    found = parsed(line)
                    if "path" not in found:
                        raise GridgateError(f"the search broke off: {found.get('detail', line)}")
                    yield FoundDirectory(found["path"], found["files"], found["size"])
        if is_empty and conditions:
            warnings.warn(f"no directory at or below {path} matches; {NOT_OF_FILES}", UserWarning, stacklevel=6)

    async def fields(self, **conditions: Any) -> dict[str, Any]:
        """Fields of metadata with their type and the values that are compatible with the conditions."""
        call = Call("GET", "/filecatalogue/metadata", await self._query(conditions))
        return dict(await self._transport.json(call))

    async def _query(self, conditions: Conditions) -> dict[str, Any]:
        # to be equal is spelled `in` for texts and `=` for dates, which look alike here
        if not any(is_plain_text(one) for value in conditions.values() for one in all_of(value)):
            return conditions_of(conditions)
        fields = await self._transport.json(Call("GET", "/filecatalogue/metadata", {"maxValues": 1}))
        return conditions_of(conditions, {name for name, field in fields.items() if field["type"] == "string"})

    async def declare(self, name: str, type: str) -> None:
        """Declares a field of metadata."""
        body = {"name": name, "type": type}
        await self._transport.answer(Call("POST", "/filecatalogue/metadata", json=body))

    async def metadata(self, path: str, **conditions: Any) -> dict[str, Any]:
        """The values of a directory, of those above it and of the matching ones below."""
        call = Call("GET", f"{_directory(path, root=True)}/metadata", await self._query(conditions))
        return dict(await self._transport.json(call))

    async def set_metadata(self, path: str, values: Conditions, *, replace: bool = False) -> None:
        """Sets values of a directory, which all below it inherit; with ``replace`` the others go."""
        method = "PUT" if replace else "PATCH"
        try:
            await self._transport.answer(Call(method, f"{_directory(path, root=True)}/metadata", json=dict(values)))
        except NotFound as error:
            if await self._is_file(path):
                detail = f"{path} is a file: use set_file_metadata"
                raise NotFound(404, {**error.problem, "detail": detail}) from error
            raise

    async def file_metadata(self, path: str, *, inherited: bool = True) -> dict[str, Any]:
        """The values of a file, with those of its directories unless ``inherited`` is false."""
        call = Call("GET", f"{_file(path)}/metadata", {"inherited": inherited})
        return dict(await self._transport.json(call))

    async def set_file_metadata(self, path: str, values: Conditions, *, replace: bool = False) -> None:
        """Sets values of a file; with ``replace`` the others go.

        Only ``file_metadata`` reads them: ``find`` searches by the metadata of directories.
        """
        method = "PUT" if replace else "PATCH"
        await self._transport.answer(Call(method, f"{_file(path)}/metadata", json=dict(values)))

    async def attributes(self, path: str) -> dict[str, Any]:
        """The attributes of a file: ``Size``, ``Checksum``, ``Owner`` and so on."""
        return dict(await self._transport.json(Call("GET", f"{_file(path)}/attributes")))

    async def make_directory(self, path: str) -> bool:
        """Makes a directory and those above it; false when it was there."""
        made = await self._transport.json(Call("POST", _directory(path, root=True), json={}, again=True))
        return bool(made["created"])

    async def register(
        self,
        path: str,
        size: int,
        *,
        checksum: Optional[str] = None,
        checksum_type: Optional[str] = None,
        guid: Optional[str] = None,
        replicas: Optional[dict[str, str]] = None,
        mode: Optional[int] = None,
        sha256: Optional[str] = None,
        se: Optional[str] = None,
    ) -> bool:
        """Registers a file of ``size`` bytes with replicas (storage element → address); false when it was there.

        ``se``: the storage element to which its bytes were uploaded: it is registered with them, or not at all.
        """
        body: dict[str, Any] = {
            "Size": size,
            "Checksum": checksum,
            "ChecksumType": checksum_type,
            "GUID": guid,
            "Mode": mode,
            "SHA256": sha256,
            "SE": se,
            "Replicas": None if replicas is None else {se: {"PFN": pfn} for se, pfn in replicas.items()},
        }
        body = {name: value for name, value in body.items() if value is not None}
        return bool((await self._transport.json(Call("PUT", _file(path), json=body)))["created"])

    async def access(
        self,
        paths: Union[str, Iterable[str]],
        *,
        right: str = "read",
        se: Optional[str] = None,
        seconds: Optional[int] = None,
        contents: Optional[Iterable[Mapping[str, Any]]] = None,
    ) -> Sequence[Access]:
        """What opens files at storage elements, all or none, for ``seconds`` (900 unless said, at most 3,600).

        ``right="create"``: to write files that are not there, whose paths are held meanwhile; ``contents`` says of each
        ``size`` and ``md5``. When the bytes are there, ``register`` with ``se`` makes them a file; ``put`` does all of it.
        """
        body: dict[str, Any] = {
            "paths": [paths] if isinstance(paths, str) else list(paths),
            "right": right,
            "se": se,
            "seconds": seconds,
            "contents": None if contents is None else [dict(content) for content in contents],
        }
        body = {name: value for name, value in body.items() if value is not None}
        call = Call("POST", "/filecatalogue/access", json=body, again=True)
        return [Access.of(record) for record in await self._transport.json(call)]

    async def get(self, path: str, target: Union[str, os.PathLike[str], BinaryIO] = ".", *, se: Optional[str] = None) -> str:
        """Fetches the bytes of a file from a storage element into a file, a directory or a file object; answers which one.

        Size and checksums are compared, and the next storage element is asked where one fails; ``se``: this one only. A file
        has its name when it is whole; so has it the bytes of a file object when nothing is raised. Raises StorageError.
        """
        content = self._content(path, se)
        if not isinstance(target, (str, os.PathLike)):
            return await content.fetch(OpenSink(target))
        place = Path(target)
        if place.is_dir():
            place /= path.rpartition("/")[2]
        await content.file()  # nothing is made for a file that is not there
        with PartFile(place.parent, place.name) as part:
            element = await content.fetch(part)
            part.finish()
        return element

    async def content(self, path: str, *, start: int = 0, end: Optional[int] = None) -> bytes:
        """The bytes of a file through the service, or those from ``start`` to before ``end``, in memory.

        For whoever does not reach the storage elements; ``get`` is for large files.
        """
        if start < 0 or (end is not None and end < 0):
            raise ValueError("start and end are positions from 0 on")
        if end is not None and end <= start:
            return b""
        headers = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if start or end is not None else {}
        try:
            call = Call("GET", f"{_file(path)}/content", {"through": True}, headers={"Accept": "*/*", **headers})
            answer = await self._transport.answer(call)
            return answer.content
        except ProblemError as error:
            if error.status == 416:  # nothing there, or nothing behind its end
                return b""
            raise

    async def put(
        self,
        source: Union[str, os.PathLike[str], bytes, BinaryIO],
        path: str,
        *,
        se: Optional[str] = None,
        guid: Optional[str] = None,
        mode: Optional[int] = None,
    ) -> str:
        """Uploads a file, bytes, or a file object from where it stands, and registers it; answers the storage element.

        A path that ends with ``/`` is a directory, for the name of the file. ``se``: a storage element, otherwise the service
        chooses. Nothing is overwritten: raises Conflict for a path that is taken, StorageError when the storage element does
        not take the bytes. The same bytes may be put again, which finishes what was interrupted.
        """
        if isinstance(source, (str, os.PathLike)):
            file = Path(source)
            with file.open("rb") as opened:
                whole = f"{path}{file.name}" if path.endswith("/") else path
                return await self._put(opened, whole, se, {"guid": guid, "mode": mode})
        content = io.BytesIO(source) if isinstance(source, (bytes, bytearray, memoryview)) else source
        return await self._put(content, path, se, {"guid": guid, "mode": mode})

    async def _put(self, source: BinaryIO, path: str, se: Optional[str], more: dict[str, Any]) -> str:
        start = source.tell()
        digests = await in_thread(digests_of, source)
        source.seek(start)
        seconds = min(3600, 900 + digests.size // SLOW_BYTES)
        contents = [{"size": digests.size, "md5": digests.md5}]
        [place] = await self.access(path, right="create", se=se, seconds=seconds, contents=contents)
        refused: Optional[StorageError] = None
        try:
            await self._transport.storage.send(place, source, digests.size)
        except StorageError as error:
            text = f"{place.se} does not take {path}: {error}; the path is free again an hour after {place.expires}"
            refused = StorageError(error.kind, text)
            # what lies there may be what an earlier try has put: whoever registers it looks
            if error.kind != "closed":
                raise refused from error
        is_read = place.presigned is None or digests.size <= MOST_READ_BYTES
        checksum, kind = (digests.adler32, "Adler32") if is_read else (digests.md5, "MD5")
        sums: dict[str, Any] = {"checksum": checksum, "checksum_type": kind, "sha256": digests.sha256}
        try:
            await self.register(path, digests.size, **sums, **more, se=place.se)
        except ProblemError as error:
            if refused is None:
                raise
            raise refused from error
        return place.se

    def _content(self, path: str, se: Optional[str] = None) -> AsyncContent:
        """The bytes of a file, for readers of its parts."""

        async def elements() -> list[str]:
            async for entry in self.list(path.rpartition("/")[0] or "/", verbose=True):
                if entry.path == path:
                    return list(entry.attributes.get("Replicas", {}))
            return []

        return AsyncContent(self._transport, path, se, elements)

    async def move(self, old: str, new: str) -> None:
        """Gives a file another path, with its attributes, replicas and metadata; a ``new`` that ends with ``/`` is a directory.

        It is registered there, then removed here: what fails in between leaves both names, never none. Raises Conflict for a
        path that is taken, and for a file whose bytes a storage element has by its path (``get`` and ``put`` move those);
        Forbidden for a file of somebody else. Directories are moved by administrators (``gridgate admin catalogue move``).
        """
        if new.endswith("/"):
            new += old.rpartition("/")[2]
        entry = await self._entry(old)
        if await self._is_file(new):
            raise Conflict(409, {"code": "catalogue.exists", "detail": f"{new} is there already"})
        replicas = entry.attributes.get("Replicas", {})
        for se in replicas:
            if await self._has_address(old, se):
                instead = "get it, put it under the other path with its metadata, then remove this one"
                detail = f"{old} lies at {se} by its path: {instead}"
                raise Conflict(409, {"code": "catalogue.exists", "detail": detail})
        metadata = await self.file_metadata(old, inherited=False)
        line = {
            **{"kind": "file", "path": new, "size": entry.size},
            **{member: entry.attributes[name] for name, member in MOVED.items() if entry.attributes[name] != ""},
            "replicas": [{"se": se, **({"pfn": at["PFN"]} if at["PFN"] else {})} for se, at in replicas.items()],
            **({"metadata": metadata} if metadata else {}),
        }
        headers = {"Content-Type": "application/x-ndjson"}
        content = f"{json.dumps(line)}\n".encode()
        answer = await self._transport.answer(Call("POST", "/filecatalogue/bulk", content=content, headers=headers, again=True))
        fault = parsed(answer.content.split(b"\n")[0])
        if "status" in fault:
            detail = f"{new}: {fault.get('detail', '')}"
            if fault.get("code") == "catalogue.owner-forbidden":
                owner, group = entry.attributes["Owner"], entry.attributes["OwnerGroup"]
                detail = f"{old} belongs to {owner} ({group}), and only a catalogue manager may move it so that this stays"
            raise problem_with(fault["status"], {**fault, "detail": detail})
        with suppress(NotFound):  # an earlier try has done it, whose answer was lost
            await self.remove(old)

    async def _entry(self, path: str) -> Entry:
        """A file with its replicas, which only the list of its directory has. Raises NotFound."""
        try:
            await self.attributes(path)
            async for entry in self.list(path.rpartition("/")[0] or "/", verbose=True):
                if entry.path == path and entry.kind == "file":
                    return entry
        except NotFound as error:
            if await self._is_directory(path):
                raise NotFound(404, {**error.problem, "detail": f"{path} is a directory: only files are moved"}) from error
            raise
        raise NotFound(404, {"code": "catalogue.file-not-found", "detail": f"There is no file {path}"})

    async def _is_file(self, path: str) -> bool:
        try:
            await self.attributes(path)
        except NotFound:
            return False
        return True

    async def _is_directory(self, path: str) -> bool:
        try:
            await self._transport.answer(Call("GET", _directory(path), {"limit": 1}))
        except NotFound:
            return False
        return True

    async def _has_address(self, path: str, se: str) -> bool:
        """Whether its bytes lie at a storage element where their address follows from the path."""
        try:
            await self.access(path, se=se, seconds=1)
        except ProblemError as error:
            if error.status not in (400, 409):
                raise
            return False
        return True

    async def remove(self, path: str) -> None:
        """Takes a file out of the catalogue.

        Bytes that came through the service are removed, too, an hour and two minutes after the file was registered at the
        earliest; so long its path is taken, and addresses that ``access`` has given go on. The service waits for that, not
        this call. Other copies stay where they are.
        """
        await self._transport.answer(Call("DELETE", _file(path)))

    async def remove_directory(self, path: str) -> None:
        """Takes an empty directory out of the catalogue."""
        await self._transport.answer(Call("DELETE", _directory(path, root=True)))


def _directory(path: str, *, root: bool = False) -> str:
    clean = path.rstrip("/") or "/"
    if clean == "/" and not root:
        return "/filecatalogue/directory"
    return f"/filecatalogue/directory/{catalogue_path(clean)}"


def _file(path: str) -> str:
    return f"/filecatalogue/file/{catalogue_path(path)}"


def _replicas(entry: dict[str, Any]) -> dict[str, Any]:
    return {"Replicas": entry["Replicas"]} if "Replicas" in entry else {}
