"""The service of the tests: ``GRID_TEST_URL``, and ``GRID_TEST_PKI`` with the certificates of the demo."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

from gridgate import Client
from gridgate.login import token_by_certificate

#: The interpreter of the site's jobs.
JOB_PYTHON = "/usr/bin/python3"


class Service:
    """The service that is tested, and its certificates."""

    def __init__(self) -> None:
        self.url = os.environ["GRID_TEST_URL"]
        self.pki = Path(os.environ["GRID_TEST_PKI"])
        self.ca = str(self.pki / "ca.crt")

    def cert(self, name: str = "alice") -> tuple[str, str]:
        return str(self.pki / f"{name}.crt"), str(self.pki / f"{name}.key")

    def client(self, name: str = "alice", url: str | None = None, **options) -> Client:
        return Client(url or self.url, cert=self.cert(name), ca=self.ca, **options)


class Proxy:
    """A way to the service that can be cut and opened again."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.is_open = True
        self.taken = 0
        self.limit: int | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self, *, is_open: bool = True) -> None:
        """Breaks all connections; ``is_open``: whether new ones are taken."""
        self.is_open = is_open
        for pair in self._pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
        self._pairs = []

    def _serve(self) -> None:
        while True:
            here, _ = self._listener.accept()
            if not self.is_open:
                here.close()
                continue
            there = socket.create_connection(("127.0.0.1", self._to))
            self.taken += 1
            self._pairs.append((here, there))
            limit, self.limit = self.limit, None
            threading.Thread(target=_pump, args=(here, there, None), daemon=True).start()
            threading.Thread(target=_pump, args=(there, here, limit), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket, limit: int | None) -> None:
    passed = 0
    try:
        while piece := source.recv(65536):
            passed += len(piece)
            target.sendall(piece)
            if limit is not None and passed > limit:
                break
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue


@pytest.fixture
def group():
    """A job group that no other test has, nor another run against the same service."""
    return f"group-{secrets.token_hex(8)}"


@pytest.fixture(scope="session")
def service() -> Service:
    return Service()


@pytest.fixture(scope="session")
def grid(service: Service):
    with service.client() as client:
        yield client


@pytest.fixture
def folder(grid: Client):
    """A directory of the catalogue that no other test has, and that goes with what is in it."""
    path = f"/vo/a/files-{secrets.token_hex(4)}"
    yield path
    with suppress(FileNotFoundError):
        fsspec.filesystem("gridgate", client=grid, skip_instance_cache=True).rm(f"gridgate://{path}", recursive=True)


@pytest.fixture
def proxy(service: Service) -> Proxy:
    return Proxy(int(service.url.rsplit(":", 1)[1]))


@pytest.fixture
def troubled():
    """A service that gives the answers of ``answers`` in turn, and keeps what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        answers = []
        asked = []

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.asked.append((self.command, self.path, dict(self.headers), body))
            status, headers, text = self.answers.pop(0)
            if status == 0:
                self.connection.close()
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            content = text if isinstance(text, bytes) else json.dumps(text).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_GET

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handler = Handler
    handler.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield handler
    server.shutdown()


@pytest.fixture(autouse=True)
def surroundings(service: Service, monkeypatch, tmp_path, request):
    """No login of whoever runs the tests; pages of the documentation have a token."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "BEARER_TOKEN", "BEARER_TOKEN_FILE", "GRID_SERVER", "X509_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    if request.node.name.endswith("README.md"):
        monkeypatch.setenv("GRID_SERVER", service.url)
        monkeypatch.setenv("SSL_CERT_FILE", service.ca)
        token = token_by_certificate(service.url, service.cert(), ca=service.ca)["access_token"]
        monkeypatch.setenv("BEARER_TOKEN", token)


@pytest.fixture
def job_python() -> str:
    """The interpreter of jobs, where it is of this one's version, as map demands."""
    import subprocess

    told = subprocess.run([JOB_PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    if told.stdout.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip(f"{JOB_PYTHON} is not of the version of {sys.executable}")
    return JOB_PYTHON
