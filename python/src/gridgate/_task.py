"""A call of a Python function as the files of a job, and its result."""

from __future__ import annotations

import io
import json
import pickle
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

from .errors import GridgateError

TASK = "gridgate_task.pkl"
RUNNER = "gridgate_run.py"
PICKLER = "gridgate_cloudpickle.zip"
RESULTS = {"json": "gridgate_result.json", "pickle": "gridgate_result.pkl"}


def packed_call(
    function: Callable[[Any], Any],
    parameters: Sequence[Any],
    results: str,
    python: str,
    manifest: dict[str, Any],
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The input files and the manifest of a map: one template, a number for each parameter."""
    if results not in RESULTS:
        raise ValueError(f"results is {results!r}, not one of {', '.join(RESULTS)}")
    taken = {"Executable", "Arguments", "Parameters", "ParameterStart", "ParameterStep", "ParameterFactor"}
    if taken & set(manifest):
        raise ValueError(f"map sets {', '.join(sorted(taken & set(manifest)))} itself")
    try:
        import cloudpickle
    except ImportError as cause:
        raise GridgateError("map needs cloudpickle: pip install 'gridgate[map]'") from cause
    module = _own_module(function)
    if module is not None:
        cloudpickle.register_pickle_by_value(module)
    try:
        task = {
            "python": list(sys.version_info[:2]),
            "results": results,
            "function": cloudpickle.dumps(function),
            "parameters": [cloudpickle.dumps(one) for one in parameters],
        }
    finally:
        if module is not None:
            cloudpickle.unregister_pickle_by_value(module)
    files = {
        TASK: pickle.dumps(task, protocol=4),
        RUNNER: Path(__file__).with_name("_run_task.py").read_bytes(),
        PICKLER: _zipped(Path(cloudpickle.__file__).parent),
    }
    extra = manifest.get("OutputSandbox", [])
    wish = {
        "JobName": f"map {getattr(function, '__name__', 'function')}"[:128],
        **manifest,
        "Executable": python,
        "Arguments": [RUNNER, "%s"],
        "OutputSandbox": _unique(["std.out", "std.err", *extra, RESULTS[results]]),
        "StdOutput": "std.out",
        "StdError": "std.err",
        "Parameters": len(parameters),
        "ParameterStart": 0,
        "ParameterStep": 1,
    }
    return files, wish


def result_of(content: bytes, results: str) -> Any:
    """The value that a job has brought back."""
    return json.loads(content) if results == "json" else pickle.loads(content)


def _own_module(function: Callable[..., Any]) -> Any:
    """The module of a function that the job's interpreter cannot have: neither installed nor of Python itself."""
    name = getattr(function, "__module__", None)
    module = sys.modules.get(name or "")
    file = getattr(module, "__file__", None)
    if not isinstance(module, ModuleType) or name in (None, "__main__") or file is None:
        return None
    installed = [sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return None if any(Path(file).is_relative_to(folder) for folder in installed) else module


def _zipped(package: Path) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.glob("*.py")):
            info = zipfile.ZipInfo(f"{package.name}/{file.name}")
            archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return memory.getvalue()


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
