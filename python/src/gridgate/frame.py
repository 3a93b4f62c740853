"""Jobs as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from .errors import GridgateError
from .model import Job

COLUMNS = [field.name for field in fields(Job) if field.name not in ("jid", "record")]
TIMES = ("submitted", "started", "ended", "updated")


def frame_of(jobs: Iterable[Job]) -> Any:
    """A frame with a row per job, by ``jid``; times are UTC, ``NaT`` where there is none."""
    try:
        import pandas
    except ImportError as cause:
        raise GridgateError("a frame needs pandas (pip install pandas); `gridgate status -o csv` does not") from cause
    rows = list(jobs)
    data = {name: [getattr(job, name) for job in rows] for name in COLUMNS}
    frame = pandas.DataFrame(data, index=pandas.Index([job.jid for job in rows], name="jid", dtype="int64"))
    for name in TIMES:
        frame[name] = pandas.to_datetime(frame[name], utc=True)
    return frame
