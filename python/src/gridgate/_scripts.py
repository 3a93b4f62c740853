"""Scripts for batch systems among what a submit uploads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from ._files import Content

#: Bytes of a script that are looked at.
_HEAD = 65536
_KEYS = "keys of the manifest (NumberOfProcessors, MaxRAM in MB, WallTime in s, ExecutionEnvironment, …)"
_MARK = re.compile(r"#(GRID|SBATCH)(?=\s)")
_COMMENT = re.compile(r"\s*(#|$)")


def unread_lines(manifests: Sequence[Mapping[str, Any]], named: Mapping[str, Content]) -> list[str]:
    """What is to be said of the scripts that run and have options in their heads, which only the command reads."""
    told = []
    for name in dict.fromkeys(name for manifest in manifests for name in _programs(manifest)):
        mark = _mark_of(named[name]) if name in named else None
        if mark is not None:
            other = f"ask by {_KEYS}, or by `gridgate submit {name}`, which reads them"
            told.append(f"{name}: its lines of #{mark} are not read here: {other}")
    return told


def with_words(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest, in which numbers and paths among the arguments are texts."""
    given = manifest.get("Arguments")
    if isinstance(given, (list, tuple)):
        return {**manifest, "Arguments": [_word(one) for one in given]}
    return dict(manifest) if given is None else {**manifest, "Arguments": _word(given)}


def _word(given: Any) -> Any:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return str(given) if is_number or isinstance(given, Path) else given


def _programs(manifest: Mapping[str, Any]) -> list[str]:
    """What may be the script: the executable, or the first argument of a shell."""
    arguments = manifest.get("Arguments")
    words = arguments if isinstance(arguments, (list, tuple)) else str(arguments or "").split()
    return [str(word).removeprefix("./") for word in [manifest.get("Executable", ""), *words[:1]]]


def _mark_of(content: Content) -> Optional[str]:
    if isinstance(content, bytes):
        head = content[:_HEAD]
    else:
        with Path(content).open("rb") as file:
            head = file.read(_HEAD)
    for line in head.decode("utf-8", "replace").splitlines():
        found = _MARK.match(line)
        if found is not None:
            return found.group(1)
        if _COMMENT.match(line) is None:
            return None
    return None
