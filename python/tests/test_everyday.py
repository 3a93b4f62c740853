"""What people who have never seen the product do first."""

import asyncio
import warnings
from datetime import datetime, timedelta, timezone

import pytest

from gridgate import (
    AsyncClient,
    Client,
    Conflict,
    GridgateError,
    Identity,
    InvalidRequest,
    Job,
    JobsRefused,
    NotFound,
    OutputWarning,
    UnreachableError,
    login,
)

FAR = {"Executable": "/bin/true", "Tags": ["no-such-tag"]}


def shell(text, **more):
    return {"Executable": "/bin/sh", "Arguments": ["-c", text], **more}


@pytest.fixture
def far(grid, group):
    """Jobs that wait."""
    with pytest.warns(UserWarning, match="No site can hold the job now"):
        jids = grid.submit([{**FAR, "JobGroup": group}] * 3)
    for _ in grid.watch(job_group=group):
        if {job.status for job in grid.jobs(job_group=group)} == {"Waiting"}:
            break
    yield jids
    grid.kill(job_group=group, status=["Waiting", "Running"])


def aside(call):
    """What a call answers, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = call()
    return answer, [(one.category, str(one.message), one.filename) for one in told]


def test_files_that_were_not_asked_for_are_told_once(service, tmp_path):
    def text(jid, names, them="it"):
        return (
            OutputWarning,
            f"Job {jid} wrote {names}, which it was not asked to bring back: name {them} in OutputSandbox and run it again",
            __file__,
        )

    with service.client() as grid:
        one, two, none = grid.submit([shell("echo 1 > summary.txt"), shell("echo 1 > a; echo 2 > b"), shell("true")])
        assert aside(lambda: grid.wait([one, none]))[1] == [text(one, "summary.txt")]
        assert aside(lambda: grid.wait([one, none]))[1] == []
        assert aside(lambda: grid.download(one, tmp_path))[1] == []
        jids = grid.submit({**shell("echo 1 > x"), "Parameters": 21})
        assert aside(lambda: grid.wait(jids))[1] == []
        with service.client() as other:
            assert aside(lambda: other.download([two, none], tmp_path))[1] == [text(two, "a, b", "them")]
    outputs = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("std.out")}
    assert outputs == {"std.out", f"{two}/std.out", f"{none}/std.out"}
    with service.client() as strict, warnings.catch_warnings():
        warnings.simplefilter("error", OutputWarning)
        with pytest.raises(OutputWarning, match="summary.txt"):
            strict.wait(one)


def test_files_that_were_asked_for_and_not_made_are_told(service):
    with service.client() as grid:
        [jid] = grid.submit({**shell("true"), "OutputSandbox": ["std.out", "sumary.txt"]})
        text = f"Job {jid} has not made sumary.txt, which OutputSandbox names"
        assert aside(lambda: grid.wait(jid))[1] == [(OutputWarning, text, __file__)]


def test_a_list_is_read_once(service):
    with service.client() as grid:
        grid.submit(shell("true"))
        jobs = grid.jobs(page=1)
        assert len(list(jobs)) > 0
        with pytest.raises(RuntimeError, match="these jobs were read to their end already"):
            list(jobs)
        assert next(jobs, None) is None


def test_says_who_one_is(service):
    with service.client("alice", group="grid_user", setup="Test") as grid:
        told = grid.whoami()
        left = told.expires - datetime.now(timezone.utc)
        assert (told.server, told.user, told.group, told.setup) == (service.url, "alice", "grid_user", "Test")
        assert {"jobs:read", "jobs:submit"} <= set(told.scopes) and timedelta(0) < left < timedelta(days=2)
        until = told.expires.astimezone().strftime("%Y-%m-%d %H:%M")
        assert repr(told) == f"<alice, group grid_user, setup Test, at {service.url} until {until}>"
    made = login(service.url, ca=service.ca, cert=service.cert("bob"), profile="bob")
    assert isinstance(made, Identity) and made.user == "bob"
    with Client(profile="bob") as grid:
        assert grid.whoami() == made
    with Client(service.url, token="no-claims") as grid, pytest.raises(GridgateError, match="says nothing of its user"):
        grid.whoami()


def test_a_job_stands_for_its_number(grid, tmp_path):
    [jid] = grid.submit(shell("echo out"))
    job = grid.job(jid)
    [job] = grid.wait(job)
    assert [one.jid for one in grid.wait(iter([job, jid]))] == [jid, jid]
    assert grid.job(job).jid == jid
    assert grid.read_output(job) == b"out\n"
    assert list(grid.follow(job)) == ["out\n"]
    assert grid.history(job)[-1]["status"] == "Done"
    assert (grid.manifest(job)["JobID"], grid.parameters(job)["ExitCode"]) == (jid, 0)
    assert [file.name for file in grid.output_files(job)] == ["std.out", "std.err"]
    assert [path.name for path in grid.download(job, tmp_path / "one")] == ["std.out", "std.err"]
    paths = grid.download(grid.jobs(jid=job), tmp_path / "many", ["std.out"])
    assert paths == [tmp_path / "many" / str(jid) / "std.out"]


def test_verbs_take_jobs_lists_and_filters(grid, group, far):
    one, two, three = far
    assert grid.hold([one, grid.job(two)]) == [one, two]
    assert grid.release(job_group=group) == [two, one]
    assert grid.hold(grid.jobs(job_group=group)) == [three, two, one]
    assert grid.hold(job_group=group) == []
    assert grid.release(grid.job(one)) == [one]
    assert grid.kill(jid=one) == [one]
    assert grid.kill(grid.jobs(job_group=group)) == [three, two]
    assert {job.status for job in grid.jobs(job_group=group)} == {"Killed"}
    assert grid.kill(job_group=group) == []
    assert grid.kill(job_group=group, purge=True) == [three, two, one]
    [bad] = grid.submit({"Executable": "/bin/false", "JobGroup": group})
    grid.wait(bad)
    assert grid.reschedule(job_group=group) == [bad]
    [job] = grid.wait(bad)
    assert (job.status, job.record["reschedules"]) == ("Failed", 1)


def test_verbs_tell_what_was_refused_and_what_was_done(grid, group, far):
    one, two, three = far
    [ended] = grid.submit({"Executable": "/bin/true"})
    grid.wait(ended)
    missing = 2**40
    with pytest.raises(JobsRefused) as caught:
        grid.hold([ended, one, missing, two])
    assert caught.value.done == [one, two]
    assert {jid: type(error) for jid, error in caught.value.refused.items()} == {ended: Conflict, missing: NotFound}
    assert str(caught.value) == (
        f"2 of 4 jobs were not held: {ended}: Job {ended} is Done and cannot be held: only waiting jobs can;"
        f" {missing}: Job {missing} does not exist"
    )
    with pytest.raises(JobsRefused) as caught:
        grid.kill([missing, one, ended, one])
    assert caught.value.done == [one]
    assert {jid: error.code for jid, error in caught.value.refused.items()} == {
        missing: "job.not-found",
        ended: "job.state-conflict",
    }
    for call in (grid.kill, grid.hold, grid.release, grid.reschedule):
        with pytest.raises(NotFound, match=f"Job {missing} does not exist"):
            call(missing)
        for nothing in (
            *({}, {"all_owners": True}, {"page": 5}, {"sort": "-jid"}, {"job_group": None}, {"status": []}),
            *({"status": frozenset()}, {"jid": range(0)}, {"site": [None]}),
        ):
            with pytest.raises(ValueError, match="which jobs"):
                call(**nothing)
        with pytest.raises(ValueError, match="not both"):
            call(two, job_group=group)
        with pytest.raises(ValueError, match="which jobs"):
            call(status="Waiting", job_group=None)
        assert call([]) == []
    with pytest.raises(InvalidRequest):
        grid.kill(no_such_filter="x")
    assert {grid.job(jid).status for jid in (two, three)} == {"Waiting"}


def test_the_service_away_in_between_leaves_what_was_done_visible(troubled):
    troubled.answers += [(200, {}, {"jid": 1}), (500, {}, {"detail": "broken"})]
    with Client(troubled.url, token="t") as grid, pytest.raises(JobsRefused) as caught:
        grid.hold([1, 2, 3])
    assert (caught.value.done, list(caught.value.refused), caught.value.unknown) == ([1], [2, 3], [2])
    assert [path for _, path, *_ in troubled.asked] == ["/jobs/1/hold", "/jobs/2/hold"]


def test_times_may_be_an_age(grid, group):
    [jid] = grid.submit({"Executable": "/bin/true", "JobGroup": group})
    assert [job.jid for job in grid.jobs(job_group=group, from_date=timedelta(hours=1))] == [jid]
    assert list(grid.jobs(job_group=group, to_date=timedelta(hours=1))) == []


def test_tells_what_was_used(grid):
    grid.wait(grid.submit({"Executable": "/bin/true"}))
    used = grid.usage(by=["day", "owner"], owner="alice")
    today = datetime.now(timezone.utc)
    assert (used["from"], used["to"]) == (today.strftime("%Y-%m-01"), today.strftime("%Y-%m-%d"))
    assert used["total"]["runs"] >= 1 and {row["owner"] for row in used["rows"]} == {"alice"}
    assert grid.usage(from_date="2020-01", to_date=datetime(2020, 1, 31), by="owner")["total"]["runs"] == 0
    assert grid.usage(job_group="no such group", by=["month", "job_group"])["total"]["runs"] == 0
    assert grid.usage(from_date=timedelta(days=1))["from"] == (today - timedelta(days=1)).strftime("%Y-%m-%d")


def test_reads_the_input_and_submits_it_again(grid, tmp_path):
    (tmp_path / "n.txt").write_text("one\ntwo\n")
    files = {"run.sh": b"#!/bin/sh\nwc -l < n.txt; echo $1 > kept\n", "n.txt": tmp_path / "n.txt"}
    [jid] = grid.submit({"Executable": "run.sh", "JobName": "first"}, files)
    with pytest.warns(OutputWarning, match="wrote kept"):
        [job] = grid.wait(jid)
    assert grid.read_input(job, "n.txt") == b"one\ntwo\n"
    assert grid.read_input(job, "n.txt", start=4, end=7) == b"two"
    assert {file.name: file.size for file in grid.input_files(job)} == {"run.sh": 40, "n.txt": 8}
    more = {"n.txt": b"one\n"}
    [again] = grid.resubmit(job, files=more, Arguments="x", OutputSandbox=["std.out", "kept"], JobName=None)
    [job] = grid.wait(again)
    assert (job.name, grid.read_output(job), grid.read_output(job, "kept")) == ("Name", b"1\n", b"x\n")
    [plain] = grid.submit({"Executable": "/bin/true"})
    grid.wait(grid.resubmit(plain), check=True)


def test_a_list_says_what_it_is(grid, service):
    assert repr(grid.jobs()) == "<jobs, read as they are iterated: list(...) has them all>"
    assert repr(grid.catalogue.list("/vo")) == "<entries, read as they are iterated: list(...) has them all>"
    assert repr(grid.catalogue.find("/vo")) == "<directories, read as they are iterated: list(...) has them all>"

    async def shown():
        async with AsyncClient(service.url, cert=service.cert(), ca=service.ca) as other:
            return repr(other.jobs())

    assert asyncio.run(shown()) == "<jobs, read as they are iterated: [one async for one in ...] has them all>"


def test_an_empty_search_says_what_is_searched(grid, folder):
    grid.catalogue.register(f"{folder}/f", 1)
    grid.catalogue.set_file_metadata(f"{folder}/f", {"particle": "tau"})
    found, told = aside(lambda: list(grid.catalogue.find(folder, particle="tau")))
    words = "metadata that files have of their own is not searched: set it at their directory"
    assert (found, told) == ([], [(UserWarning, f"no directory at or below {folder} matches; {words}", __file__)])
    assert aside(lambda: list(grid.catalogue.find(folder)))[1] == []


def test_lines_of_batch_systems_are_not_lost_silently(grid, tmp_path):
    (tmp_path / "run.sh").write_text("#!/bin/sh\n\n# mine\n#GRID --mem=4G\ntrue\n")
    _, told = aside(lambda: grid.submit({"Executable": "run.sh"}, [tmp_path / "run.sh"]))
    reads = (
        "ask by keys of the manifest (NumberOfProcessors, MaxRAM in MB, WallTime in s, ExecutionEnvironment, …), "
        "or by `gridgate submit run.sh`, which reads them"
    )
    assert told == [(UserWarning, f"run.sh: its lines of #GRID are not read here: {reads}", __file__)]
    batch = {"run.sh": b"#SBATCH -n 4\n"}
    _, told = aside(lambda: grid.submit({"Executable": "/bin/bash", "Arguments": "./run.sh a"}, batch))
    assert told == [(UserWarning, f"run.sh: its lines of #SBATCH are not read here: {reads}", __file__)]
    assert aside(lambda: grid.dry_run({"Executable": "run.sh"}, batch))[1] == told
    quiet = {"run.sh": b"#!/bin/sh\n##SBATCH x\ntrue\n#SBATCH -n 4\n", "data": b"#SBATCH"}
    assert aside(lambda: grid.submit({"Executable": "run.sh"}, quiet))[1] == []


def test_an_unknown_ca_says_what_to_do(service):
    with Client(service.url, token="x", retries=0) as grid:
        with pytest.raises(UnreachableError, match=r"certificate .*: ca= names the file of its CA$"):
            grid.summary()
    with pytest.raises(UnreachableError, match=r"certificate .*: ca= names the file of its CA$"):
        login(service.url, cert=service.cert())


def test_moves_files(grid, folder):
    old, new = f"{folder}/old", f"{folder}/deep/new"
    grid.catalogue.register(old, 3, checksum="ad8b1f02", checksum_type="Adler32", replicas={"SE-A": "srm://x/y"}, mode=0o640)
    grid.catalogue.set_file_metadata(old, {"colour": "red"})
    before = grid.catalogue.attributes(old)
    grid.catalogue.move(old, new)
    with pytest.raises(NotFound):
        grid.catalogue.attributes(old)
    kept = ("Size", "Checksum", "ChecksumType", "GUID", "Mode", "Owner", "OwnerGroup")
    after = grid.catalogue.attributes(new)
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert grid.catalogue.file_metadata(new, inherited=False) == {"colour": "red"}
    [entry] = grid.catalogue.list(f"{folder}/deep", verbose=True)
    assert entry.attributes["Replicas"]["SE-A"]["PFN"] == "srm://x/y"
    grid.catalogue.move(new, f"{folder}/")
    assert grid.catalogue.attributes(f"{folder}/new")["Size"] == 3
    grid.catalogue.register(old, 4)
    with pytest.raises(Conflict, match="is there already"):
        grid.catalogue.move(old, f"{folder}/new")
    with pytest.raises(Conflict, match="is there already"):
        grid.catalogue.move(old, old)
    with pytest.raises(NotFound, match="There is no file"):
        grid.catalogue.move(f"{folder}/none", f"{folder}/x")
    with pytest.raises(NotFound, match="is a directory: only files are moved"):
        grid.catalogue.move(f"{folder}/deep", f"{folder}/x")


def test_a_move_ends_well_where_an_earlier_try_has_removed_the_file(grid, folder, monkeypatch):
    remove = grid.catalogue.remove
    monkeypatch.setattr(grid.catalogue, "remove", lambda path: (remove(path), remove(path)))
    grid.catalogue.register(f"{folder}/old", 3)
    grid.catalogue.move(f"{folder}/old", f"{folder}/new")
    assert [entry.path for entry in grid.catalogue.list(folder)] == [f"{folder}/new"]


def test_only_a_manager_moves_the_files_of_others(grid, service, folder):
    grid.catalogue.register(f"{folder}/theirs", 3, mode=0o666)
    with service.client("bob") as bob, pytest.raises(GridgateError) as caught:
        bob.catalogue.move(f"{folder}/theirs", "/vo/a/mine")
    assert "/vo/a/mine" not in [entry.path for entry in grid.catalogue.list("/vo/a")]
    assert caught.value.status == 403
    assert grid.catalogue.attributes(f"{folder}/theirs")["Size"] == 3


def test_counts_what_is_found_once(grid):
    found = list(grid.catalogue.find("/vo", particle="mu"))
    assert [one.path for one in found] == ["/vo/b", "/vo/b/run3"]
    total = grid.catalogue.total("/vo", particle="mu")
    assert (total.path, total.files, total.size) == ("/vo", found[0].files, found[0].size)
    several = grid.catalogue.total("/vo", run=[">=|1", "<=|3"])
    rows = list(grid.catalogue.find("/vo", run=[">=|1", "<=|3"]))
    assert (several.files, several.size) == (sum(one.files for one in rows), sum(one.size for one in rows))
    assert grid.catalogue.total("/").files == next(grid.catalogue.find("/")).files
    with pytest.warns(UserWarning, match="no directory at or below /vo matches"):
        assert grid.catalogue.total("/vo", run="=|-1").files == 0


def test_metadata_of_a_file_has_a_call_of_its_own(grid):
    with pytest.raises(NotFound, match="/vo/a/run1/f1 is a file: use set_file_metadata"):
        grid.catalogue.set_metadata("/vo/a/run1/f1", {"energy": 1})
    with pytest.raises(NotFound, match="There is no directory /vo/a/none"):
        grid.catalogue.set_metadata("/vo/a/none", {"energy": 1})


def test_the_same_with_await(service, group, tmp_path):
    async def work():
        async with AsyncClient(service.url, cert=service.cert(), ca=service.ca) as grid:
            jids = await grid.submit([shell("echo a > x", JobGroup=group), shell("sleep 60", JobGroup=group)])
            with pytest.warns(OutputWarning, match="wrote x, which"):
                [job] = await grid.wait(await grid.job(jids[0]))
            killed = await grid.kill(grid.jobs(job_group=group))
            waited = [one.status for one in await grid.wait(grid.jobs(job_group=group))]
            with pytest.raises(JobsRefused):
                await grid.hold([job])
            [again] = await grid.resubmit(job, Arguments=["-c", "echo again"])
            await grid.wait(again)
            paths = await grid.download([again], tmp_path, ["std.out"])
            who = await grid.whoami()
            return isinstance(job, Job), killed == jids[1:], waited, paths[0].read_bytes(), who.user

    assert asyncio.run(work()) == (True, True, ["Killed", "Done"], b"again\n", "alice")
