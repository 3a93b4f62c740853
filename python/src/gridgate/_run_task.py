"""Runs in a job: makes its calls one after the other and writes what came of each.

Needs Python alone, and is read by any Python 3, so that one of another version can say so.
"""

import glob
import json
import os
import pickle
import shutil
import sys
import time
import traceback
import zipfile
from typing import Any

PACKAGES = "gridgate_packages"


def main() -> None:
    """The job: its argument is the number of its chunk of calls."""
    sys.path.insert(0, "gridgate_cloudpickle.zip")
    with open("gridgate_task.pkl", "rb") as file:  # noqa: PTH123
        task = pickle.load(file)
    here = list(sys.version_info[:2])
    if here != task["python"]:
        said = "{}.{} here, {}.{} where the call was made".format(*here, *task["python"])
        sys.exit("Python " + said + ": name the right interpreter with python=")
    unpack(task["packages"])
    try:
        outcomes = worked(task, chunk_of(task, int(float(sys.argv[1]))))
    finally:
        shutil.rmtree(PACKAGES, ignore_errors=True)
    write(task["results"], outcomes)
    failed = sum("error" in outcome for outcome in outcomes)
    if failed:
        sys.exit(1 if len(outcomes) == 1 else f"{failed} of {len(outcomes)} calls failed")


def unpack(wheels: "list[str]") -> None:
    """Puts what the wheels hold on the path: they are unpacked, as compiled modules cannot be read from a zip."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(PACKAGES)
    for folder in [PACKAGES, *glob.glob(PACKAGES + "/*.data/*lib")]:  # noqa: PTH207
        sys.path.insert(1, os.path.abspath(folder))  # noqa: PTH100


def chunk_of(task: "dict[str, Any]", number: int) -> "list[Any]":
    """The calls of this job: the place of a function in the list of functions, and pickled arguments."""
    start, size = task["chunks"][number]
    with open("gridgate_calls.pkl", "rb") as file:  # noqa: PTH123
        file.seek(start)
        return list(pickle.loads(file.read(size)))


def worked(task: "dict[str, Any]", calls: "list[Any]") -> "list[dict[str, Any]]":
    """What came of the calls; those that did not begin within the seconds of the task are left out."""
    functions: dict[int, Any] = {}
    outcomes: list[dict[str, Any]] = []
    began = time.monotonic()
    for place, arguments in calls:
        before = time.monotonic()
        if outcomes and task["seconds"] is not None and before - began > task["seconds"]:
            break
        try:
            if place not in functions:
                functions[place] = pickle.loads(task["functions"][place])
            args, named = pickle.loads(arguments)
            outcome = {"result": carried(task["results"], functions[place](*args, **named))}
        except (Exception, SystemExit) as error:
            outcome = {"error": described(task["results"], error)}
        outcomes.append({**outcome, "seconds": time.monotonic() - before})
    return outcomes


def carried(results: str, value: object) -> object:
    """The result as it goes into the file. Raises TypeError for what JSON cannot carry."""
    if results == "pickle":
        import cloudpickle

        return cloudpickle.dumps(value)
    check(value)
    return value


def check(value: object) -> None:
    """Refuses what JSON cannot carry: another type, or keys that would come back as texts."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the result has the key {key!r}, which JSON cannot carry: ask for results='pickle'")
            check(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            check(member)
    elif value is not None and type(value) not in (bool, int, float, str):
        raise TypeError(f"the result is a {type(value).__name__}, which JSON cannot carry: ask for results='pickle'")


def described(results: str, error: BaseException) -> "dict[str, Any]":
    """What tells of an exception where it cannot be raised; it is written to the errors of the job, too."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    sys.stderr.write(text)
    kind = type(error)
    fault: dict[str, Any] = {"module": kind.__module__, "type": kind.__qualname__, "text": str(error), "traceback": text}
    try:
        fault["args"] = carried(results, error if results == "pickle" else list(error.args))
    except Exception:
        fault["args"] = None
    return fault


def write(results: str, outcomes: "list[dict[str, Any]]") -> None:
    """The file of the job's results: it has its name when it is whole."""
    name = "gridgate_result." + ("pkl" if results == "pickle" else "json")
    content = pickle.dumps(outcomes, protocol=4) if results == "pickle" else json.dumps(outcomes).encode()
    with open(name + ".part", "wb") as file:  # noqa: PTH123
        file.write(content)
    os.replace(name + ".part", name)  # noqa: PTH105


if __name__ == "__main__":
    main()
