"""A small API server with scripted answers: the only fake in these tests, at the HTTP door."""

import http.server
import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

VERSION = {"gitVersion": "v1.34.2", "major": "1", "minor": "34"}


@dataclass
class Asked:
    """One request, as it came in."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    at: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def all_headers(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class Says:
    """One scripted answer. ``how`` is the way in which it goes wrong, "" for not at all."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    how: str = ""
    seconds: float = 0.0

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Answering = Says | Callable[[Asked], Says]


class Server:
    """Answers by path; what is not scripted is a 404. Keeps what it was asked."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._scripts: dict[str, list[Answering]] = {}
        self.says("/version", Says(VERSION))
        self.says(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            Says({"status": {"userInfo": {"username": "auditor"}}}, 201),
        )
        self._http = _Listener(("127.0.0.1", 0), self, tls)
        self.port = self._http.server_address[1]
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def says(self, path: str, *answers: Answering) -> None:
        """Answers to ``path``, one after another; the last one stays."""
        self._scripts[path] = list(answers)

    def answer(self, asked: Asked) -> Says:
        with self._lock:
            self.asked.append(asked)
            script = self._scripts.get(asked.path)
            if not script:
                return Says(status(404, "the server could not find it"), 404)
            says = script.pop(0) if len(script) > 1 else script[0]
        return says if isinstance(says, Says) else says(asked)

    def enter(self) -> None:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def leave(self) -> None:
        with self._lock:
            self._at_once -= 1

    def requests(self, path: str) -> list[Asked]:
        return [one for one in self.asked if one.path == path]

    def close(self) -> None:
        """Gone, with all its open connections: as if the process was killed."""
        self._http.shutdown()
        self._http.drop_all()
        self._http.server_close()


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 32

    def __init__(self, address: Any, door: Server, tls: ssl.SSLContext | None) -> None:
        self.door = door
        self.tls = tls
        self.open: set[Any] = set()
        super().__init__(address, _Handler)

    def drop_all(self) -> None:
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def server_close(self) -> None:
        # The parent waits for the threads of all requests, some of which sleep on purpose.
        self.socket.close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is not None:
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except OSError:
                return
        self.open.add(request)
        try:
            super().finish_request(request, client_address)
        except OSError:
            pass
        finally:
            self.open.discard(request)
            request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what many tests are about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        door = self.server.door
        door.enter()
        try:
            asked = Asked(self.command, self.path, list(self.headers.items()), body)
            self._give(door.answer(asked))
        finally:
            door.leave()

    do_POST = do_GET
    do_PUT = do_GET

    def do_CONNECT(self) -> None:
        """As a proxy: hand everything through to the port that was asked for on this machine."""
        door = self.server.door
        door.asked.append(Asked("CONNECT", self.path, list(self.headers.items()), b""))
        port = int(self.path.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as far:
            self.send_response(200, "Connection established")
            self.end_headers()
            back = threading.Thread(target=_pour, args=(far, self.connection), daemon=True)
            back.start()
            _pour(self.connection, far)
            back.join(2)
        self.close_connection = True

    def _give(self, says: Says) -> None:
        raw = says.raw
        if says.how == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
            return
        if says.how == "hang":
            time.sleep(says.seconds)
        self.send_response(says.status)
        for name, value in says.headers.items():
            self.send_header(name, value)
        if not any(name.lower() == "content-type" for name in says.headers):
            self.send_header("Content-Type", "application/json")
        if says.how == "chunked-cut":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
            self.close_connection = True
            return
        if says.how == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(raw), 1000):
                piece = raw[start : start + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        length = len(raw) + (100 if says.how == "too-long" else 0)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if says.how == "cut":
            self.wfile.write(raw[: len(raw) // 2])
            self.close_connection = True
        elif says.how == "drip":
            step = max(1, len(raw) // 20)
            for start in range(0, len(raw), step):
                self.wfile.write(raw[start : start + step])
                time.sleep(says.seconds / 20)
        else:
            self.wfile.write(raw)
            self.close_connection = says.how == "too-long"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is pytest's."""


def _pour(source: socket.socket, sink: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def status(code: int, message: str = "", **metadata: Any) -> dict[str, Any]:
    """A Kubernetes ``Status``."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata,
        "status": "Failure",
        "message": message,
        "code": code,
    }


def page(
    names: list[str], token: str = "", remaining: int | None = None, version: str = "100"
) -> bytes:
    """One page of a PodList, in the bytes of an API server: no spaces, metadata first."""
    meta: dict[str, Any] = {"resourceVersion": version}
    if token:
        meta["continue"] = token
    if remaining is not None:
        meta["remainingItemCount"] = remaining
    document = {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": meta,
        "items": [{"metadata": {"name": name}} for name in names],
    }
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def listed(pages: list[bytes]) -> list[str]:
    """The names on all pages."""
    return [item["metadata"]["name"] for one in pages for item in json.loads(one)["items"] or []]


class Paged:
    """Serves a list page by page, as an API server does. The token is the number of the next."""

    def __init__(self, objects: int, size: int | None = None) -> None:
        self.names = [f"pod-{number}" for number in range(objects)]
        self.size = size

    def __call__(self, asked: Asked) -> Says:
        start = int(asked.query.get("continue", "0"))
        end = start + (self.size or int(asked.query["limit"]))
        left = len(self.names) - end
        return Says(
            page(
                self.names[start:end],
                token=str(end) if left > 0 else "",
                remaining=left if left > 0 else None,
            )
        )


@dataclass
class Keys:
    """A throw-away authority, a server certificate for 127.0.0.1 and kauditor.test, a client's."""

    folder: Path

    def server_context(self, *, wants_client: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        if wants_client:
            context.load_verify_locations(self.folder / "ca.crt")
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def make_keys(folder: Path) -> Keys:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed, which makes the certificates")

    def run(*words: str) -> None:
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run(
        *("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2"),
        *("-subj", "/CN=kauditor-test-authority"),
    )
    for name, subject, extension in (
        ("server", "/CN=server", "subjectAltName=IP:127.0.0.1,DNS:kauditor.test"),
        ("client", "/O=readers/CN=auditor", "extendedKeyUsage=clientAuth"),
    ):
        run("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        (folder / f"{name}.ext").write_text(extension)
        run(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-out", f"{name}.crt", "-days", "2", "-extfile", f"{name}.ext"),
        )
    return Keys(folder)


def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(tls)
    try:
        yield server
    finally:
        server.close()
