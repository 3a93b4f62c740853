"""Makes calls: token, tries, errors, streams."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Optional

import httpx

from .._call import Call, base_url, gives_up, parsed, pause_before
from ..errors import NotLoggedIn, UnreachableError, problem_of, unreachable
from ..login import verify_with
from ..tokens import CertificateToken, Given, GivenToken, StoredLogin, TokenSource, discovered
from ._runtime import in_thread, pause
from .storage import AsyncStorage

USER_AGENT = "gridgate-python"


class AsyncTransport:
    """A connection to one service with the token of one user."""

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[Given] = None,
        profile: Optional[str] = None,
        cert: Optional[tuple[str, str]] = None,
        group: Optional[str] = None,
        setup: Optional[str] = None,
        ca: Optional[str] = None,
        storage_ca: Optional[str] = None,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        if sum(given is not None for given in (token, profile, cert)) > 1:
            raise ValueError("token, profile and cert exclude each other")
        if cert is None and (group is not None or setup is not None):
            raise ValueError("group and setup belong to cert: other tokens have theirs")
        url = url or os.environ.get("GRID_SERVER") or None
        server = None if url is None else base_url(url)
        self._source: TokenSource
        if token is not None or cert is not None:
            if server is None:
                raise ValueError("a token or certificate needs the address of its service")
            self._source = (
                GivenToken(token)
                if token is not None
                else CertificateToken(server, cert or ("", ""), {"ca": ca, "group": group, "setup": setup})
            )
        else:
            self._source = discovered(server, profile)
        if isinstance(self._source, StoredLogin):
            stored = base_url(self._source.server)
            if server is not None and server != stored:
                raise NotLoggedIn(f"the login is of {stored}, not of {server}")
            server, ca = stored, ca or self._source.ca
        self.url = str(server)
        self.retries = retries
        self._timeout = httpx.Timeout(timeout, connect=min(10.0, timeout))
        self._http = httpx.AsyncClient(
            base_url=self.url,
            verify=verify_with(ca),
            timeout=self._timeout,
            headers={"User-Agent": USER_AGENT},
        )
        self._storage_ca = storage_ca or os.environ.get("X509_CERT_DIR") or ca
        self._storage: Optional[AsyncStorage] = None
        #: Jobs that were looked at for files that they were not asked to bring back.
        self._looked: set[int] = set()

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()
        if self._storage is not None:
            await self._storage.close()

    @property
    def storage(self) -> AsyncStorage:
        """Connections to storage elements, on which no token of the service goes."""
        if self._storage is None:
            self._storage = AsyncStorage(self._storage_ca, self._timeout, USER_AGENT)
        return self._storage

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called: it makes no calls any more."""
        return self._http.is_closed

    async def json(self, call: Call) -> Any:
        """The value of a call's answer."""
        return parsed((await self.answer(call)).content)

    async def answer(self, call: Call) -> httpx.Response:
        """The answer of a call, read whole."""
        attempt = 0
        while True:
            try:
                async with self.once(call) as answer:
                    return answer
            except Exception as error:
                if gives_up(error, attempt, self.retries, call):
                    raise
                await pause(pause_before(attempt, error))
                attempt += 1

    @asynccontextmanager
    async def once(self, call: Call, *, stream: bool = False, silence: Optional[float] = None) -> AsyncIterator[httpx.Response]:
        """One try of a call; a refused token is renewed once. Raises ProblemError and UnreachableError.

        With ``stream`` the answer is not read yet; ``silence``: seconds without a byte that are borne.
        """
        token = await in_thread(self._source.token)
        for last in (False, True):
            timeout = self._timeout if silence is None else httpx.Timeout(silence, connect=10.0)
            headers = {"Accept": "application/json", **call.headers, "Authorization": f"Bearer {token}"}
            request = self._http.build_request(
                call.method,
                call.target,
                json=call.json,
                data=call.data,
                content=call.content,
                files=call.files() if callable(call.files) else call.files,
                headers=headers,
                timeout=timeout,
            )
            try:
                answer = await self._http.send(request, stream=True)
            except httpx.HTTPError as cause:
                raise unreachable(self.url, cause) from cause
            try:
                if answer.status_code >= 300 or not stream:
                    await answer.aread()
                if answer.status_code == 401 and not last:
                    other = await in_thread(self._source.renewed, token)
                    if other is not None:
                        token = other
                        continue
                if answer.status_code >= 300:
                    raise problem_of(answer)
                yield answer
                return
            except httpx.HTTPError as cause:
                raise UnreachableError(f"the answer of {self.url} broke off: {cause}") from cause
            finally:
                await answer.aclose()
