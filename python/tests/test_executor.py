import concurrent.futures
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gridgate import CallFailed, GridExecutor, JobFailed, MapFailed, executor
from gridgate._task import TASK, PackedCall, outcomes_of, packed_chunks, pickled

MANY = 1000


class OwnError(Exception):
    pass


def double(value):
    return 2 * value


def jobs_of(grid, group):
    return list(grid.jobs(job_group=group))


def running(grid, group):
    """Waits until a job of the group runs."""
    for change in grid.watch(job_group=group):
        if change.job is not None and change.job.status == "Running":
            return


@pytest.fixture
def calls(grid, group, job_python):
    """Makes executors whose jobs are of the group; they are stopped in the end."""
    made = []

    def make(**options):
        manifest = {"JobGroup": group, **options.pop("manifest", {})}
        made.append(GridExecutor(grid, python=job_python, manifest=manifest, **options))
        return made[-1]

    yield make
    for one in made:
        one.shutdown(cancel_futures=True)


def wheel(folder: Path, name: str, member: str = "x.py", text: str = "") -> Path:
    """A directory with a wheel of one module that was made by hand."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(member, text)
    return folder


def test_a_thousand_calls_are_few_jobs(grid, calls, group):
    with calls() as ex:
        assert list(ex.map(double, range(MANY))) == [2 * value for value in range(MANY)]
        futures = [ex.submit(lambda value, plus: value + plus, value, plus=3) for value in range(3)]
        assert {future.result() for future in concurrent.futures.as_completed(futures)} == {3, 4, 5}
    jobs = jobs_of(grid, group)
    assert len(jobs) <= 2 * executor.SPREAD
    assert {job.status for job in jobs} == {"Done"}


def test_joblib_hands_its_calls_to_an_executor(grid, calls, group):
    joblib = pytest.importorskip("joblib")
    import gridgate.joblib  # noqa: F401

    with calls() as ex, joblib.parallel_config("gridgate", executor=ex):
        assert joblib.Parallel()(joblib.delayed(double)(value) for value in range(MANY)) == [2 * n for n in range(MANY)]
        assert joblib.Parallel(batch_size=4)(joblib.delayed(double)(value) for value in range(6)) == [0, 2, 4, 6, 8, 10]
        with pytest.raises(ZeroDivisionError):
            joblib.Parallel(n_jobs=2)(joblib.delayed(divmod)(1, value) for value in (1, 0))
        with pytest.raises(ValueError, match="n_jobs is 0"):
            joblib.Parallel(n_jobs=0)([joblib.delayed(double)(1)])
    assert len(jobs_of(grid, group)) <= 4 * executor.SPREAD


def test_dask_computes_by_an_executor_with_its_wheels_along(grid, calls, group):
    dask = pytest.importorskip("dask")
    wheels = os.environ.get("GRID_TEST_WHEELS") or pytest.skip("GRID_TEST_WHEELS has no wheels of dask")
    with calls(results="pickle", packages=wheels) as ex, dask.config.set(scheduler=ex):
        assert sum(dask.compute(*[dask.delayed(double)(value) for value in range(MANY)])) == MANY * (MANY - 1)
        total = dask.delayed(sum)([dask.delayed(double)(value) for value in range(4)])
        assert total.compute() == 12
    assert len(jobs_of(grid, group)) <= 4 * executor.SPREAD


def test_dask_is_refused_where_results_are_json(calls):
    dask = pytest.importorskip("dask")
    with calls() as ex, pytest.raises(ValueError, match="results='pickle'. where you trust the sites"):
        dask.delayed(double)(1).compute(scheduler=ex)


def test_a_call_that_raises_has_its_exception_with_the_traceback_of_the_job(grid, calls, group):
    def fails(kind, text):
        raise kind(text)

    with calls(results="pickle", chunksize=4) as ex:
        own, good, unmade = ex.submit(fails, OwnError, "own"), ex.submit(set, "a"), ex.submit(lambda: (_ for _ in ()))
        with pytest.raises(OwnError, match="own") as caught:
            own.result()
        assert "in fails" in str(caught.value.__cause__)
        assert good.result() == {"a"}
        with pytest.raises(TypeError, match="generator"):
            unmade.result()
    [job] = jobs_of(grid, group)
    assert job.status == "Failed"
    assert grid.read_output(job.jid, "std.err").decode().endswith("2 of 3 calls failed\n")


def test_json_brings_exceptions_of_python_and_tells_of_others(calls):
    def fails(kind, *words):
        raise kind(*words)

    with calls() as ex:
        futures = [
            ex.submit(fails, ValueError, "no such value"),
            ex.submit(fails, OSError, 2, "away"),
            ex.submit(fails, OwnError, "own"),
            ex.submit(fails, SystemExit, 3),
            ex.submit(lambda: {1}),
            ex.submit(lambda: {1: 2}),
        ]
        errors = [future.exception() for future in futures]
    assert [type(error) for error in errors] == [ValueError, FileNotFoundError, CallFailed, CallFailed, TypeError, TypeError]
    assert [str(error) for error in errors[:4]] == ["no such value", "[Errno 2] away", "OwnError: own", "SystemExit: 3"]
    assert all("ask for results='pickle'" in str(error) for error in errors[4:])
    assert "in fails" in errors[2].traceback
    again = pickle.loads(pickle.dumps(errors[2]))
    assert (str(again), again.traceback) == (str(errors[2]), errors[2].traceback)


def test_a_job_that_fails_fails_its_calls_only(calls):
    with calls() as ex:
        results = ex.map(double, [1, 2], chunksize=1)
        lost = list(map(ex.submit, [os._exit], [3]))
        assert list(results) == [2, 4]
        with pytest.raises(JobFailed, match="ended as Failed"):
            lost[0].result()


def test_what_waits_can_be_cancelled_and_what_runs_is_killed(grid, calls, group):
    ex = calls(max_jobs=1)
    first = ex.submit(__import__("time").sleep, 120)
    running(grid, group)
    second, third = ex.submit(double, 1), ex.submit(double, 2)
    assert (first.cancel(), second.cancel()) == (False, True)
    ex.shutdown(cancel_futures=True)
    with pytest.raises(JobFailed, match="ended as Killed"):
        first.result()
    assert third.cancelled()
    assert [job.status for job in jobs_of(grid, group)] == ["Killed"]
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        ex.submit(double, 1)


ENDED = """
import sys, time
from gridgate import Client, GridExecutor
url, ca, crt, key, python, kind, name = sys.argv[1:]
grid = Client(url, ca=ca, cert=(crt, key))
executor = GridExecutor(grid, python=python, manifest={"JobGroup": name})
if kind == "with":
    with executor:
        executor.submit(time.sleep, 120).result()
future = executor.submit(time.sleep, 120)
if kind == "result":
    future.result()
while kind == "sent":
    if future.running():  # its job is being submitted
        sys.exit()
for change in grid.watch(job_group=name):
    if change.job is not None and change.job.status == "Running":
        break
"""


@pytest.mark.parametrize("kind", ["with", "result", "end", "sent"])
def test_ctrl_c_and_the_end_of_the_program_kill_the_jobs(grid, service, group, job_python, kind):
    words = [sys.executable, "-c", ENDED, service.url, service.ca, *service.cert(), job_python, kind, group]
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    is_interrupted = kind in ("with", "result")
    if is_interrupted:
        running(grid, group)
        child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert errors.rstrip().endswith("KeyboardInterrupt") == is_interrupted
    [job] = grid.wait([job.jid for job in jobs_of(grid, group)])
    assert job.status == "Killed"


def test_calls_that_a_job_does_not_begin_in_its_time_go_out_again(grid, calls, group, monkeypatch):
    monkeypatch.setattr(executor, "SLICE", 0.0)
    with calls(max_jobs=2) as ex:
        assert list(ex.map(double, range(5))) == [0, 2, 4, 6, 8]
    assert len(jobs_of(grid, group)) > 2


def test_what_cannot_be_sent_is_told_by_the_future_or_at_once(grid, calls, job_python):
    with calls(manifest={"Priority": 99}) as ex:
        with pytest.raises(TypeError, match="pickle"):
            ex.submit(double, (one for one in ())).result()
        with pytest.raises(Exception, match="Priority: "):
            ex.submit(double, 1).result()
        with pytest.raises(ValueError, match="chunksize is 0"):
            ex.map(double, [1], chunksize=0)
    for options, text in [
        ({"results": "xml"}, "results is 'xml'"),
        ({"chunksize": 0}, "chunksize is 0"),
        ({"max_jobs": 0}, "max_jobs is 0"),
        ({"manifest": {"Executable": "x"}}, "an executor sets Executable itself"),
    ]:
        with pytest.raises(ValueError, match=text):
            GridExecutor(grid, **options)


def test_wheels_go_along(grid, calls, job_python, tmp_path):
    folder = wheel(tmp_path / "wheels", "greeting-1.0-py3-none-any.whl", "greeting/__init__.py", "WORD = 'hello'")
    wheel(folder, "more-1.0-cp38-abi3-manylinux_2_17_x86_64.whl", "more-1.0.data/purelib/more.py", "WORD = 'more'")

    def words(value):
        import greeting
        import more

        return [greeting.WORD, more.WORD, value]

    assert grid.map(words, [1, 2], python=job_python, packages=folder) == [["hello", "more", 1], ["hello", "more", 2]]
    with calls(packages=folder) as ex:
        future = ex.submit(words, 3)
        assert future.result() == ["hello", "more", 3]


def test_what_is_no_directory_of_wheels_for_this_python_is_refused(grid, tmp_path):
    def refusal(folder):
        with pytest.raises(ValueError) as caught:
            grid.map(double, [], packages=folder)
        with pytest.raises(ValueError):
            GridExecutor(grid, packages=folder)
        return str(caught.value)

    assert refusal(tmp_path / "none").startswith("packages is a directory of wheels, and ")
    assert " has no wheels: pip wheel --wheel-dir " in refusal(tmp_path)
    (tmp_path / "source-1.0.tar.gz").touch()
    assert refusal(tmp_path).endswith("source-1.0.tar.gz is no wheel: pip wheel makes one of it")
    here = "{}.{}".format(*sys.version_info)
    for number, tags in enumerate(["cp27-cp27m", "cp399-cp399", "cp38-cp38", "py2-none"]):
        name = f"x-1.0-{tags}-any.whl"
        folder = wheel(tmp_path / str(number), name)
        assert refusal(folder) == f"{name} is not for Python {here}, which makes the calls"


def test_map_makes_chunks_and_tells_how_far_it_is(grid, group, job_python):
    told = []

    class Bar:
        count = 0

        def update(self, n):
            self.count += n

    def fails(value):
        if value in (1, 8):
            raise ValueError(f"no {value}")
        return value

    options = {"python": job_python, "chunksize": 4, "manifest": {"JobGroup": group}}
    with pytest.raises(MapFailed) as caught:
        grid.map(fails, range(10), progress=lambda done, count: told.append((done, count)), **options)
    assert caught.value.results == [0, None, 2, 3, 4, 5, 6, 7, None, 9]
    assert ["ValueError: no 1" in caught.value.failures[1].stderr, list(caught.value.failures)] == [True, [1, 8]]
    assert (len(told), told[-1]) == (3, (10, 10))
    assert len(jobs_of(grid, group)) == 3
    bar = Bar()
    answers = grid.map(fails, range(3), progress=bar, return_failures=True, **options)
    assert (answers[0], type(answers[1]), answers[2], bar.count) == (0, JobFailed, 2, 3)
    with pytest.raises(ValueError, match="chunksize is 0"):
        grid.map(fails, [1], chunksize=0)


def run_task(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return subprocess.run([sys.executable, "gridgate_run.py", "0"], cwd=folder, capture_output=True, text=True)


def test_a_job_begins_no_call_after_its_time(tmp_path):
    function, arguments = pickled(double, ((1,), {}))
    call = PackedCall(function, arguments)
    assert run_task(tmp_path, packed_chunks([[call, call]], "json", seconds=0.0)).stderr == ""
    [outcome] = outcomes_of((tmp_path / "gridgate_result.json").read_bytes(), "json")
    assert (outcome.value(), outcome.seconds >= 0) == (2, True)


def test_a_python_of_another_version_is_refused(tmp_path):
    files = packed_chunks([[]], "json")
    files[TASK] = pickle.dumps({**pickle.loads(files[TASK]), "python": [3, 99]})
    said = run_task(tmp_path, files)
    here = "{}.{}".format(*sys.version_info)
    words = f"Python {here} here, 3.99 where the call was made: name the right interpreter with python=\n"
    assert (said.returncode, said.stderr) == (1, words)
