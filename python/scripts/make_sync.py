"""Makes src/gridgate/_sync from src/gridgate/_async; with --check says what is not as it would be made."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOMS = Path(__file__).resolve().parent.parent / "src" / "gridgate"
WORDS = [
    (r"\bAsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bAwaitable\[((?:\w|\[\w+\])+)\]", r"\1"),
    (r"\bfrom collections.abc import Awaitable\n", ""),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync(Client|Transport|Watch|Catalogue|Administration|Storage|Content)\b", r"\1"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_(bytes|raw)\b", r"iter_\1"),
]


def made(text: str) -> str:
    """The blocking form of a source."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text


def main() -> int:
    """Writes or checks each file."""
    stale = []
    for source in sorted((ROOMS / "_async").glob("[!_]*.py")):
        target = ROOMS / "_sync" / source.name
        text = made(source.read_text("utf-8"))
        if "--check" not in sys.argv:
            target.write_text(text, "utf-8")
        elif not target.exists() or target.read_text("utf-8") != text:
            stale.append(target.name)
    for name in stale:
        sys.stderr.write(f"_sync/{name} is not made from _async/{name}: run scripts/make_sync.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
