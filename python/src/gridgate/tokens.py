"""Where a client's token comes from: given, by certificate, of the environment (WLCG discovery), or a stored login."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Callable, Optional, Union

from .errors import NotLoggedIn
from .login import is_ending, login_path, read_login, renewed_login, token_by_certificate

Given = Union[str, Callable[[], str]]


class TokenSource:
    """Answers the token of a call, and another one when it was refused."""

    def token(self) -> str:
        """The token to send."""
        raise NotImplementedError

    def renewed(self, refused: str) -> Optional[str]:
        """Another token than the refused one, or None when there is none."""
        other = self.token()
        return other if other != refused else None


class GivenToken(TokenSource):
    """A token, or a function that answers one."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def token(self) -> str:
        """The token; a function is asked each time."""
        return checked(self._given if isinstance(self._given, str) else self._given(), "the token")


class TokenFile(TokenSource):
    """A file that somebody else renews, such as that of ``BEARER_TOKEN_FILE`` in a job; read at each call."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def token(self) -> str:
        """What stands in the file now."""
        try:
            return checked(self._path.read_text("utf-8"), str(self._path))
        except OSError as cause:
            raise NotLoggedIn(f"the token file {self._path} cannot be read: {cause.strerror}") from cause


class CertificateToken(TokenSource):
    """Tokens by certificate, kept in memory and made anew before they end."""

    def __init__(self, server: str, cert: tuple[str, str], options: dict[str, Any]) -> None:
        self._server, self._cert, self._options = server, cert, options
        self._lock = threading.Lock()
        self._got: Optional[dict[str, Any]] = None

    def token(self) -> str:
        """The token, made when there is none or it is about to end."""
        with self._lock:
            if self._got is None or is_ending({"token": self._got}):
                self._got = token_by_certificate(self._server, self._cert, **self._options)
            return str(self._got["access_token"])

    def renewed(self, refused: str) -> Optional[str]:
        """A new token, unless another thread has made one meanwhile."""
        with self._lock:
            if self._got is not None and self._got["access_token"] == refused:
                self._got = None
        return self.token()


class StoredLogin(TokenSource):
    """The login of ``gridgate login``; renewed under its lock, once for all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._login = read_login(path)

    @property
    def server(self) -> str:
        """The address that one is logged in to."""
        return str(self._login["server"])

    @property
    def ca(self) -> Optional[str]:
        """CA file of the server."""
        ca = self._login.get("ca")
        return None if ca is None else str(ca)

    def token(self) -> str:
        """The token, renewed when it is about to end."""
        return self._access if not is_ending(self._login) else self._renew(self._access)

    def renewed(self, refused: str) -> Optional[str]:
        """Another token than the refused one."""
        return self._renew(refused)

    @property
    def _access(self) -> str:
        return str(self._login["token"].get("access_token", ""))

    def _renew(self, old: str) -> str:
        with self._lock:
            if self._access == old or is_ending(self._login):
                login = renewed_login(self._path, old)
                if login["server"] != self.server:
                    raise NotLoggedIn(f"the login is for {login['server']} now, not for {self.server}")
                self._login = login
            return self._access


def checked(text: str, what: str) -> str:
    """A token without the white space around it. Raises NotLoggedIn for what a header cannot carry."""
    token = text.strip()
    if not token or not token.isascii() or any(character <= " " for character in token):
        raise NotLoggedIn(f"{what} holds no token")
    return token


def discovered(server: Optional[str], profile: Optional[str]) -> TokenSource:
    """The token of the surroundings.

    In this order: ``BEARER_TOKEN``, ``BEARER_TOKEN_FILE``, the stored login when it is of this server, then
    ``$XDG_RUNTIME_DIR/bt_u<uid>`` and ``/tmp/bt_u<uid>`` (WLCG bearer token discovery). A profile names a stored login.
    """
    if profile is not None:
        return StoredLogin(login_path(profile))
    text = os.environ.get("BEARER_TOKEN", "").strip()
    if text and server is not None:
        return GivenToken(text)
    named = os.environ.get("BEARER_TOKEN_FILE", "")
    if named and server is not None:
        return TokenFile(Path(named))
    try:
        stored = StoredLogin(login_path())
    except NotLoggedIn as missing:
        reason = missing
    else:
        if server is None or stored.server.rstrip("/") == server:
            return stored
        reason = NotLoggedIn(f"the stored login is of {stored.server}, not of {server}")
    found = None if server is None else _own_token_file()
    if found is not None:
        return found
    raise reason


def _own_token_file() -> Optional[TokenFile]:
    """The file of the WLCG discovery, when it is this user's own."""
    uid = os.getuid() if hasattr(os, "getuid") else None
    folders = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"]
    for folder in folders:
        path = Path(folder) / f"bt_u{uid}"
        try:
            if folder and uid is not None and path.lstat().st_uid == uid and not path.is_symlink():
                return TokenFile(path)
        except OSError:
            continue
    return None
