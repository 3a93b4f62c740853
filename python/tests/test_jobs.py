import asyncio
import json
import pickle
import signal
import subprocess
import sys
import tracemalloc

import fsspec
import pytest

from gridgate import AsyncClient, InvalidRequest, JobFailed, MapFailed, NotFound, OutputWarning

SLEEP = {"Executable": "/bin/sleep", "Arguments": ["60"]}


def shell(text, **more):
    return {"Executable": "/bin/sh", "Arguments": ["-c", text], **more}


def test_submits_with_files_waits_and_reads(grid, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("one\ntwo\n")
    jids = grid.submit(shell("wc -l < words.txt; cat more/data"), {"words.txt": words, "data": b"x" * 3})
    assert len(jids) == 1
    [job] = grid.wait(jids)
    assert (job.status, job.owner, job.is_final) == ("Failed", "alice", True)
    jids = grid.submit(shell("wc -l < words.txt"), [words])
    [job] = grid.wait(jids)
    assert job.is_done and job.submitted <= job.started <= job.ended
    assert grid.read_output(jids[0]) == b"2\n"
    assert grid.read_output(jids[0], start=5) == b""
    assert [(file.name, file.size) for file in grid.output_files(jids[0])] == [("std.out", 2), ("std.err", 0)]
    assert list(grid.follow(jids[0])) == ["2\n"]


def test_follows_bytes_that_are_no_utf_8(grid):
    [jid] = grid.submit(shell(r"printf 'a\351b'"))
    grid.wait([jid])
    assert "".join(grid.follow(jid)) == "a\ufffdb"
    text = "".join(grid.follow(jid, errors="surrogateescape"))
    assert text.encode("utf-8", "surrogateescape") == b"a\xe9b"


@pytest.mark.parametrize("name", ["a%22b", "%0D", "x%0A.dat", "a\tb", "a\nb", "\x7f"])
def test_sends_no_file_whose_name_a_form_changes(grid, tmp_path, name):
    path = tmp_path / name
    path.write_text("x")
    for files in ({name: b"x"}, [path]):
        with pytest.raises(ValueError, match="a form cannot carry .+ in the name of a file, rename it"):
            grid.submit(shell("true"), files)


def test_wait_keeps_the_order_and_takes_more_than_fit_an_address(grid):
    jids = grid.submit({"Executable": "/bin/true", "Parameters": 130})
    jobs = grid.wait(reversed(jids))
    assert [job.jid for job in jobs] == jids[::-1]
    assert {job.status for job in jobs} == {"Done"}
    assert grid.wait([]) == []


def test_the_same_key_makes_no_second_job(grid):
    first = grid.submit(shell("true"), {"a": b"1"}, idempotency_key="python-test-key")
    assert grid.submit(shell("true"), {"a": b"1"}, idempotency_key="python-test-key") == first
    with pytest.raises(InvalidRequest) as caught:
        grid.submit(shell("false"), {"a": b"1"}, idempotency_key="python-test-key")
    assert caught.value.code == "idempotency.mismatch"


def test_a_failed_job_says_the_end_of_its_errors(grid):
    [jid] = grid.submit(shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3"))
    with pytest.raises(JobFailed) as caught:
        grid.wait(jid, check=True)
    assert caught.value.stderr.endswith("line 1999\n")
    assert len(caught.value.stderr) == 4096
    assert (caught.value.jid, caught.value.status) == (jid, "Failed")
    why = f"job {jid} ended as Failed (Application Finished With Errors: Exited with code 3)"
    assert str(caught.value).startswith(f"{why}\n")
    assert str(grid.failure(jid)) == str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_arguments_may_be_numbers_and_paths(grid, tmp_path):
    [jid] = grid.submit({"Executable": "/bin/echo", "Arguments": [1, 2.5, tmp_path, "x y"]}, {"x": b""})
    [one] = grid.submit({"Executable": "/bin/echo", "Arguments": 7})
    grid.wait([jid, one], check=True)
    assert grid.read_output(jid) == f"1 2.5 {tmp_path} x y\n".encode()
    assert grid.read_output(one) == b"7\n"
    assert grid.dry_run({"Executable": "/bin/echo", "Arguments": [3]})["manifests"]
    with pytest.raises(InvalidRequest, match="Arguments: must be a text or a list of texts"):
        grid.dry_run({"Executable": "/bin/echo", "Arguments": [True]})


def test_refusals_are_typed(grid, service):
    with pytest.raises(InvalidRequest) as caught:
        grid.submit({"Executable": 1, "Priority": 99})
    assert (caught.value.status, caught.value.code) == (400, "request.invalid")
    assert [fault["field"] for fault in caught.value.violations] == ["Executable", "Priority"]
    assert [str(caught.value).count(fault["problem"]) for fault in caught.value.violations] == [1, 1]
    with pytest.raises(NotFound) as missing:
        grid.wait([2**40])
    assert missing.value.code == "job.not-found"
    [jid] = grid.submit({"Executable": "/bin/true"})
    with service.client("bob") as bob, pytest.raises(NotFound):
        bob.wait(jid)
    with pytest.raises(ValueError, match="two files are named"):
        grid.submit(shell("true"), ["/a/x", "/b/x"])
    with pytest.raises(ValueError, match="no name of a file"):
        grid.read_output(jid, "../x")


def test_kill_hold_release_explain_history(grid):
    [jid, other] = grid.submit([SLEEP, {**SLEEP, "Sites": ["LOCAL.demo"]}])
    assert grid.kill([jid, other]) == [jid, other]
    assert [job.status for job in grid.wait([jid, other])] == ["Killed", "Killed"]
    with pytest.warns(UserWarning, match="No site can hold the job now"):
        [waits] = grid.submit({**SLEEP, "Tags": ["no-such-tag"]})
    for change in grid.watch(jid=waits):
        if change.job is not None and change.job.status == "Waiting":
            break
    grid.hold(waits)
    assert grid.explain(waits)["status"] == "Waiting"
    grid.release(waits)
    assert grid.history(waits)[0]["status"] == "Received"
    assert grid.manifest(waits)["Tags"] == ["no-such-tag"]
    grid.kill(waits)


def test_lists_pages_and_frames(grid, group):
    jids = grid.submit({"Executable": "/bin/true", "JobGroup": group, "Parameters": 7})
    assert [job.jid for job in grid.jobs(job_group=group, page=3)] == jids[::-1]
    grid.wait(jids)
    frame = grid.frame(job_group=group)
    assert list(frame.index) == jids[::-1]
    assert (frame.ended >= frame.started).all()
    assert grid.frame(job_group="nothing").empty
    with pytest.raises(InvalidRequest) as caught:
        grid.jobs(no_such_filter=1)
    assert caught.value.code == "request.unknown-parameter"


def test_a_notebook_shows_the_rows_that_come_next(grid, group):
    jids = grid.submit({"Executable": "/bin/true", "JobGroup": group, "JobName": "<b>", "Parameters": 22})
    jobs = grid.jobs(job_group=group, page=5)
    shown = jobs._repr_html_()
    assert [f"<td>{jid}</td>" in shown for jid in jids[::-1]] == [True] * 20 + [False] * 2
    assert shown.startswith("<div><table><thead><tr><th>job</th>") and shown.endswith("</table><p>and more</p></div>")
    assert [job.jid for job in jobs] == jids[::-1]
    assert jobs._repr_html_() == "<div><p>nothing</p></div>"
    jobs = grid.jobs(job_group=group)
    jobs.close()
    assert list(jobs) == []
    shown = grid.catalogue.list("/vo/a/run1")._repr_html_()
    assert "<th>path</th><th>kind</th><th>size</th>" in shown and "<td>/vo/a/run1/f1</td><td>file</td><td>10</td>" in shown


def test_a_large_output_goes_to_the_disk_and_goes_on_after_a_cut(grid, service, proxy, tmp_path):
    size = 48 << 20
    [jid] = grid.submit(shell(f"head -c {size} /dev/urandom > big; sha256sum big", OutputSandbox=["std.out", "big"]))
    grid.wait(jid, check=True)
    sums = grid.read_output(jid).decode().split()[0]
    with service.client(url=f"https://localhost:{proxy.port}") as through:
        through.job(jid)  # the token is there
        proxy.limit = size // 2
        proxy.cut()
        tracemalloc.start()
        paths = through.download(jid, tmp_path / "out", ["big"])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert proxy.limit is None
    assert subprocess.run(["sha256sum", paths[0]], capture_output=True, text=True).stdout.split()[0] == sums
    assert peak < 8 << 20
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["big"]


def test_links_are_listed_and_downloaded_as_what_they_lead_to(grid, tmp_path):
    script = "mkdir d; echo 1 > d/run; ln -s run d/latest; ln -s d all; ln -s nowhere gone; echo 2 > plot.svg"
    [jid] = grid.submit(shell(script, OutputSandbox=["d", "all", "gone"]))
    with pytest.warns(OutputWarning, match="wrote plot.svg"):
        grid.wait(jid, check=True)
    files = {file.name: (file.size, file.link) for file in grid.output_files(jid)}
    assert files == {"d/latest": (2, "d/run"), "d/run": (2, None), "all": (0, "d"), "gone": (0, "nowhere")}
    paths = grid.download(jid, tmp_path)
    assert [(path.name, path.read_bytes()) for path in paths] == [("latest", b"1\n"), ("run", b"1\n")]
    assert grid.read_output(jid, "d/latest") == b"1\n"
    with pytest.raises(NotFound):
        grid.read_output(jid, "all")
    assert grid.parameters(jid)["OutputNotRequested"] == "plot.svg"
    fs = fsspec.filesystem("gridgate", client=grid)
    listed = {entry["name"].split("/")[-1]: entry["type"] for entry in fs.ls(f"jobs/{jid}/output")}
    assert listed == {"d": "directory", "all": "other", "gone": "other"}
    assert fs.cat(f"jobs/{jid}/output/d/latest") == b"1\n"
    fs.get(f"jobs/{jid}/output/", f"{tmp_path}/copy/", recursive=True)
    copies = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")}
    assert copies == {"d", "d/latest", "d/run"}
    assert list(fs.find(f"jobs/{jid}/output")) == [f"jobs/{jid}/output/d/latest", f"jobs/{jid}/output/d/run"]
    with pytest.raises(IsADirectoryError):
        fs.get(f"jobs/{jid}/output/all", f"{tmp_path}/all")


def test_a_name_may_be_as_long_as_names_of_files_are(grid, tmp_path):
    name = "n" * 255
    [jid] = grid.submit(shell(f"echo 1 > {name}", OutputSandbox=[name]))
    grid.wait(jid, check=True)
    assert [path.name for path in grid.download(jid, tmp_path)] == [name]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir() if path.is_file()] == [(name, b"1\n")]


def test_empty_directories_are_listed_and_made(grid, tmp_path):
    [jid] = grid.submit(shell("mkdir -p out/none out/some; echo 1 > out/some/x", OutputSandbox=["out"]))
    grid.wait(jid, check=True)
    files = [(file.name, file.is_directory) for file in grid.output_files(jid)]
    assert files == [("out/none", True), ("out/some/x", False)]
    assert [path.name for path in grid.download(jid, tmp_path)] == ["x"]
    assert (tmp_path / "out/none").is_dir()
    with pytest.raises(NotFound, match="It is an empty directory, which has no bytes"):
        grid.read_output(jid, "out/none")
    fs = fsspec.filesystem("gridgate", client=grid)
    at = f"jobs/{jid}/output/out"
    assert {entry["name"]: entry["type"] for entry in fs.ls(at)} == {f"{at}/none": "directory", f"{at}/some": "directory"}
    assert fs.ls(f"{at}/none") == []


def test_files_keep_their_modes_and_times(grid, tmp_path):
    script = "./helper; cp helper made; echo 1 > plain; touch -d @1614834367 made plain"
    files = {"helper": b"#!/bin/sh\necho helped\n"}
    [jid] = grid.submit(shell(script, OutputSandbox=["std.out", "made", "plain"]), files)
    grid.wait(jid, check=True)
    assert grid.read_output(jid) == b"helped\n"
    assert [(file.name, file.is_executable) for file in grid.output_files(jid)][1:] == [("made", True), ("plain", False)]
    for names in (None, ["made", "plain"]):
        paths = grid.download(jid, tmp_path, names)[-2:]
        infos = [path.stat() for path in paths]
        assert [(info.st_mtime, bool(info.st_mode & 0o100)) for info in infos] == [(1614834367, True), (1614834367, False)]
        for path in paths:
            path.unlink()


def test_map_brings_results_back_in_order(grid, job_python):
    factor = 3

    def triple(value):
        print("at work on", value)
        return {"value": value, "result": value * factor, "none": None}

    expected = [{"value": value, "result": value * 3, "none": None} for value in range(4)]
    assert grid.map(triple, range(4), python=job_python) == expected
    assert grid.map(lambda value: {value, 7}, [1, 7], python=job_python, results="pickle") == [{1, 7}, {7}]
    assert grid.map(triple, []) == []
    assert grid.map(triple, range(4), python=job_python, chunksize=3) == expected


def test_map_says_which_call_failed_and_why(grid, job_python):
    def fails(value):
        if value == 1:
            raise ValueError("no such value")
        return {1: value} if value == 2 else value

    with pytest.raises(MapFailed) as caught:
        grid.map(fails, range(3), python=job_python)
    assert caught.value.results == [0, None, None]
    assert "ValueError: no such value" in caught.value.failures[1].stderr
    assert "ask for results='pickle'" in caught.value.failures[2].stderr
    with pytest.raises(ValueError, match="map sets Executable itself"):
        grid.map(fails, [1], manifest={"Executable": "/bin/true"})
    with pytest.raises(ValueError, match="results is 'xml'"):
        grid.map(fails, [1], results="xml")


INTERRUPTED = """
import sys
from gridgate import Client
url, ca, crt, key, python, kind, name = sys.argv[1:]
grid = Client(url, ca=ca, cert=(crt, key))
def slow(value):
    import time
    time.sleep(120)
print("ready", flush=True)
if kind == "wait":
    grid.wait(grid.submit({"Executable": "/bin/sleep", "Arguments": ["120"], "JobName": name}))
else:
    grid.map(slow, [1, 2], manifest={"JobName": name}, python=python)
"""


@pytest.mark.parametrize(("kind", "status"), [("wait", "Running"), ("map", "Killed")])
def test_ctrl_c_ends_at_once(grid, service, group, request, kind, status):
    name = group
    python = request.getfixturevalue("job_python") if kind == "map" else ""
    words = [service.url, service.ca, *service.cert(), python, kind, name]
    words = [sys.executable, "-c", INTERRUPTED, *words]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    for change in grid.watch(name=name):
        if change.job is not None and change.job.status == "Running":
            break
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert {job.status for job in grid.jobs(name=name)} == {status}
    grid.kill([job.jid for job in grid.jobs(name=name)])


def test_the_same_with_await(service, job_python, tmp_path):
    async def work():
        async with AsyncClient(service.url, cert=service.cert(), ca=service.ca) as grid:
            jids = await grid.submit([shell("echo a"), shell("echo b")], {"x": b"1"})
            jobs = await grid.wait(jids)
            text = [await grid.read_output(job.jid) for job in jobs]
            listed = [job.jid async for job in grid.jobs(jid=jids)]
            paths = await grid.download(jids[0], tmp_path)
            followed = [piece async for piece in grid.follow(jids[1])]
            found = [one.path async for one in grid.catalogue.find("/vo", run=1)]
            results = await grid.map(lambda value: value + 1, [1, 2], python=job_python)
            return text, listed == jids[::-1], [path.name for path in paths], followed, found, results

    assert asyncio.run(work()) == (
        [b"a\n", b"b\n"],
        True,
        ["std.out", "std.err"],
        ["b\n"],
        ["/vo/a/run1"],
        [2, 3],
    )


def test_await_can_be_cancelled(service):
    async def work():
        async with AsyncClient(service.url, cert=service.cert(), ca=service.ca) as grid:
            jids = await grid.submit(SLEEP)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(grid.wait(jids), 1)
            return await grid.kill(jids)

    assert len(asyncio.run(work())) == 1


def test_what_is_made_of_the_other_client_is_up_to_date():
    from pathlib import Path

    script = Path(__file__).parent.parent / "scripts/make_sync.py"
    if script.exists():
        assert subprocess.run([sys.executable, script, "--check"]).returncode == 0


def test_dry_run_makes_no_job(grid):
    before = json.dumps(grid.summary())
    assert "manifests" in json.dumps(grid.dry_run({"Executable": "/bin/true"}))
    several = grid.dry_run([{"Executable": "run.sh"}, {"Executable": "/bin/true"}], {"run.sh": b"#!/bin/sh\n"})
    assert (several["jobs"], several.get("warnings", [])) == (2, [])
    assert json.dumps(grid.summary()) == before
