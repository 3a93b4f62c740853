"""Storage elements that are played: WebDAV at ``/a`` and ``/b``, S3 at ``/bucket``, with ranges, in this process."""

from __future__ import annotations

import base64
import json
import re
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


@dataclass
class Asked:
    """A request as it came, names of headers as they were spelled; ``sent`` are bytes of files in the answer."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    sent: int = 0


class PlayedStorage:
    """Keeps what is put, once.

    ``faults``: statuses of the next requests with a method, 0 for no answer; ``lies``: bytes instead of a file's; ``sends``:
    clients are sent to its other address, with a key in it.
    """

    def __init__(self, port: int) -> None:
        self.kept: dict[str, bytes] = {}
        self.asked: list[Asked] = []
        self.faults: list[tuple[str, int]] = []
        self.lies: dict[str, bytes] = {}
        self.has_ranges = True
        self.sends = False
        self._server = _Server(("127.0.0.1", port), type("Answers", (_Answers,), {"storage": self}))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def of_clients(self, method: str = "GET") -> list[Asked]:
        """What the client asked: the service has a name of its own."""
        return [one for one in self.asked if one.method == method and "gridgate-python" in one.headers.get("User-Agent", "")]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client has gone away, as it may."""


class _Answers(BaseHTTPRequestHandler):
    storage: PlayedStorage
    protocol_version = "HTTP/1.1"

    def _begin(self) -> tuple[Asked, str]:
        path = unquote(urlsplit(self.path).path)
        asked = Asked(self.command, path, dict(self.headers.items()))
        self.storage.asked.append(asked)
        return asked, path

    def _may(self, path: str, right: str) -> bool:
        if self.path.endswith("?key=1"):
            return "Authorization" not in self.headers
        if path.startswith("/bucket/"):
            return "X-Amz-Signature=" in self.path or self.headers.get("Authorization", "").startswith("AWS4")
        token = self.headers.get("Authorization", "").rpartition(" ")[2]
        if token.count(".") != 2:
            return False
        payload = token.split(".")[1]
        scopes = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["scope"].split()
        return f"storage.{right}:{path[2:]}" in [unquote(scope) for scope in scopes]

    def _sent(self, asked: Asked) -> bool:
        """Sends a client on."""
        is_sent = self.storage.sends and "?" not in self.path and asked in self.storage.of_clients(asked.method)
        if is_sent:
            port = self.server.server_address[1]
            self._say(307, headers={"Location": f"http://127.0.0.1:{port}{self.path}?key=1"})
        return is_sent

    def _say(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _fault(self, asked: Asked) -> int | None:
        faults = self.storage.faults
        if faults and faults[0][0] == asked.method and asked in self.storage.of_clients(asked.method):
            return faults.pop(0)[1]
        return None

    def do_PUT(self) -> None:
        asked, path = self._begin()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self._sent(asked):
            return
        fault = self._fault(asked)
        if fault is not None or not self._may(path, "create") or path in self.storage.kept:
            self._say(403 if fault is None else fault)
            return
        self.storage.kept[path] = body
        self._say(201)

    def do_DELETE(self) -> None:
        _, path = self._begin()
        self._say(204 if self.storage.kept.pop(path, None) is not None else 404)

    def do_GET(self) -> None:
        asked, path = self._begin()
        if self._sent(asked):
            return
        fault = self._fault(asked)
        kept = self.storage.kept.get(path)
        if kept is None or fault is not None or not self._may(path, "read"):
            self._say(404 if kept is None else 403 if fault is None else fault)
            return
        content = self.storage.lies.get(path, kept)
        headers = {"Digest": f"adler32={zlib.adler32(content):08x}"} if self.headers.get("Want-Digest") else {}
        if self.command == "HEAD":
            self.send_response(200)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            return
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        status, body = 200, content
        if part and self.storage.has_ranges:
            start, end = int(part[1]), int(part[2]) + 1
            status, body = 206, content[start:end]
            headers["Content-Range"] = f"bytes {start}-{start + len(body) - 1}/{len(content)}"
        asked.sent = len(body)
        self._say(status, body, headers)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass
