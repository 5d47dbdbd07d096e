"""A proxy before the real API server that breaks what it is told to break.

Everything is passed on to the server and back but for requests that a fault picks out by path and
page. The server's answer is real; the fault is what a network, a balancer or a login page makes
of it.
"""

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import urllib3


class Exchange(msgspec.Struct):
    """One request and the server's answer to it, before a fault has its way.

    ``page`` counts the pages of this path, from 0; ``tries`` how often this page was asked for.
    """

    path: str
    query: dict[str, list[str]]
    page: int
    tries: int
    status: int
    headers: dict[str, str]
    body: bytes


class Broken(msgspec.Struct):
    """What is sent instead. ``length`` is the Content-Length that is told, true or not."""

    status: int
    headers: dict[str, str]
    body: bytes
    length: int | None = None
    cut: int | None = None
    drip: float = 0.0
    wait: float = 0.0
    reset: bool = False


Fault = Callable[[Exchange], Broken | None]


class FaultProxy(ThreadingHTTPServer):
    """Speaks plain HTTP, or TLS with a certificate of its own, and passes on to one server."""

    daemon_threads = True

    def __init__(self, target: str, ca_file: Path, token: str, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.token = token
        self.fault = fault
        self.pool = urllib3.PoolManager(ca_certs=str(ca_file), retries=False)
        self.pages: dict[str, list[str]] = {}
        self.tries: dict[tuple[str, str], int] = {}
        self.requests = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens, in plain HTTP."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some faults are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultProxy

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _pass_on(self, body: bytes | None) -> None:
        proxy = self.server
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        token = query.get("continue", [""])[0]
        with proxy.lock:
            proxy.requests += 1
            tokens = proxy.pages.setdefault(parts.path, [])
            if token not in tokens:
                tokens.append(token)
            page = tokens.index(token)
            tries = proxy.tries.get((parts.path, token), 0)
            proxy.tries[parts.path, token] = tries + 1
        headers = {"Authorization": f"Bearer {proxy.token}", "User-Agent": "kauditor-fault-proxy"}
        for name in ("Accept", "Content-Type"):
            if self.headers.get(name):
                headers[name] = self.headers[name]
        answer = proxy.pool.request(
            self.command, proxy.target + self.path, body=body, headers=headers, timeout=30
        )
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name.lower() not in ("content-length", "transfer-encoding", "connection")
        }
        exchange = Exchange(parts.path, query, page, tries, answer.status, kept, answer.data)
        self._send(proxy.fault(exchange) or Broken(answer.status, kept, answer.data))

    def _send(self, broken: Broken) -> None:
        time.sleep(broken.wait)
        if broken.reset:
            # A reset, not a polite end: linger 0 sends RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if broken.cut is None:
                self.close_connection = True
                self.connection.close()
                return
        self.send_response(broken.status)
        for name, value in broken.headers.items():
            self.send_header(name, value)
        length = len(broken.body) if broken.length is None else broken.length
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if broken.drip:
            for start in range(0, len(broken.body), 64):
                self.wfile.write(broken.body[start : start + 64])
                self.wfile.flush()
                time.sleep(broken.drip)
            return
        self.wfile.write(broken.body if broken.cut is None else broken.body[: broken.cut])
        if broken.cut is not None or length != len(broken.body):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@contextmanager
def fault_proxy(
    target: str, ca_file: Path, token: str, fault: Fault, tls: tuple[Path, Path] | None = None
) -> Iterator[FaultProxy]:
    """A proxy for one test; ``tls`` is (certificate, key)."""
    proxy = FaultProxy(target, ca_file, token, fault)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        proxy.socket = context.wrap_socket(proxy.socket, server_side=True)
    threading.Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
        proxy.pool.clear()


def changed(exchange: Exchange, change: Callable[[dict[str, Any]], None]) -> Broken:
    """The server's own answer with a change in its JSON."""
    document = json.loads(exchange.body)
    change(document)
    return Broken(exchange.status, exchange.headers, json.dumps(document).encode())


def answered(exchange: Exchange, status: int, body: bytes | None = None, **headers: str) -> Broken:
    """Another status, with a Status object unless a body is given."""
    told = {"kind": "Status", "apiVersion": "v1", "code": status, "message": "injected"}
    return Broken(
        status,
        {**exchange.headers, **{name.replace("_", "-"): value for name, value in headers.items()}},
        json.dumps(told).encode() if body is None else body,
    )
