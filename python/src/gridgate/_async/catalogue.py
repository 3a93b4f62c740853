"""The file catalogue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Optional

from .._call import Call, Conditions, all_of, catalogue_path, conditions_of, is_plain_text, next_page, parsed
from ..errors import GridgateError
from ..model import Entry, FoundDirectory
from ._runtime import closed_after
from .transport import AsyncTransport
from .watching import lines_of

PAGE = 1000


class AsyncCatalogue:
    """Directories, files and metadata; ``client.catalogue``."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, path: str = "/", *, verbose: bool = False) -> AsyncIterator[Entry]:
        """The entries of a directory, page by page; ``verbose``: attributes with ``Replicas``."""
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

    async def find(self, path: str = "/", **conditions: Any) -> AsyncIterator[FoundDirectory]:
        """The directories at and below a path that match conditions of metadata, as they are found.

        A condition is a value (``run=3``, ``particle="mu"``), ``operation|value`` (``run=">=|2"``, ``particle="in|e,mu"``),
        or a list of those that all apply.
        """
        query = await self._query(conditions)
        headers = {"Accept": "application/x-ndjson"}
        call = Call("GET", f"{_directory(path, root=True)}/search", query, headers=headers)
        async with self._transport.once(call, stream=True) as answer, closed_after(lines_of(answer)) as lines:
            async for line in lines:
                if line != "":
                    found = parsed(line)
                    if "path" not in found:
                        raise GridgateError(f"the search broke off: {found.get('detail', line)}")
                    yield FoundDirectory(found["path"], found["files"], found["size"])

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
        """Sets values of a directory; with ``replace`` the others go."""
        method = "PUT" if replace else "PATCH"
        await self._transport.answer(Call(method, f"{_directory(path, root=True)}/metadata", json=dict(values)))

    async def file_metadata(self, path: str, *, inherited: bool = True) -> dict[str, Any]:
        """The values of a file, with those of its directories unless ``inherited`` is false."""
        call = Call("GET", f"{_file(path)}/metadata", {"inherited": inherited})
        return dict(await self._transport.json(call))

    async def set_file_metadata(self, path: str, values: Conditions, *, replace: bool = False) -> None:
        """Sets values of a file; with ``replace`` the others go."""
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
    ) -> bool:
        """Registers a file of ``size`` bytes with replicas (storage element → address); false when it was there."""
        body: dict[str, Any] = {
            "Size": size,
            "Checksum": checksum,
            "ChecksumType": checksum_type,
            "GUID": guid,
            "Replicas": None if replicas is None else {se: {"PFN": pfn} for se, pfn in replicas.items()},
        }
        body = {name: value for name, value in body.items() if value is not None}
        return bool((await self._transport.json(Call("PUT", _file(path), json=body)))["created"])

    async def remove(self, path: str) -> None:
        """Takes a file out of the catalogue."""
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
