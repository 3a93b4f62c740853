import json
import os
import subprocess
import sys

import pytest

from gridgate import Client, LoginFailed, NotLoggedIn, Unauthorized, login
from gridgate.login import login_path, read_login, token_by_certificate, while_locked, write_login

USE = "from gridgate import Client; grid = Client(); grid.summary(); print(grid._source.token())"


def signed_in(service):
    login(service.url, ca=service.ca, cert=service.cert())
    return login_path()


def expire(path):
    kept = read_login(path)
    write_login(path, {**kept, "token": {**kept["token"], "expires_at": 1}})
    return kept["token"]["access_token"]


def test_a_login_is_kept_for_the_user_only(service):
    path = signed_in(service)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with Client() as grid:
        assert grid.url == service.url
        grid.summary()
    with pytest.raises(NotLoggedIn, match="not of https://localhost:1"):
        Client("https://localhost:1")
    login(service.url, ca=service.ca, cert=service.cert("bob"), profile="other")
    with Client(profile="other") as grid:
        assert grid.wait(grid.submit({"Executable": "/bin/true"}))[0].owner == "bob"
    assert login_path("other") == path.parent / "profiles" / "other.json"
    assert login_path("default") == path
    assert (path.parent / "profiles").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["", "../x", ".x", "a/b", "x\n", "é", "a" * 65])
def test_a_profile_has_a_name_that_a_file_may_have(name):
    with pytest.raises(ValueError, match="no name of a profile"):
        Client(profile=name)


def test_the_profile_of_the_surroundings_is_that_of_the_command(service, monkeypatch):
    monkeypatch.setenv("GRIDGATE_PROFILE", "a.b-c_1")
    login(service.url, ca=service.ca, cert=service.cert("bob"))
    monkeypatch.delenv("GRIDGATE_PROFILE")
    with pytest.raises(NotLoggedIn, match="run `gridgate login"):
        Client()
    for given in ({"profile": "a.b-c_1"}, {}):
        with Client(**given) as grid:
            assert grid.wait(grid.submit({"Executable": "/bin/true"}))[0].owner == "bob"
        monkeypatch.setenv("GRIDGATE_PROFILE", "a.b-c_1")
    with pytest.raises(NotLoggedIn, match=r"--profile none` or gridgate.login\(url, profile=\"none\"\)"):
        Client(profile="none")


def test_an_ended_token_is_renewed_once_by_processes_side_by_side(service):
    path = signed_in(service)
    old = expire(path)
    environment = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}
    children = [
        subprocess.Popen([sys.executable, "-c", USE], stdout=subprocess.PIPE, env=environment, text=True) for _ in range(4)
    ]
    tokens = {child.communicate(timeout=60)[0].strip() for child in children}
    assert tokens == {read_login(path)["token"]["access_token"]}
    assert old not in tokens
    assert [file.name for file in path.parent.iterdir()] == ["login.json"]


def test_a_lock_that_was_left_behind_is_taken_over(service):
    path = signed_in(service)
    expire(path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    lock = path.with_name("login.json.lock")
    lock.write_text(f"{ended.pid} {os.uname().nodename}")
    with Client() as grid:
        grid.summary()
    assert not lock.exists()
    with while_locked(lock):
        assert lock.stat().st_mode & 0o777 == 0o600
    assert not lock.exists()


@pytest.mark.parametrize("size, name", [(0, "login.json.lock"), (512, "login.json")])
def test_on_a_full_disk_the_login_stays_and_nothing_is_left_behind(service, size, name):
    path = signed_in(service)
    expire(path)
    before = path.read_bytes()
    words = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); {USE}"
    environment = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, env=environment, text=True, timeout=60)
    last = ended.stderr.strip().splitlines()[-1]
    fault = f"{path.with_name(name)} cannot be written (EFBIG): the login cannot be renewed"
    assert last == f"gridgate.errors.LoginFailed: {fault}"
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["login.json"]


def test_a_login_that_cannot_be_written_is_told(service, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(LoginFailed, match=r"login.json cannot be written \(ENOTDIR\): there is no new login"):
        signed_in(service)


def test_tokens_of_the_surroundings(service, monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", service.ca)
    token = token_by_certificate(service.url, service.cert(), ca=service.ca)["access_token"]
    file = tmp_path / "token"
    file.write_text(f"  {token}\n")
    monkeypatch.setenv("BEARER_TOKEN_FILE", str(file))
    with Client(service.url) as grid:
        grid.summary()
        file.write_text("nonsense")
        with pytest.raises(Unauthorized) as caught:
            grid.summary()
        assert caught.value.code == "auth.token-invalid"
        file.write_text(token)
        grid.summary()
        file.write_text("two words")
        with pytest.raises(NotLoggedIn, match="holds no token"):
            grid.summary()
    monkeypatch.setenv("BEARER_TOKEN", token)
    monkeypatch.delenv("BEARER_TOKEN_FILE")
    with Client(service.url) as grid:
        grid.summary()
    monkeypatch.delenv("BEARER_TOKEN")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / f"bt_u{os.getuid()}").write_text(token)
    with Client(service.url) as grid:
        grid.summary()


def test_what_is_no_login_says_so(service, tmp_path):
    with pytest.raises(NotLoggedIn, match="run `gridgate login"):
        Client()
    path = login_path()
    path.parent.mkdir(parents=True)
    whole = json.dumps({"server": service.url, "ca": service.ca, "token": {"access_token": "x", "expires_at": 1}})
    for damaged in (b"", whole[: len(whole) // 2].encode(), b"[]", b"\xff", b"[" * 100_000):
        path.write_bytes(damaged)
        with pytest.raises(NotLoggedIn) as told:
            Client()
        again = "log in again by `gridgate login --server URL` or gridgate.login(url)"
        assert str(told.value) == f"the login in {path} is damaged: {again}"
    path.unlink()
    path.mkdir()
    with pytest.raises(NotLoggedIn, match=r"login.json cannot be read \(Is a directory\)"):
        Client()
    path.rmdir()
    path.write_text(whole)
    with Client() as grid, pytest.raises(NotLoggedIn, match="the login has ended"):
        grid.summary()
    with pytest.raises(LoginFailed, match="login refused with"):
        token_by_certificate(service.url, service.cert("stranger"), ca=service.ca)
    with pytest.raises(LoginFailed, match="cannot be used"):
        token_by_certificate(service.url, (service.ca, service.ca), ca=service.ca)


@pytest.mark.parametrize("url", ["ftp://a", "localhost", "http://grid.example.org", "https://me@grid.example.org"])
def test_no_token_goes_to_such_an_address(url):
    with pytest.raises(ValueError):
        Client(url, token="secret")


def test_what_excludes_each_other():
    with pytest.raises(ValueError, match="exclude each other"):
        Client("https://localhost", token="a", profile="b")
    with pytest.raises(ValueError, match="group and setup belong to cert"):
        Client("https://localhost", token="a", group="b")
    with pytest.raises(ValueError, match="needs the address"):
        Client(token="a")
