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
    with pytest.raises(NotFound):
        list(grid.catalogue.list("/vo/nothing"))
    with pytest.raises(InvalidRequest):
        list(grid.catalogue.find("/", run="nonsense|1"))
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
    with pytest.raises(NotImplementedError, match="srm://x/y"):
        fsspec.open(f"gridgate://catalogue{path}", client=grid).open()
    grid.catalogue.remove(path)
    grid.catalogue.remove_directory("/vo/a/python")
    assert grid.catalogue.make_directory("/vo/a/python") is True
    assert grid.catalogue.make_directory("/vo/a/python") is False
    grid.catalogue.remove_directory("/vo/a/python")


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
