"""The client: jobs, their output, changes as they happen."""

from __future__ import annotations

import tempfile
import uuid
import warnings
from collections.abc import Generator, Iterator, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Callable, Literal, Optional, TypeVar, Union, overload

from .._call import Call, OneJob, days_of, filters_of, gives_up, is_several, jid_of, name_in_path, pause_before
from .._files import Content, Files, OpenedFiles, PartFile, make_folder, named_files
from .._scripts import unread_lines, with_words
from .._task import (
    RESULTS,
    Outcome,
    Packages,
    Progress,
    Results,
    manifest_of,
    name_of,
    outcomes_of,
    packed_map,
    refuse_options,
    tell,
    wheels_of,
)
from .._verbs import HOLD, KILL, PURGE, RELEASE, RESCHEDULE, Verb, check_choice, is_refusal
from ..errors import GridgateError, JobFailed, JobsRefused, MapFailed, NotFound, OutputWarning, ProblemError
from ..model import FINAL, Change, Identity, Job, SandboxFile
from ._runtime import Jobs, Listing, closed_after, collected, in_thread, listed, pause
from .administration import Administration
from .catalogue import Catalogue
from .control import IDS, do_each
from .transport import Transport
from .watching import Watch, followed, pages_of

#: Of so many jobs at most it is asked whether they have made what they were not asked to bring back.
FEW = 20
#: Bytes of a failed job's errors that its exception has.
ERRORS_END = 4096
END = {"Range": f"bytes=-{ERRORS_END}"}
#: Keys of a manifest that the service gives, and the hold, which is over when a job is submitted again.
GIVEN = frozenset({"JobID", "Hold", "Owner", "OwnerGroup", "OwnerDN", "VirtualOrganization", "Setup"})

Manifest = Mapping[str, Any]
#: No further filters.
ALL: Mapping[str, Any] = MappingProxyType({})
T = TypeVar("T")
R = TypeVar("R")


class Client(Transport):
    """A Gridgate in the name of one user.

    ``url``: its address; without one ``GRID_SERVER``, or that of the stored login. The token is one of: ``token`` (a
    text, or a function that answers one), ``cert`` (certificate and key, PEM files; with ``group`` and ``setup``),
    ``profile`` (a stored login); otherwise that of the surroundings: ``BEARER_TOKEN``, ``BEARER_TOKEN_FILE``, what
    ``gridgate login`` has stored, a token file of the WLCG discovery. ``ca``: CA file of the server. ``storage_ca``: CA file
    of storage elements, or a directory of CAs; without one ``X509_CERT_DIR``, or ``ca``. ``timeout``: seconds without a byte;
    ``retries``: how often a call that may be repeated is tried again.

    Raises NotLoggedIn without a token, ValueError for an address that is none.
    """

    @property
    def catalogue(self) -> Catalogue:
        """The file catalogue."""
        return Catalogue(self)

    @property
    def administration(self) -> Administration:
        """Users, groups, applications, signing keys and sites; for tokens with the scope ``admin``."""
        return Administration(self)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def whoami(self) -> Identity:
        """Who the token says one is, and until when."""
        return Identity.of(self.url, in_thread(self._source.token))

    def submit(
        self,
        manifest: Union[Manifest, Sequence[Manifest]],
        files: Files = (),
        *,
        idempotency_key: Optional[str] = None,
    ) -> list[int]:
        """Submits a manifest, or several, all or none; answers the ids of the jobs.

        ``files``: paths of the input, or names with a path or bytes each; they are streamed from the disk. A submit
        that is tried again makes no second job: it has an idempotency key, made here unless one is given. What looks like
        a mistake but is accepted is a ``UserWarning``. ``Arguments`` may be numbers and paths.
        """
        manifests = [with_words(one) for one in ([manifest] if isinstance(manifest, Mapping) else manifest)]
        named = named_files(files)
        for warning in in_thread(unread_lines, manifests, named):
            warnings.warn(warning, UserWarning, stacklevel=2)
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return _ids(self._sent(Call("POST", "/jobs", headers=headers), manifests, named))

    def dry_run(self, manifest: Union[Manifest, Sequence[Manifest]], files: Files = ()) -> dict[str, Any]:
        """What a submit would make, and its warnings; of scripts it warns as a submit does."""
        manifests = [with_words(one) for one in ([manifest] if isinstance(manifest, Mapping) else manifest)]
        named = named_files(files)
        for warning in in_thread(unread_lines, manifests, named):
            warnings.warn(warning, UserWarning, stacklevel=2)
        return self._sent(Call("POST", "/jobs", {"dryRun": True}, again=True), manifests, named)

    def _sent(self, call: Call, manifests: list[dict[str, Any]], named: dict[str, Content]) -> dict[str, Any]:
        if not named:
            call.json = manifests[0] if len(manifests) == 1 else {"manifests": manifests}
            return dict(self.json(call))
        with OpenedFiles() as opened:
            call.files = lambda: opened.form(manifests, named)
            return dict(self.json(call))

    def resubmit(self, jid: OneJob, *, files: Files = (), **changes: Any) -> list[int]:
        """Submits a job again as a new one, with its manifest and its input files; answers the ids as ``submit`` does.

        ``changes`` are keys of the manifest in its own spelling, ``OutputSandbox=["std.out", "table.csv"]``; None takes a
        key out. ``files`` are further ones, or others in place of those of their names. ``reschedule`` is for the same job.
        """
        manifest = {key: value for key, value in (self.manifest(jid)).items() if key not in GIVEN}
        manifest = {key: value for key, value in {**manifest, **changes}.items() if value is not None}
        given = named_files(files)
        try:
            before = self.input_files(jid)
        except NotFound:
            before = []  # it has none
        with tempfile.TemporaryDirectory() as folder:
            for file in before:
                if file.name not in given and not file.is_directory:
                    given[file.name] = self._download(_input(jid, file.name), file.name, Path(folder), False)
            return self.submit(manifest, given)

    def job(self, jid: OneJob) -> Job:
        """One job."""
        return Job.of(self.json(Call("GET", f"/jobs/{jid_of(jid)}")))

    def jobs(self, **filters: Any) -> Listing[Job]:
        """The jobs that match, newest first, page by page.

        Filters are those of ``GET /jobs`` in either spelling: ``status=["Done", "Failed"]``, ``job_group="mc"``,
        ``all_owners=True``. ``from_date`` and ``to_date`` are those of the last change of a job (which a submit is, too): a
        ``datetime`` or ``date``, its text (ISO 8601), or a ``timedelta``, for so long ago; a time without zone is one of
        this machine. ``page`` is the number of jobs asked for at once.
        """
        return listed(self._jobs(filters), "jobs")

    def _jobs(self, filters: dict[str, Any]) -> Generator[Job, None, None]:
        query = filters_of(filters)
        query["maxJobs"] = query.pop("page", 500)
        for record in pages_of(self, Call("GET", "/jobs", query), "jobs"):
            yield Job.of(record)

    def frame(self, **filters: Any) -> Any:
        """The jobs that match as a pandas frame, a row per job (``pip install pandas``)."""
        from ..frame import frame_of

        return frame_of([job for job in self.jobs(**filters)])

    def summary(self, **filters: Any) -> dict[str, Any]:
        """Counts of the jobs that match."""
        return dict(self.json(Call("GET", "/jobs/summary", filters_of(filters))))

    def usage(
        self,
        *,
        from_date: Union[str, date, timedelta, None] = None,
        to_date: Union[str, date, timedelta, None] = None,
        by: Union[str, Iterable[str]] = ("month", "group"),
        group: Optional[str] = None,
        owner: Optional[str] = None,
        site: Optional[str] = None,
        job_group: Optional[str] = None,
    ) -> dict[str, Any]:
        """What runs have used that have ended: ``total``, and ``rows`` divided ``by`` some of month, day, vo, group and more.

        The others are owner, site and jobGroup.

        ``from_date`` and ``to_date`` are months (``"2026-01"``) or days of UTC, the last one included: this month until today
        unless told. The others let through only runs of jobs of this group of people, owner or job group, or at this site;
        without them it is all that the user may see, others' too. Times are hours, efficiencies percent, energy kWh.
        """
        query = {"from": days_of(from_date), "to": days_of(to_date), "group": group, "owner": owner, "site": site}
        query["jobGroup"] = job_group
        query["by"] = (by if isinstance(by, str) else ",".join(by)).replace("job_group", "jobGroup")
        return dict(self.json(Call("GET", "/jobs/usage", query)))

    def watch(self, *, after: Optional[str] = None, **filters: Any) -> Generator[Change, None, None]:
        """The jobs that match, then every change of them as it happens, until the caller stops.

        Goes on after each interruption; lists again (``anew``) when the service does not know any more where it was.
        ``after``: go on behind the ``position`` of an earlier change, without a list.
        """
        query = filters_of(filters)
        return Watch(self, [query], query, after).changes()

    def wait(self, jids: Jobs, *, check: bool = False, all_owners: bool = False) -> list[Job]:
        """Waits until the jobs have ended and answers them in the order of their ids, by the feed, without polling.

        ``check``: raise JobFailed for the first one that has not ended as Done. Stopping early (Ctrl-C, cancel) leaves
        the jobs as they are. Of up to 20 jobs it is told what they were to make and have not, or have made and were not
        asked to bring back, by an ``OutputWarning``, once. Raises NotFound for a job that is not there, or not this user's
        unless ``all_owners``.
        """
        wanted = [jid_of(one) for one in collected(jids)]
        more: dict[str, Any] = {"allOwners": True} if all_owners else {}
        for _ in self._each_ended(wanted, more):
            continue
        jobs: dict[int, Job] = {}
        for chunk in chunks_of(sorted(set(wanted))):  # events tell less of a job than lists do
            for record in pages_of(self, Call("GET", "/jobs", {**more, "jid": chunk, "maxJobs": IDS}), "jobs"):
                jobs[int(record["jid"])] = Job.of(record)
        for warning in self._lacking([job.jid for job in jobs.values() if job.is_done]):
            warnings.warn(warning, OutputWarning, stacklevel=2)
        for jid in wanted:
            if jid not in jobs:
                raise _no_job(jid)
            if check and not jobs[jid].is_done:
                raise self.failure(jobs[jid])
        return [jobs[jid] for jid in wanted]

    def _lacking(self, jids: Sequence[int]) -> list[str]:
        """What is to be said of files of jobs that are not there; of each job once, and of few only."""
        told = []
        for jid in jids if len(jids) <= FEW else ():
            if jid in self._looked:
                continue
            try:
                known = self.parameters(jid)
            except GridgateError:
                continue
            self._looked.add(jid)
            if known.get("MissingOutput"):
                told.append(f"Job {jid} has not made {known['MissingOutput']}, which OutputSandbox names")
            if known.get("OutputLeftOut"):
                told.append(f"Job {jid} could not keep {known['OutputLeftOut']}")
            names = known.get("OutputNotRequested")
            if names:
                them = "them" if ", " in names else "it"
                why = f"which it was not asked to bring back: name {them} in OutputSandbox and run it again"
                told.append(f"Job {jid} wrote {names}, {why}")
        return told

    def _each_ended(
        self, jids: Iterable[int], more: Mapping[str, Any] = MappingProxyType({})
    ) -> Generator[Job, None, None]:
        """The jobs as they end, each once, as events tell them. Raises NotFound for one that is not there."""
        rest = set(jids)
        lists = [{**more, "jid": chunk} for chunk in chunks_of(sorted(rest))]
        if not lists:
            return
        follow = {**more, "status": list(FINAL), **({"jid": lists[0]["jid"]} if len(lists) == 1 else {})}
        ended: set[int] = set()
        seen: set[int] = set()
        with closed_after(Watch(self, lists, follow).changes()) as changes:
            for change in changes:
                if change.anew:
                    seen = set()
                elif change.kind == "current" and not rest <= seen:
                    raise _no_job(min(rest - seen))
                elif change.job is not None and change.job.jid in rest:
                    seen.add(change.job.jid)
                    if change.kind != "left" and change.job.is_final and change.job.jid not in ended:
                        ended.add(change.job.jid)
                        yield change.job
                if change.kind in ("current", "job") and ended == rest:
                    return

    def failure(self, jid: OneJob) -> JobFailed:
        """Why a job has failed, with the end of what it wrote as errors."""
        job = jid if isinstance(jid, Job) else self.job(jid)
        try:
            text = (self._bytes_of(_output(job.jid, "std.err"), END)).decode("utf-8", "replace")
        except ProblemError:
            text = ""
        return JobFailed(job.jid, job.status, job.minor_status, text, job.app_status)

    def kill(self, jids: Optional[Jobs] = None, *, purge: bool = False, **filters: Any) -> list[int]:
        """Kills jobs; with ``purge`` they are deleted, ended ones too. Answers the ids of those to which it was done.

        The jobs are one, several, or what filters find, as of ``jobs``: ``kill(job_group="mc")``. Of what filters or a list
        of the service find those are left out that it is not for, since they have ended.

        Raises the ProblemError of one job that is given and refused; JobsRefused, when it was done to the others, where several
        are; ValueError without jobs and without filters.
        """
        return self._control(PURGE if purge else KILL, jids, filters)

    def hold(self, jids: Optional[Jobs] = None, **filters: Any) -> list[int]:
        """Holds waiting jobs back; which ones, and what it answers and raises, is as with ``kill``."""
        return self._control(HOLD, jids, filters)

    def release(self, jids: Optional[Jobs] = None, **filters: Any) -> list[int]:
        """Lets held jobs go on; which ones, and what it answers and raises, is as with ``kill``."""
        return self._control(RELEASE, jids, filters)

    def reschedule(self, jids: Optional[Jobs] = None, **filters: Any) -> list[int]:
        """Runs jobs again, of what filters find those that have failed; which, answer and errors are as with ``kill``."""
        return self._control(RESCHEDULE, jids, filters)

    def _control(self, verb: Verb, given: Optional[Jobs], filters: Mapping[str, Any]) -> list[int]:
        check_choice(verb, given, filters)
        if given is None or isinstance(given, Listing):
            found = collected(self.jobs(**filters) if given is None else given)
            wanted = [job.jid for job in found if verb.is_for(job)]
        elif not is_several(given):
            jid = jid_of(given)
            self.answer(verb.call(jid))
            return [jid]
        else:
            wanted = [jid_of(one) for one in collected(given)]
        return do_each(self, verb, wanted)

    def explain(self, jid: OneJob) -> dict[str, Any]:
        """Why a job still waits: ``waitsFor`` as a sentence; ``batchQueue`` of a job in the queue of a Slurm."""
        return dict(self.json(Call("GET", f"/jobs/{jid_of(jid)}/explain")))

    def manifest(self, jid: OneJob) -> dict[str, Any]:
        """The manifest of a job. Its files are apart: ``resubmit`` sends both again, ``read_input`` reads one."""
        return dict(self.json(Call("GET", f"/jobs/{jid_of(jid)}/manifest")))

    def history(self, jid: OneJob) -> list[dict[str, Any]]:
        """The states that a job has passed."""
        return list((self.json(Call("GET", f"/jobs/{jid_of(jid)}/history")))["history"])

    def parameters(self, jid: OneJob) -> dict[str, Any]:
        """What a job has used, its exit code and the like."""
        return dict(self.json(Call("GET", f"/jobs/{jid_of(jid)}/parameters")))

    def output_files(self, jid: OneJob) -> list[SandboxFile]:
        """The files that a job has brought back."""
        return self._files(f"/jobs/{jid_of(jid)}/outputsandbox/files")

    def input_files(self, jid: OneJob) -> list[SandboxFile]:
        """The files that a job was submitted with."""
        return self._files(f"/jobs/{jid_of(jid)}/inputsandbox/files")

    def _files(self, path: str) -> list[SandboxFile]:
        return [SandboxFile.of(file) for file in (self.json(Call("GET", path)))["files"]]

    def read_output(self, jid: OneJob, name: str = "std.out", *, start: int = 0, end: Optional[int] = None) -> bytes:
        """A file of the output, or its bytes from ``start`` to before ``end``, in memory; ``download`` is for large ones."""
        return self._part(_output(jid, name), start, end)

    def read_input(self, jid: OneJob, name: str, *, start: int = 0, end: Optional[int] = None) -> bytes:
        """A file that a job was submitted with, or its bytes from ``start`` to before ``end``, in memory."""
        return self._part(_input(jid, name), start, end)

    def _part(self, path: str, start: int, end: Optional[int]) -> bytes:
        if start < 0 or (end is not None and end < 0):
            raise ValueError("start and end are positions from 0 on")
        if end is not None and end <= start:
            return b""
        ranged = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if start or end is not None else {}
        return self._bytes_of(path, ranged)

    def _bytes_of(self, path: str, headers: dict[str, str]) -> bytes:
        call = Call("GET", path, headers=headers)
        try:
            return (self.answer(call)).content
        except ProblemError as error:
            if error.status == 416:  # nothing there, or nothing behind its end
                return b""
            raise

    def follow(self, jid: OneJob, name: str = "std.out", *, errors: str = "replace") -> Iterator[str]:
        """What a job writes into a file until it has ended, as it comes; waits for a job that has not begun.

        ``errors`` says what becomes of bytes that are no UTF-8, as in ``bytes.decode``: ``"surrogateescape"`` keeps them.
        """
        return followed(self, _output(jid, name), errors)

    def download(self, jids: Jobs, to: Union[str, Path] = ".", names: Optional[Iterable[str]] = None) -> list[Path]:
        """Downloads the output of a job into a folder, file by file and never whole in memory; answers the paths.

        That of several, or of a list, goes into a folder for each, ``to/<jid>``. What breaks off goes on where it was; a
        file has its name only when it is whole. A link becomes a copy of the file to which it leads; one to a directory is
        left out, since the files of the directory are there. Empty directories are made, and are not among the paths. Files
        keep their times, and those that their owner may execute can be executed. Of several jobs one without output keeps
        none from the others: then JobsRefused is raised at the end. It is told as by ``wait`` what a job was not asked to
        bring back.
        """
        named = None if names is None else list(names)
        given = [jid_of(one) for one in collected(jids)]
        wanted = {jid: Path(to) / str(jid) if is_several(jids) else Path(to) for jid in given}
        paths: list[Path] = []
        refused: dict[int, GridgateError] = {}
        for jid, folder in wanted.items():
            try:
                paths += self._output_of(jid, folder, named)
            except ProblemError as error:
                if not is_several(jids) or not is_refusal(error):
                    raise
                refused[jid] = error
        for warning in self._lacking(list(wanted)):
            warnings.warn(warning, OutputWarning, stacklevel=2)
        if refused:
            raise JobsRefused([jid for jid in wanted if jid not in refused], refused, "downloaded")
        return paths

    def _output_of(self, jid: int, folder: Path, names: Optional[list[str]]) -> list[Path]:
        try:
            files = self.output_files(jid)
        except NotFound:
            if names is None:
                raise
            files = []  # it still runs
        if names is None:
            for file in files:
                if file.is_directory:
                    make_folder(folder, file.name)
        wanted = readable(files) if names is None else names
        executable = {file.name for file in files if file.is_executable}
        return [self._download(_output(jid, name), name, folder, name in executable) for name in wanted]

    def _download(self, path: str, name: str, folder: Path, is_executable: bool) -> Path:
        call = Call("GET", path)
        with PartFile(folder, name, is_executable) as part:
            attempt = 0
            while True:
                call.headers = part.headers
                before = part.size
                try:
                    with self.once(call, stream=True) as answer:
                        part.begin(answer)
                        # what is stored is what counts: ranges are of the bytes as they are
                        for piece in answer.iter_raw():
                            part.write(piece)
                    return part.finish()
                except GridgateError as error:
                    attempt = attempt + 1 if part.size == before else 1
                    if gives_up(error, attempt - 1, self.retries, call):
                        raise
                    pause(pause_before(attempt - 1, error))

    @overload
    def map(
        self,
        function: Callable[[T], R],
        parameters: Iterable[T],
        *,
        results: Results = ...,
        python: str = ...,
        chunksize: int = ...,
        packages: Optional[Packages] = ...,
        files: Files = ...,
        manifest: Optional[Manifest] = ...,
        progress: Optional[Progress] = ...,
        return_failures: Literal[False] = ...,
    ) -> list[R]: ...

    @overload
    def map(
        self,
        function: Callable[[T], R],
        parameters: Iterable[T],
        *,
        results: Results = ...,
        python: str = ...,
        chunksize: int = ...,
        packages: Optional[Packages] = ...,
        files: Files = ...,
        manifest: Optional[Manifest] = ...,
        progress: Optional[Progress] = ...,
        return_failures: bool,
    ) -> list[Union[R, JobFailed]]: ...

    def map(
        self,
        function: Callable[[T], R],
        parameters: Iterable[T],
        *,
        results: Results = "json",
        python: str = "python3",
        chunksize: int = 1,
        packages: Optional[Packages] = None,
        files: Files = (),
        manifest: Optional[Manifest] = None,
        progress: Optional[Progress] = None,
        return_failures: bool = False,
    ) -> Any:
        """Calls a Python function once for each parameter, in jobs, and answers the results in order.

        The function goes along by value (``pip install cloudpickle``); ``python`` is the interpreter of the site, which
        must be of the version of this one. ``chunksize``: calls that one job makes, one after the other; of short calls
        many, or ``GridExecutor``. ``packages``: a directory of wheels, which goes up once and is on the path of all
        calls. Results come back as JSON (tuples as lists); ``results="pickle"`` brings any value back, and runs what the
        job's site has made of it with your rights: ask for it where you trust the sites. ``manifest``: further keys.
        ``progress`` is called with how many calls are done and how many there are, or is a bar of tqdm. Jobs of a map
        that is stopped early are killed. Raises MapFailed with the errors of each failed call; with ``return_failures``
        they stand in the list.
        """
        refuse_options("map", results, manifest or {}, chunksize)
        values = list(parameters)
        wheels = wheels_of(packages)
        if not values:
            return []
        chunks = [values[at : at + chunksize] for at in range(0, len(values), chunksize)]
        task = in_thread(packed_map, function, chunks, results, list(wheels))
        uploads: dict[str, Content] = {**wheels, **named_files(files), **task}
        wish = manifest_of(f"map {name_of(function)}", len(chunks), results, python, manifest or {})
        jids = self.submit(wish, uploads)
        work = dict(zip(jids, chunks))
        answers: dict[int, list[Any]] = {}
        done = 0
        try:
            with closed_after(self._each_ended(jids)) as ended:
                for job in ended:
                    answers[job.jid] = self._answers(job, len(work[job.jid]), results)
                    done += len(work[job.jid])
                    if progress is not None:
                        tell(progress, len(work[job.jid]), done, len(values))
        except BaseException:
            self._abandon(jids)
            raise
        every = [answer for jid in jids for answer in answers[jid]]
        failures = {place: answer for place, answer in enumerate(every) if isinstance(answer, JobFailed)}
        if failures and not return_failures:
            raise MapFailed(failures, [None if place in failures else one for place, one in enumerate(every)])
        return every

    def _answers(self, job: Job, count: int, results: str) -> list[Any]:
        """What the calls of a job have answered, or why each failed."""
        outcomes = self._outcomes(job.jid, results)
        if len(outcomes) == count and all(one.fault is None for one in outcomes):
            return [one.value() for one in outcomes]
        failure = self.failure(self.job(job.jid))
        if len(outcomes) != count or count == 1:
            return [failure] * count
        return [one.value() if one.fault is None else failure.of_call(one.fault["traceback"]) for one in outcomes]

    def _outcomes(self, jid: int, results: str) -> list[Outcome]:
        """What came of the calls of a job that has ended; nothing where it has brought nothing back."""
        try:
            return outcomes_of(self.read_output(jid, RESULTS[results]), results)
        except ProblemError as error:
            if error.status not in (404, 409):
                raise
            return []

    def _abandon(self, jids: list[int]) -> None:
        """Kills jobs whose results nobody awaits any more, as far as the service can be reached."""
        try:
            self.kill(jids)
        except GridgateError:
            return


def chunks_of(ids: Sequence[int]) -> Iterable[list[int]]:
    """Ids in pieces that fit into an address."""
    return (list(ids[at : at + IDS]) for at in range(0, len(ids), IDS))


def readable(files: list[SandboxFile]) -> list[str]:
    """Names of the files, and of the links that lead to one of them."""
    plain = {file.name for file in files if file.link is None and not file.is_directory}
    return [file.name for file in files if file.name in plain or file.link in plain]


def _output(jid: OneJob, name: str) -> str:
    return f"/jobs/{jid_of(jid)}/output/{name_in_path(name)}"


def _input(jid: OneJob, name: str) -> str:
    return f"/jobs/{jid_of(jid)}/inputsandbox/files/{name_in_path(name)}"


def _ids(answer: dict[str, Any]) -> list[int]:
    for warning in answer.get("warnings", ()):
        warnings.warn(warning["detail"], UserWarning, stacklevel=3)
    return [int(jid) for jid in answer["jids"]]


def _no_job(jid: int) -> NotFound:
    return NotFound(404, {"code": "job.not-found", "title": "No such job", "detail": f"Job {jid} does not exist"})
