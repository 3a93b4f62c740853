"""A file system over the catalogue and the sandboxes, for fsspec: ``gridgate://``.

``gridgate://jobs/<jid>/output/<name>`` and ``…/input/<name>`` are files of sandboxes. ``gridgate://catalogue/vo/a`` is the
catalogue: names, sizes, attributes; where the bytes are the replicas say, so that opening one raises and names them.
"""

from __future__ import annotations

from typing import Any, Optional

from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from ._call import Call, name_in_path
from ._sync.client import Client
from .errors import NotFound, ProblemError

KINDS = {"output": "outputsandbox", "input": "inputsandbox"}


class GridFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Reads sandboxes and the catalogue; options are those of ``Client``, or ``client`` itself.

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
        for entry in self._entries(path.rsplit("/", 1)[0]):
            if entry["name"] == path:
                return dict(entry)
        raise FileNotFoundError(path)

    def find(self, path: str, *given: Any, detail: bool = False, **options: Any) -> Any:
        """The files below a path, with links to files; what a link to a directory leads to is there under its own name."""
        found = super().find(path, *given, detail=True, **options)
        files = {name: entry for name, entry in found.items() if entry["type"] != "other"}
        return files if detail else list(files)

    def _open(self, path: str, mode: str = "rb", block_size: Any = "default", **options: Any) -> Any:
        if mode != "rb":
            raise NotImplementedError("sandboxes and the catalogue are read only")
        path = self._strip_protocol(path).strip("/")
        entry = self.info(path)
        if entry["type"] != "file":
            raise IsADirectoryError(path)
        if path.startswith("catalogue/"):
            replicas = ", ".join(str(one.get("PFN", se)) for se, one in entry.get("Replicas", {}).items())
            raise NotImplementedError(f"{path} is kept elsewhere: {replicas or 'it has no replica'}")
        return SandboxReader(self, path, mode, block_size, size=entry["size"], **options)

    def cat_file(self, path: str, start: Optional[int] = None, end: Optional[int] = None, **options: Any) -> bytes:
        """The bytes of a file."""
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
