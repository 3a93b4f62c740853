import io

import fsspec
import pytest

from gridgate import Conflict, InvalidRequest, NotFound


def test_lists_finds_and_tells(grid):
    assert [(one.path, one.kind) for one in grid.catalogue.list("/vo/a")] == [
        ("/vo/a/run1", "directory"),
        ("/vo/a/run2", "directory"),
    ]
    files = {one.path: one.size for one in grid.catalogue.list("/vo/a/run1")}
    assert files == {"/vo/a/run1/f1": 10, "/vo/a/run1/f2": 20}
    assert [one.path for one in grid.catalogue.find("/", run=[">=|1", "<=|1"])] == ["/vo/a/run1"]
    assert grid.catalogue.metadata("/vo/a/run1")["run"] == [1]
    assert grid.catalogue.fields(run=1)["run"] == {"type": "int", "values": [1]}
    assert {one.path for one in grid.catalogue.find("/", particle="mu")} == {"/vo/b", "/vo/b/run3"}
    assert [one.path for one in grid.catalogue.find("/", particle=["mu", "in|e,mu"], run=3)] == ["/vo/b/run3"]
    assert grid.catalogue.fields(particle="mu")["run"] == {"type": "int", "values": [3]}
    assert grid.catalogue.metadata("/vo/b/run3", particle="mu", run="3")["particle"] == ["mu"]
    for text in ("", "e,mu", " mu"):
        with pytest.raises(ValueError, match="no condition asks for a text that is empty, has a comma, or blanks around it"):
            grid.catalogue.find("/", particle=text)
    with pytest.raises(InvalidRequest, match="nothing: is no metadata field"):
        grid.catalogue.find("/", nothing="x")
    with pytest.raises(NotFound):
        grid.catalogue.list("/vo/nothing")
    with pytest.raises(InvalidRequest):
        grid.catalogue.find("/", run="nonsense|1")
    with pytest.raises(ValueError, match="begins with no /"):
        grid.catalogue.attributes("vo/a")


def test_registers_and_removes(grid):
    path = "/vo/a/python/ä file"
    assert grid.catalogue.register(path, 3, checksum="ad8b1f02", checksum_type="Adler32", replicas={"SE-A": "srm://x/y"})
    assert not grid.catalogue.register(path, 3, checksum="ad8b1f02", checksum_type="Adler32", replicas={"SE-A": "srm://x/y"})
    with pytest.raises(Conflict):
        grid.catalogue.register(path, 4)
    assert grid.catalogue.attributes(path)["Size"] == 3
    grid.catalogue.set_metadata("/vo/a/python", {"size": 9})
    assert grid.catalogue.file_metadata(path)["size"] == 9
    with pytest.raises(OSError, match="No replica of .* lies at a storage element with an address"):
        fsspec.open(f"gridgate://catalogue{path}", client=grid).open()
    grid.catalogue.remove(path)
    grid.catalogue.remove_directory("/vo/a/python")
    assert grid.catalogue.make_directory("/vo/a/python") is True
    assert grid.catalogue.make_directory("/vo/a/python") is False
    grid.catalogue.remove_directory("/vo/a/python")


@pytest.fixture
def table(grid, service):
    """A path of a table that a job has brought back as CSV and parquet, with options for whoever opens it."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    content = io.BytesIO()
    pandas.DataFrame({"a": [1, 3], "b": [2, 4]}).to_parquet(content)
    wish = {"Executable": "/bin/sh", "Arguments": ["run.sh"], "OutputSandbox": ["t.csv", "t.parquet"]}
    script = b"cp in.parquet t.parquet; (echo a,b; echo 1,2; echo 3,4) > t.csv"
    [jid] = grid.submit(wish, {"run.sh": script, "in.parquet": content.getvalue()})
    grid.wait(jid, check=True)
    options = {"endpoint": service.url, "cert": service.cert(), "ca": service.ca, "group": "grid_user"}
    return f"gridgate://jobs/{jid}/output", options


def test_is_opened_by_functions_of_fsspec(table):
    folder, options = table
    with fsspec.open(f"{folder}/t.csv", **options) as file:
        assert file.read() == b"a,b\n1,2\n3,4\n"
    files, path = fsspec.url_to_fs(folder, **options)
    assert sorted(files.ls(path, detail=False)) == [f"{path}/t.csv", f"{path}/t.parquet"]
    assert fsspec.get_mapper(folder, **options)["t.csv"] == b"a,b\n1,2\n3,4\n"
    assert [file.path for file in fsspec.open_files(f"{folder}/*.csv", **options)] == [f"{path}/t.csv"]
    with pytest.raises(TypeError, match="endpoint, not url"):
        fsspec.filesystem("gridgate", url=options["endpoint"])


def test_is_read_by_pandas_and_pyarrow(table):
    import pandas
    import pyarrow.dataset
    import pyarrow.parquet

    folder, options = table
    assert pandas.read_parquet(f"{folder}/t.parquet", storage_options=options).b.tolist() == [2, 4]
    assert pandas.read_csv(f"{folder}/t.csv", storage_options=options).b.tolist() == [2, 4]
    files, path = fsspec.url_to_fs(folder, **options)
    assert pyarrow.parquet.read_table(f"{path}/t.parquet", filesystem=files)["a"].to_pylist() == [1, 3]
    assert pyarrow.dataset.dataset(f"{path}/t.parquet", filesystem=files).count_rows() == 2


def test_is_read_by_dask(table):
    dask = pytest.importorskip("dask.dataframe")
    folder, options = table
    assert dask.read_csv(f"{folder}/t.csv", storage_options=options).b.compute().tolist() == [2, 4]
    assert dask.read_parquet(f"{folder}/t.parquet", storage_options=options).a.compute().tolist() == [1, 3]


def test_is_a_file_system(grid):
    wish = {"Executable": "/bin/sh", "Arguments": ["run.sh"], "OutputSandbox": ["std.out", "table.csv"]}
    [jid] = grid.submit(wish, {"run.sh": b"seq 1 9 | tr '\\n' ,; (echo a,b; echo 1,2; echo 3,4) > table.csv"})
    grid.wait(jid, check=True)
    files = fsspec.filesystem("gridgate", client=grid)
    assert files.ls("gridgate://", detail=False) == ["catalogue", "jobs"]
    assert f"jobs/{jid}" in files.ls("gridgate://jobs", detail=False)
    assert files.glob(f"gridgate://jobs/{jid}/*/*") == [
        f"jobs/{jid}/input/run.sh",
        f"jobs/{jid}/output/std.out",
        f"jobs/{jid}/output/table.csv",
    ]
    assert files.cat_file(f"jobs/{jid}/output/std.out", start=2, end=5) == b"2,3"
    assert files.cat_file(f"jobs/{jid}/output/std.out", start=-4) == b"8,9,"
    assert files.isdir("catalogue/vo/a") and files.isfile("catalogue/vo/a/run1/f1")
    assert files.find("catalogue/vo/a/run1") == ["catalogue/vo/a/run1/f1", "catalogue/vo/a/run1/f2"]
    import pandas

    frame = pandas.read_csv(f"gridgate://jobs/{jid}/output/table.csv", storage_options={"client": grid})
    assert frame.b.tolist() == [2, 4]
    for missing in ("jobs/1099511627776/output/x", f"jobs/{jid}/output/x", "catalogue/vo/x/y", "else", "jobs/x"):
        with pytest.raises(FileNotFoundError):
            files.cat_file(missing)
    with pytest.raises(NotImplementedError):
        files.open(f"jobs/{jid}/output/new", "wb")
