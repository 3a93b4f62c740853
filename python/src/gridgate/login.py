"""Logins: the file that ``gridgate login`` writes, its lock and renewal, and new logins by device and certificate.

The file, its lock and the moment of renewal are those of the command (src/cli/user/login-*.ts): commands and Python programs
that run side by side make one renewal.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Optional, Union

import httpx

from ._call import base_url
from .errors import LoginFailed, NotLoggedIn, UnreachableError, problem_of, unreachable
from .model import Identity

#: client_id of the command; it comes with every service.
COMMAND_CLIENT = "gridgate-cli"
RENEW_BEFORE = 60.0
#: Longer than a renewal can take: a lock of this age was left behind.
LEFT_BEHIND = 60.0
LOOK_EVERY = 0.025
#: A login may grow by this when it is renewed, beside its double.
_SPARE_BYTES = 4096
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)

Verify = Union[bool, ssl.SSLContext]


def login_path(profile: Optional[str] = None) -> Path:
    """Where a login is kept, as the command keeps it: ``$XDG_CONFIG_HOME/gridgate/login.json``, else below ``~/.config``.

    That of a profile, or of ``GRIDGATE_PROFILE``, is ``profiles/<profile>.json`` there. Raises ValueError for no name.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or Path(os.environ.get("HOME") or ".") / ".config"
    name = (os.environ.get("GRIDGATE_PROFILE") or "default") if profile is None else profile
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise ValueError(f"{name!r} is no name of a profile: letters, digits, dots, - and _, up to 64")
    folder = Path(base) / "gridgate"
    return folder / "login.json" if name == "default" else folder / "profiles" / f"{name}.json"


def read_login(path: Path) -> dict[str, Any]:
    """The login. Raises NotLoggedIn when there is none, and when the file holds none."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError as cause:
        raise NotLoggedIn(f"not logged in: {_log_in(path, 'run')}") from cause
    except OSError as cause:
        raise NotLoggedIn(f"the login in {path} cannot be read ({cause.strerror})") from cause
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("server"), str) and isinstance(value.get("token"), dict):
        return value
    raise NotLoggedIn(f"the login in {path} is damaged: {_log_in(path, 'log in again by')}")


def _log_in(path: Path, word: str) -> str:
    profile = path.stem if path.parent.name == "profiles" else None
    option, argument = ("", "") if profile is None else (f" --profile {profile}", f', profile="{profile}"')
    return f"{word} `gridgate login --server URL{option}` or gridgate.login(url{argument})"


def write_login(path: Path, login: dict[str, Any]) -> None:
    """Writes the login, mode 0600, whole or not at all. Raises LoginFailed when it cannot be written."""
    folder = path.parent
    try:
        for one in (folder.parent, folder) if folder.name == "profiles" else (folder,):
            one.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as cause:
        raise _not_written(path, cause, "there is no new login") from cause
    with _draft_of(path, 0, "there is no new login") as keep:
        keep(login)


@contextmanager
def _draft_of(path: Path, room: int, fault: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A new file with ``room`` bytes, and what makes it the login; it goes when it has not become one."""
    draft = path.with_name(f"{path.name}.{secrets.token_urlsafe(6)}")

    def keep(login: dict[str, Any]) -> None:
        try:
            with draft.open("r+b") as file:
                file.write(_text_of(login))
                file.truncate()
            draft.replace(path)
        except OSError as cause:
            raise _not_written(path, cause, fault) from cause

    try:
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(room))  # zeros might take no room
        except OSError as cause:
            raise _not_written(path, cause, fault) from cause
        yield keep
    finally:
        draft.unlink(missing_ok=True)


def _text_of(login: dict[str, Any]) -> bytes:
    return (json.dumps(login, indent=2) + "\n").encode()


def _not_written(path: Path, cause: OSError, fault: str) -> LoginFailed:
    return LoginFailed(f"{path} cannot be written ({errno.errorcode.get(cause.errno or 0, '?')}): {fault}")


def is_ending(login: dict[str, Any]) -> bool:
    """True when the token has ended or is about to: a minute before, or a tenth of its life when that is less."""
    token = login["token"]
    margin = min(RENEW_BEFORE, float(token.get("expires_in") or "inf") / 10)
    return float(token.get("expires_at") or 0) - margin <= time.time()


@contextmanager
def while_locked(path: Path) -> Iterator[None]:
    """Holds the lock file that the command uses, too; one whose process has ended, or that is too old, is taken over."""
    while not _taken(path):
        if _is_left_behind(path):
            path.unlink(missing_ok=True)
        else:
            time.sleep(LOOK_EVERY)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _taken(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{os.getpid()} {socket.gethostname()}")
        except OSError:
            path.unlink()  # the disk is full: the others would wait for nobody
            raise
    except FileExistsError:
        return False
    except OSError as cause:
        raise _not_written(path, cause, "the login cannot be renewed") from cause
    return True


def _is_left_behind(path: Path) -> bool:
    try:
        if time.time() - path.stat().st_mtime > LEFT_BEHIND:
            return True
        pid, _, host = path.read_text("utf-8").partition(" ")
        return host == socket.gethostname() and not _is_running(int(pid))
    except (OSError, ValueError):
        return False  # given back meanwhile, or not yet written


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def renewed_login(path: Path, old: str) -> dict[str, Any]:
    """A login with another token than the old one: what another process has written meanwhile, or a renewed one."""
    with while_locked(path.with_name(f"{path.name}.lock")):
        login = read_login(path)
        if login["token"].get("access_token") != old and not is_ending(login):
            return login
        # The service does not take the old login any more after the renewal: a full disk is to leave it good.
        room = 2 * len(_text_of(login)) + _SPARE_BYTES
        with _draft_of(path, room, "the login cannot be renewed") as keep:
            login = {**login, "token": _renewed_token(login)}
            keep(login)
        return login


def _renewed_token(login: dict[str, Any]) -> dict[str, Any]:
    certificate = login.get("cert")
    if not certificate:
        return _refreshed(login)
    return token_by_certificate(
        login["server"],
        (certificate[0], certificate[1]),
        ca=login.get("ca"),
        group=login.get("group"),
        setup=login.get("setup"),
    )


def _refreshed(login: dict[str, Any]) -> dict[str, Any]:
    old = login["token"]
    if not isinstance(old.get("refresh_token"), str):
        raise NotLoggedIn(f"the login has ended: run `gridgate login --server {login['server']}`")
    form = {"grant_type": "refresh_token", "refresh_token": old["refresh_token"], "client_id": COMMAND_CLIENT}
    with httpx.Client(verify=verify_with(login.get("ca")), timeout=_TIMEOUT) as http:
        answer = _sent(http, "POST", f"{base_url(login['server'])}/oauth2/token", data=form)
    if answer.status_code != 200:
        problem = problem_of(answer)
        if problem.status >= 500 or problem.status == 429:
            raise UnreachableError(f"{login['server']} does not renew the login now: {problem}") from problem
        raise NotLoggedIn(f"the login has ended ({problem}): run `gridgate login --server {login['server']}`") from problem
    return {**old, **_with_end(answer.json())}


def token_by_certificate(
    server: str,
    cert: tuple[str, str],
    *,
    ca: Optional[str] = None,
    group: Optional[str] = None,
    setup: Optional[str] = None,
) -> dict[str, Any]:
    """A token by the user's certificate and key (PEM files). Without group and setup the user's first ones."""
    server = base_url(server)
    context = ssl_context(ca)
    try:
        context.load_cert_chain(cert[0], cert[1])
    except (OSError, ssl.SSLError) as cause:
        raise LoginFailed(f"the certificate {cert[0]} and key {cert[1]} cannot be used: {cause}") from cause
    with httpx.Client(verify=context, timeout=_TIMEOUT) as http:

        def get(path: str, query: Optional[dict[str, str]] = None) -> Any:
            answer = _sent(http, "GET", f"{server}{path}", params=query)
            if answer.status_code != 200:
                problem = problem_of(answer)
                raise LoginFailed(f"login refused with {cert[0]}: {problem}") from problem
            return answer.json()

        def first(kind: str) -> str:
            names = get(f"/oauth2/{kind}s")[f"{kind}s"]
            if not names:
                raise LoginFailed(f"you have no {kind}: ask whoever runs the service")
            return str(names[0])

        query = {
            "grant_type": "client_credentials",
            "group": group or first("group"),
            "setup": setup or first("setup"),
        }
        return _with_end(get("/oauth2/token", query))


def login(
    server: str,
    *,
    ca: Optional[str] = None,
    cert: Optional[tuple[str, str]] = None,
    group: Optional[str] = None,
    setup: Optional[str] = None,
    profile: Optional[str] = None,
    show: Callable[[str], object] = print,
) -> Identity:
    """Signs in like ``gridgate login``, in a browser (device flow) or by certificate, and keeps the token for both.

    Answers who one is now.
    ``show`` is told where to go. Raises LoginFailed when it is denied or not decided in time.
    """
    server, path = base_url(server), login_path(profile)
    ca = None if ca is None else str(Path(ca).resolve())
    kept: dict[str, Any] = {"server": server, "ca": ca, "group": group, "setup": setup}
    if cert is not None:
        kept["cert"] = [str(Path(file).resolve()) for file in cert]
        token = token_by_certificate(server, cert, ca=ca, group=group, setup=setup)
    else:
        token = _token_by_device(kept, show)
    write_login(path, {**{k: v for k, v in kept.items() if v is not None}, "token": token})
    return Identity.of(server, token["access_token"])


def _token_by_device(to: dict[str, Any], show: Callable[[str], object]) -> dict[str, Any]:
    wish = {name: to[name] for name in ("group", "setup") if to.get(name)}
    with httpx.Client(verify=verify_with(to.get("ca")), timeout=_TIMEOUT) as http:
        form = {"client_id": COMMAND_CLIENT, **wish}
        begun = _sent(http, "POST", f"{to['server']}/oauth2/device_authorization", data=form)
        if begun.status_code != 200:
            raise LoginFailed(f"login failed: {problem_of(begun)}")
        device = begun.json()
        address = device.get("verification_uri_complete") or device["verification_uri"]
        show(f"Open {address} (code {device['user_code']})")
        form = {"grant_type": DEVICE_GRANT, "device_code": device["device_code"], "client_id": COMMAND_CLIENT}
        pause, end = float(device.get("interval", 5)), time.monotonic() + float(device["expires_in"])
        while time.monotonic() < end:
            time.sleep(pause)
            try:
                answer = _sent(http, "POST", f"{to['server']}/oauth2/token", data=form)
            except UnreachableError:
                pause = min(pause * 2, 60.0)  # RFC 8628 §3.5
                continue
            if answer.status_code == 200:
                return _with_end(answer.json())
            problem = problem_of(answer)
            reason = problem.problem.get("error")
            if reason == "slow_down":
                pause += 5
            elif reason != "authorization_pending" and problem.status < 500:
                said = {
                    "access_denied": "it was denied in the browser",
                    "expired_token": "the code has expired",
                }
                raise LoginFailed(f"login failed: {said.get(str(reason), str(problem))}") from problem
    raise LoginFailed("login failed: nobody entered the code in time; log in again")


def ssl_context(ca: Optional[str]) -> ssl.SSLContext:
    """What servers are verified with: a CA file, a directory of CAs by their hashes, or the machine's."""
    is_directory = ca is not None and Path(ca).is_dir()
    try:
        return ssl.create_default_context(capath=ca) if is_directory else ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as cause:
        raise ValueError(f"the CA file {ca} cannot be read: {cause}") from cause


def verify_with(ca: Optional[str]) -> Verify:
    """The same for httpx; without a CA file the machine's."""
    return ssl_context(ca)


def _sent(http: httpx.Client, method: str, url: str, **options: Any) -> httpx.Response:
    try:
        return http.request(method, url, headers={"Accept": "application/json"}, **options)
    except httpx.HTTPError as cause:
        raise unreachable(url, cause) from cause


def _with_end(token: Any) -> dict[str, Any]:
    if not isinstance(token, dict) or not isinstance(token.get("access_token"), str):
        raise LoginFailed("the service has answered without a token: is it a Gridgate?")
    return {**token, "expires_at": int(time.time() + float(token.get("expires_in", 0)))}
