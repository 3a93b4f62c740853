"""Calls of Python functions as the files of jobs, and what came of them."""

from __future__ import annotations

import builtins
import io
import json
import pickle
import re
import sys
import sysconfig
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Literal, Optional, Protocol, Union

from .errors import CallFailed, GridgateError

TASK = "gridgate_task.pkl"
CALLS = "gridgate_calls.pkl"
RUNNER = "gridgate_run.py"
PICKLER = "gridgate_cloudpickle.zip"
RESULTS = {"json": "gridgate_result.json", "pickle": "gridgate_result.pkl"}
#: Keys of the manifest that belong to the calls.
TAKEN = {"Executable", "Arguments", "Parameters", "ParameterStart", "ParameterStep", "ParameterFactor"}

Results = Literal["json", "pickle"]
#: A directory of wheels.
Packages = Union[str, "PathLike[str]"]


class Bar(Protocol):
    """A progress bar, as of tqdm."""

    def update(self, n: int) -> object:
        """``n`` more are done."""


#: Is called with how many calls are done and how many there are; or a bar, as of tqdm.
Progress = Union[Callable[[int, int], object], Bar]

_pickling = threading.Lock()
_own: dict[str, bool] = {}


@dataclass(frozen=True)
class PackedCall:
    """A call: its function, and its arguments, both pickled."""

    function: bytes
    arguments: bytes


@dataclass(frozen=True)
class Outcome:
    """What came of a call: the member ``result`` or ``error`` of what its job has written, and its seconds."""

    results: str
    written: Mapping[str, Any]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(self.written["seconds"])

    @property
    def fault(self) -> Optional[Mapping[str, Any]]:
        """What it has raised: ``type``, ``text``, ``traceback``."""
        return self.written.get("error")

    def value(self) -> Any:
        """What it has answered."""
        result = self.written["result"]
        return pickle.loads(result) if self.results == "pickle" else result

    def exception(self) -> Exception:
        """What it has raised, of its own type where that can be made here: by pickle, or one of Python's own."""
        fault = self.written["error"]
        error: Any = None
        try:
            if self.results == "pickle":
                error = pickle.loads(fault["args"])
            elif fault["module"] == "builtins":
                kind = getattr(builtins, fault["type"], None)
                error = kind(*fault["args"]) if isinstance(kind, type) and issubclass(kind, Exception) else None
        except Exception:
            error = None
        known = error if isinstance(error, Exception) else CallFailed(fault["type"], fault["text"], fault["traceback"])
        known.__cause__ = RemoteTraceback(fault["traceback"])
        return known


class RemoteTraceback(Exception):
    """The cause of an exception that was raised in a job: shown above it, as ``concurrent.futures`` does."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


def refuse_options(who: str, results: str, manifest: Mapping[str, Any], chunksize: Optional[int]) -> None:
    """Raises ValueError for what no job could be made of, GridgateError without cloudpickle."""
    if results not in RESULTS:
        raise ValueError(f"results is {results!r}, not one of {', '.join(RESULTS)}")
    if TAKEN & set(manifest):
        raise ValueError(f"{who} sets {', '.join(sorted(TAKEN & set(manifest)))} itself")
    if chunksize is not None and chunksize < 1:
        raise ValueError(f"chunksize is {chunksize}, and a job makes at least one call")
    try:
        import cloudpickle  # noqa: F401
    except ImportError as cause:
        raise GridgateError(f"{who} needs cloudpickle: pip install cloudpickle") from cause


def wheels_of(packages: Optional[Packages]) -> dict[str, Path]:
    """The wheels of a directory by name. Raises ValueError for what this Python could not install from them."""
    if packages is None:
        return {}
    folder = Path(packages)
    if not folder.is_dir():
        raise ValueError(f"packages is a directory of wheels, and {folder} is none")
    sources = sorted(file.name for file in folder.iterdir() if file.name.endswith((".tar.gz", ".zip")))
    if sources:
        raise ValueError(f"{folder / sources[0]} is no wheel: pip wheel makes one of it")
    wheels = {file.name: file for file in sorted(folder.glob("*.whl"))}
    if not wheels:
        raise ValueError(f"{folder} has no wheels: pip wheel --wheel-dir {folder} … makes them")
    for name in wheels:
        if not _is_for_this_python(name):
            raise ValueError(f"{name} is not for Python {sys.version_info[0]}.{sys.version_info[1]}, which makes the calls")
    return wheels


def _is_for_this_python(name: str) -> bool:
    """By the tags of the name (PEP 425): ``py3-none``, ``cp311-cp311``, or ``cp38-abi3`` of an older one."""
    major, minor = sys.version_info[:2]
    parts = name[: -len(".whl")].split("-")
    if len(parts) < 5:
        return False
    pythons, abis = parts[-3].split("."), parts[-2].split(".")
    for python in pythons:
        found = re.fullmatch(r"(py|cp)(\d)(\d*)", python)
        if found is None or int(found.group(2)) != major:
            continue
        if found.group(3) == "" or int(found.group(3)) == minor:
            return True
        if int(found.group(3)) < minor and (found.group(1) == "py" or "abi3" in abis):
            return True
    return False


def pickled(*values: Any) -> list[bytes]:
    """Values for a job, each by itself: by value what is of a module that the job's interpreter cannot have."""
    import cloudpickle

    with _pickling:
        there = cloudpickle.list_registry_pickle_by_value()
        modules = [module for module in _own_modules() if module.__name__ not in there]
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            return [bytes(cloudpickle.dumps(value)) for value in values]
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)


def _own_modules() -> list[ModuleType]:
    """The modules that are neither installed nor of Python itself."""
    found = []
    for name, module in list(sys.modules.items()):
        is_own = _own.get(name)
        if is_own is None:
            is_own = _own[name] = _is_own(name, module)
        if is_own and isinstance(module, ModuleType) and module.__name__ in sys.modules:
            found.append(module)
    return list({module.__name__: module for module in found}.values())


def _is_own(name: str, module: Any) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(module, ModuleType) or name in ("__main__", "__mp_main__") or file is None:
        return False
    path = Path(file)
    installed = [sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    by_hand = {"site-packages", "dist-packages"} & set(path.parts)
    return path.suffix == ".py" and not by_hand and not any(path.is_relative_to(folder) for folder in installed)


def name_of(function: Callable[..., Any]) -> str:
    """How a function is called."""
    return str(getattr(function, "__name__", "function"))


def tell(progress: Progress, more: int, done: int, count: int) -> None:
    """Says that ``more`` calls are done, of ``count`` now ``done``."""
    if callable(progress):
        progress(done, count)
    else:
        progress.update(more)


def packed_map(
    function: Callable[..., Any],
    chunks: Sequence[Sequence[Any]],
    results: str,
    wheels: Iterable[str],
) -> dict[str, bytes]:
    """The files of the jobs of a map, which call one function with one parameter each time."""
    body, *bodies = pickled(function, *(((value,), {}) for chunk in chunks for value in chunk))
    arguments = iter(bodies)
    return packed_chunks([[PackedCall(body, next(arguments)) for _ in chunk] for chunk in chunks], results, wheels)


def packed_chunks(
    chunks: Sequence[Sequence[PackedCall]],
    results: str,
    wheels: Iterable[str] = (),
    seconds: Optional[float] = None,
) -> dict[str, bytes]:
    """The files of jobs that make the calls, one job for each chunk.

    Each job reads its own calls only. ``seconds``: after so many no further call of a chunk is begun.
    """
    import cloudpickle

    places: dict[bytes, int] = {}
    bodies = [
        pickle.dumps([(places.setdefault(call.function, len(places)), call.arguments) for call in chunk], protocol=4)
        for chunk in chunks
    ]
    task = {
        "python": list(sys.version_info[:2]),
        "results": results,
        "packages": list(wheels),
        "seconds": seconds,
        "functions": list(places),
        "chunks": list(zip(_starts(bodies), map(len, bodies))),
    }
    return {
        TASK: pickle.dumps(task, protocol=4),
        CALLS: b"".join(bodies),
        RUNNER: Path(__file__).with_name("_run_task.py").read_bytes(),
        PICKLER: _zipped(Path(cloudpickle.__file__).parent),
    }


def manifest_of(name: str, chunks: int, results: str, python: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """One template, a number for each chunk."""
    extra = manifest.get("OutputSandbox", [])
    return {
        "JobName": name[:128],
        **manifest,
        "Executable": python,
        "Arguments": [RUNNER, "%s"],
        "OutputSandbox": list(dict.fromkeys(["std.out", "std.err", *extra, RESULTS[results]])),
        "StdOutput": "std.out",
        "StdError": "std.err",
        "Parameters": chunks,
        "ParameterStart": 0,
        "ParameterStep": 1,
    }


def outcomes_of(content: bytes, results: str) -> list[Outcome]:
    """What came of the calls of a job, by the file that it has brought back."""
    written = json.loads(content) if results == "json" else pickle.loads(content)
    return [Outcome(results, one) for one in written]


def _starts(bodies: Sequence[bytes]) -> list[int]:
    starts, at = [], 0
    for body in bodies:
        starts.append(at)
        at += len(body)
    return starts


def _zipped(package: Path) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.glob("*.py")):
            info = zipfile.ZipInfo(f"{package.name}/{file.name}")
            archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return memory.getvalue()
