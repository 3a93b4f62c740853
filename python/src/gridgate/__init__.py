"""Gridgate for Python: jobs, outputs, changes as they happen, and the file catalogue of a computing grid.

>>> from gridgate import Client
>>> with Client("https://grid.example.org", token="...") as grid:  # doctest: +SKIP
...     [jid] = grid.submit({"Executable": "/bin/hostname"})
...     grid.wait(jid)
"""

from ._async.administration import AsyncAdministration
from ._async.catalogue import AsyncCatalogue
from ._async.client import AsyncClient
from ._sync.administration import Administration
from ._sync.catalogue import Catalogue
from ._sync.client import Client
from .errors import (
    CallFailed,
    Conflict,
    FeedGone,
    Forbidden,
    GridgateError,
    InvalidRequest,
    JobFailed,
    JobsRefused,
    LoginFailed,
    MapFailed,
    NotFound,
    NotLoggedIn,
    OutputWarning,
    ProblemError,
    RateLimited,
    ServiceError,
    StorageError,
    Unauthorized,
    UnreachableError,
)
from .executor import GridExecutor
from .login import login
from .model import FINAL, Access, Change, Entry, FoundDirectory, Identity, Job, SandboxFile
from .notebook import LiveJobs

__version__ = "0.2.0"

__all__ = [
    "FINAL",
    "Access",
    "Administration",
    "AsyncAdministration",
    "AsyncCatalogue",
    "AsyncClient",
    "CallFailed",
    "Catalogue",
    "Change",
    "Client",
    "Conflict",
    "Entry",
    "FeedGone",
    "Forbidden",
    "FoundDirectory",
    "GridExecutor",
    "GridgateError",
    "Identity",
    "InvalidRequest",
    "Job",
    "JobFailed",
    "JobsRefused",
    "LiveJobs",
    "LoginFailed",
    "MapFailed",
    "NotFound",
    "NotLoggedIn",
    "OutputWarning",
    "ProblemError",
    "RateLimited",
    "SandboxFile",
    "ServiceError",
    "StorageError",
    "Unauthorized",
    "UnreachableError",
    "login",
]
