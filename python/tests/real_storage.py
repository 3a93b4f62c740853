"""Files at a real XRootD, which SE-A is: run by name, with ``GRID_TEST_XROOTD``, the directory that it exports."""

import os
import random
from pathlib import Path

import fsspec
import pytest

from gridgate import StorageError
from gridgate._sync.storage import Storage

BYTES = random.Random(1).randbytes(30_000_000)
ROOT = Path(os.environ["GRID_TEST_XROOTD"])


def test_a_real_storage_takes_and_gives_files(grid, service, folder, tmp_path):
    assert grid.catalogue.put(BYTES, f"{folder}/hits") == "SE-A"
    assert (ROOT / f"{folder[1:]}/hits").read_bytes() == BYTES
    grid.catalogue.put(b"", f"{folder}/nothing")
    assert grid.catalogue.get(f"{folder}/hits", tmp_path) == "SE-A"
    assert (tmp_path / "hits").read_bytes() == BYTES
    with fsspec.open(f"gridgate://{folder}/hits", client=grid) as file:
        file.seek(20_000_000)
        assert file.read(1000) == BYTES[20_000_000:20_001_000]
        assert len(file.cache.cache) < 2_000_000
    with fsspec.open(f"gridgate://{folder}/text", "w", client=grid) as file:
        file.write("one\n")
    assert (ROOT / f"{folder[1:]}/text").read_text() == "one\n"
    (ROOT / f"{folder[1:]}/hits").write_bytes(BYTES[:-1])
    with pytest.raises(StorageError, match="it has 29999999 of 30000000 bytes"):
        grid.catalogue.get(f"{folder}/hits", tmp_path / "cut")
    assert not (tmp_path / "cut").exists()
    with service.client(storage_ca=os.environ["GRID_TEST_OTHER_CA"]) as stranger:
        with pytest.raises(StorageError, match="its certificate is not trusted"):
            stranger.catalogue.get(f"{folder}/text", tmp_path / "text")


def test_a_real_storage_gives_one_column(grid, service, folder, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    numpy = pytest.importorskip("numpy")
    values = numpy.random.default_rng(1).random((10, 1_300_000))
    options = {"endpoint": service.url, "cert": service.cert(), "ca": service.ca}
    url = f"gridgate://{folder}/table.parquet"
    pandas.DataFrame({f"c{column}": row for column, row in enumerate(values)}).to_parquet(url, storage_options=options)
    fetched = []
    part = Storage.part
    monkeypatch.setattr(
        Storage, "part", lambda self, file, start, end: fetched.append(end - start) or part(self, file, start, end)
    )
    assert (pandas.read_parquet(url, columns=["c3"], storage_options=options).c3.to_numpy() == values[3]).all()
    assert grid.catalogue.access(url[len("gridgate://") :])[0].size > 100_000_000
    assert sum(fetched) < 20_000_000, fetched
    print(f"fetched {fetched}")
