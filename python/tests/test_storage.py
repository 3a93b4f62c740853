import asyncio
import io
import logging
import os
import random

import fsspec
import pytest
from played_storage import PlayedStorage

from gridgate import AsyncClient, Conflict, NotFound, StorageError
from gridgate._sync import content as content_module

#: Where the registry says that storage elements are.
PORT = os.environ.get("GRID_TEST_STORAGE_PORT")
pytestmark = pytest.mark.skipif(PORT is None, reason="no storage elements")
BYTES = random.Random(1).randbytes(3_000_000)


@pytest.fixture(scope="module")
def elements():
    played = PlayedStorage(int(PORT or 0))
    yield played
    played.close()


@pytest.fixture
def storage(elements):
    elements.asked.clear()
    elements.lies.clear()
    elements.faults.clear()
    elements.has_ranges = True
    elements.sends = False
    return elements


@pytest.fixture
def files(grid):
    return fsspec.filesystem("gridgate", client=grid, skip_instance_cache=True)


def test_puts_and_gets(grid, storage, folder, tmp_path):
    source = tmp_path / "hits"
    source.write_bytes(BYTES)
    assert grid.catalogue.put(source, f"{folder}/") == "SE-A"
    assert storage.kept[f"/a{folder}/hits"] == BYTES
    [put] = storage.of_clients("PUT")
    assert put.headers["Content-Length"] == "3000000"
    assert "Transfer-Encoding" not in put.headers
    attributes = grid.catalogue.attributes(f"{folder}/hits")
    assert (attributes["Size"], attributes["ChecksumType"]) == (3_000_000, "Adler32")

    assert grid.catalogue.get(f"{folder}/hits", tmp_path / "copy") == "SE-A"
    assert (tmp_path / "copy").read_bytes() == BYTES
    source.unlink()
    grid.catalogue.get(f"{folder}/hits", tmp_path)
    assert source.read_bytes() == BYTES
    with (tmp_path / "other").open("wb") as file:
        file.write(b"before ")
        grid.catalogue.get(f"{folder}/hits", file)
    assert (tmp_path / "other").read_bytes() == b"before " + BYTES
    assert grid.catalogue.content(f"{folder}/hits", start=5, end=9) == BYTES[5:9]
    assert len(grid.catalogue.content(f"{folder}/hits")) == 3_000_000

    assert grid.catalogue.put(b"", f"{folder}/nothing", se="SE-B", mode=0o600) == "SE-B"
    assert grid.catalogue.content(f"{folder}/nothing") == b""
    assert grid.catalogue.get(f"{folder}/nothing", tmp_path) == "SE-B"
    assert (tmp_path / "nothing").read_bytes() == b""
    with pytest.raises(Conflict):
        grid.catalogue.put(b"other", f"{folder}/hits")
    with pytest.raises(NotFound):
        grid.catalogue.get(f"{folder}/missing", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "hits", "nothing", "other"]
    grid.catalogue.remove(f"{folder}/hits")
    with pytest.raises(NotFound):
        grid.catalogue.content(f"{folder}/hits")


def test_sends_to_storage_what_opens_it_and_no_more(grid, storage, folder, caplog):
    caplog.set_level(logging.DEBUG)
    for se in ("SE-A", "SE-S3"):
        target = io.BytesIO()
        assert grid.catalogue.put(io.BytesIO(BYTES), f"{folder}/{se}", se=se) == se
        assert grid.catalogue.get(f"{folder}/{se}", target) == se
        assert target.getvalue() == BYTES
    [opened] = grid.catalogue.access(f"{folder}/SE-A", seconds=60)
    assert opened.headers["Authorization"].startswith("Bearer ey") and "ey" not in repr(opened)
    own = grid._source.token()
    for one in storage.asked:
        assert own not in str(one.headers)
    [get] = [one for one in storage.of_clients() if one.path.startswith("/a/")]
    assert {"Authorization", "Host", "Accept-Encoding"} <= set(get.headers)
    [signed] = [one for one in storage.of_clients() if one.path.startswith("/bucket/")]
    assert "Authorization" not in signed.headers
    assert "Signature" not in caplog.text and "Bearer" not in caplog.text


def test_goes_on_to_the_next_storage_element(grid, storage, folder, tmp_path):
    path = f"{folder}/two"
    grid.catalogue.put(BYTES, path, se="SE-A")
    grid.catalogue.put(BYTES, f"{folder}/other", se="SE-B")
    storage.kept[f"/b{path}"] = storage.kept[f"/b{folder}/other"]
    line = b'{"kind": "file", "path": "%s", "size": 3000000, "replicas": [{"se": "SE-B"}]}\n' % path.encode()
    _bulk(grid, line)

    target = io.BytesIO(b"before ")
    target.seek(7)
    for lie in (BYTES[:-1], BYTES + b"x", BYTES[:-1] + b"x"):
        storage.lies[f"/a{path}"] = lie
        target.seek(7)
        assert grid.catalogue.get(path, target) == "SE-B"
        assert target.getvalue() == b"before " + BYTES
    with pytest.raises(StorageError, match=r"two cannot be read: SE-A: its adler32 is \w+, in the catalogue \w+$"):
        grid.catalogue.get(path, tmp_path, se="SE-A")
    storage.faults = [("GET", 403), ("GET", 500), ("GET", 403), ("GET", 401)]
    with pytest.raises(StorageError, match="SE-A: it answers 500; SE-B: it answers 401$") as refused:
        grid.catalogue.get(path, tmp_path)
    assert refused.value.kind == "closed"
    assert list(tmp_path.iterdir()) == []
    storage.lies[f"/a{path}"] = BYTES[:-1]
    with fsspec.open(f"gridgate://{path}", client=grid) as file:
        file.seek(-5, 2)
        assert file.read() == BYTES[-5:]


def _bulk(grid, line):
    from gridgate._call import Call

    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}
    answer = grid.answer(Call("POST", "/filecatalogue/bulk", content=line, headers=headers))
    assert b'"status":4' not in answer.content, answer.content


def test_follows_storage_without_what_opens_it(grid, storage, folder, files, caplog):
    caplog.set_level(logging.INFO)
    storage.sends = True
    grid.catalogue.put(BYTES, f"{folder}/sent")
    assert storage.kept[f"/a{folder}/sent"] == BYTES
    target = io.BytesIO()
    grid.catalogue.get(f"{folder}/sent", target)
    assert target.getvalue() == BYTES
    with files.open(f"gridgate://{folder}/sent") as file:
        assert file.read(3) == BYTES[:3]
    hosts = [(one.headers["Host"], "Authorization" in one.headers) for one in storage.of_clients() + storage.of_clients("PUT")]
    assert hosts == [(f"localhost:{PORT}", True), (f"127.0.0.1:{PORT}", False)] * 3
    assert "key=1" not in caplog.text


def test_finishes_what_was_interrupted(grid, storage, folder):
    with pytest.raises(StorageError, match="SE-A does not take .*/a: it is full .507.; the path is free again") as full:
        storage.faults = [("PUT", 507)]
        grid.catalogue.put(b"bytes", f"{folder}/a")
    assert full.value.kind == "closed"
    assert grid.catalogue.put(b"bytes", f"{folder}/a") == "SE-A"
    storage.faults = [("PUT", 500)]
    with pytest.raises(StorageError, match="it failed .500."):
        grid.catalogue.put(b"bytes", f"{folder}/b")
    storage.kept[f"/a{folder}/b"] = b"bytes"
    assert grid.catalogue.put(b"bytes", f"{folder}/b") == "SE-A"
    assert len(storage.of_clients("PUT")) == 4


def test_reads_parts_of_files(grid, storage, folder, files, monkeypatch):
    path = f"{folder}/parts"
    grid.catalogue.put(BYTES, path)
    url = f"gridgate://{path}"
    with files.open(url, cache_type="none") as file:
        assert file.size == 3_000_000
        assert storage.of_clients() == []
        file.seek(1_000_000)
        assert file.read(10) == BYTES[1_000_000:1_000_010]
        [part] = storage.of_clients()
        assert (part.headers["Range"], part.sent) == ("bytes=1000000-1000009", 10)
        assert "Authorization" in part.headers
        storage.faults = [("GET", 401)]
        assert file.read(10) == BYTES[1_000_010:1_000_020]
        first, again = storage.of_clients()[1:]
        assert first.headers["Range"] == again.headers["Range"]
        storage.faults = [("GET", 403), ("GET", 403)]
        with pytest.raises(PermissionError, match="SE-A: it answers 403"):
            file.read(10)
        assert file.read(10) == BYTES[1_000_020:1_000_030]
        storage.faults = [("GET", 0)]
        assert file.read(10) == BYTES[1_000_030:1_000_040]
        storage.faults = [("GET", 0), ("GET", 0)]
        with pytest.raises(OSError, match="SE-A: it cannot be reached .RemoteProtocolError"):
            file.read(10)
        now = content_module.time.monotonic
        tokens = {one.headers["Authorization"] for one in storage.of_clients()}
        monkeypatch.setattr(content_module.time, "monotonic", lambda: now() + 880)
        file.read(10)
        assert storage.of_clients()[-1].headers["Authorization"] not in tokens
        storage.has_ranges = False
        assert file.read(10) == BYTES[1_000_050:1_000_060]
    storage.has_ranges = True
    storage.asked.clear()
    with fsspec.open(url, client=grid) as file:
        assert file.read() == BYTES
    with files.open(f"gridgate://catalogue{path}", block_size=100_000) as file:
        for _ in range(100):
            file.read(1000)
    assert sum(one.sent for one in storage.of_clients()) < 3_300_000


def test_is_written_by_fsspec(grid, storage, folder, files, tmp_path):
    url = f"gridgate://{folder}/text"
    with fsspec.open(url, "w", client=grid) as file:
        file.write("one\n")
        assert not files.exists(url)
    assert storage.kept[f"/a{folder}/text"] == b"one\n"
    with fsspec.open(url, "r", client=grid) as file:
        assert file.read() == "one\n"
    assert files.info(url)["size"] == 4 and files.isdir(f"gridgate://{folder}")
    for mode in ("wb", "xb"):
        with pytest.raises(FileExistsError, match="not overwritten"):
            files.open(url, mode)
    with pytest.raises(IsADirectoryError):
        files.open(f"gridgate://{folder}", "wb")
    with pytest.raises(IsADirectoryError):
        files.open(f"gridgate://{folder}", "rb")
    with pytest.raises(NotImplementedError, match="written once"):
        files.open(url, "ab")
    with pytest.raises(FileNotFoundError):
        files.open(f"gridgate://{folder}/missing")
    with pytest.raises(ZeroDivisionError), files.open(f"gridgate://{folder}/left", "wb") as file:
        file.write(b"a part")
        raise ZeroDivisionError
    file = files.open(f"gridgate://{folder}/forgotten", "wb")
    file.write(b"a part")
    del file
    with files.transaction:
        file = files.open(f"gridgate://{folder}/together", "wb")
        file.write(b"whole")
        file.close()
        assert not files.exists(f"gridgate://{folder}/together")
    assert files.ls(f"gridgate://{folder}", detail=False) == [f"catalogue{folder}/text", f"catalogue{folder}/together"]

    (tmp_path / "here").write_bytes(BYTES)
    files.put(str(tmp_path / "here"), f"gridgate://{folder}/there")
    files.get(f"gridgate://{folder}/there", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == BYTES
    assert files.cat_file(f"gridgate://{folder}/there") == BYTES
    files.pipe_file(f"gridgate://{folder}/sub/piped", b"piped", se="SE-B")
    assert files.cat(f"gridgate://{folder}/sub/piped") == b"piped"
    files.makedirs(f"gridgate://{folder}/sub/empty")
    with pytest.raises(FileExistsError):
        files.mkdir(f"gridgate://{folder}/sub/empty")
    files.rm(url)
    with pytest.raises(FileNotFoundError):
        files.rm_file(url)
    with pytest.raises(OSError, match="not empty"):
        files.rmdir(f"gridgate://{folder}/sub")
    files.rm(f"gridgate://{folder}", recursive=True)
    assert not files.exists(f"gridgate://{folder}")


def test_says_why_as_an_error_of_files(grid, service, storage, folder, files):
    grid.catalogue.put(b"bytes", f"{folder}/own")
    grid.catalogue.register(f"{folder}/elsewhere", 3, replicas={"SE-A": "srm://x/y"})
    with pytest.raises(OSError, match="No replica of .* lies at a storage element with an address"):
        files.open(f"gridgate://{folder}/elsewhere")
    with service.client("bob", group="grid_share") as bob:
        others = fsspec.filesystem("gridgate", client=bob, skip_instance_cache=True)
        with pytest.raises(PermissionError):
            others.rm_file(f"gridgate://{folder}/own")
        with pytest.raises(PermissionError), others.open(f"gridgate://{folder}/new", "wb") as file:
            file.write(b"x")
    with pytest.raises(NotImplementedError):
        files.rm_file("gridgate://jobs/1/output/x")


def test_puts_and_gets_with_await(service, storage, folder, tmp_path):
    async def main():
        async with AsyncClient(service.url, cert=service.cert(), ca=service.ca) as grid:
            assert await grid.catalogue.put(BYTES, f"{folder}/awaited") == "SE-A"
            assert await grid.catalogue.get(f"{folder}/awaited", tmp_path / "awaited") == "SE-A"
            assert await grid.catalogue.content(f"{folder}/awaited", start=7, end=9) == BYTES[7:9]

    asyncio.run(main())
    assert (tmp_path / "awaited").read_bytes() == BYTES


def test_reads_one_column_of_a_large_table(grid, service, storage, folder):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    numpy = pytest.importorskip("numpy")
    values = numpy.random.default_rng(1).random((10, 1_300_000))
    frame = pandas.DataFrame({f"c{column}": row for column, row in enumerate(values)})
    options = {"endpoint": service.url, "cert": service.cert(), "ca": service.ca}
    url = f"gridgate://{folder}/table.parquet"
    frame.to_parquet(url, storage_options=options, row_group_size=200_000)
    size = len(storage.kept[f"/a{folder}/table.parquet"])
    assert size > 100_000_000

    def fetched():
        sent = [one.sent for one in storage.of_clients()]
        storage.asked.clear()
        return sum(sent), len(sent)

    fetched()
    column = pandas.read_parquet(url, columns=["c3"], storage_options=options)
    assert (column.c3.to_numpy() == values[3]).all()
    of_pandas = fetched()
    assert of_pandas[0] < 0.25 * size
    files, path = fsspec.url_to_fs(url, **options)
    with files.open(path, cache_type="none") as file:
        assert parquet.read_table(file, columns=["c3"])["c3"].to_numpy().tolist() == values[3].tolist()
    exact = fetched()
    assert exact[0] < 0.15 * size
    print(f"of {size} bytes pandas fetched {of_pandas}, pyarrow without cache {exact}")
