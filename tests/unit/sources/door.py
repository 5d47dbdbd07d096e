"""An HTTP server that answers as a test tells it to: the only place where a cluster is faked."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

# Kept, because tests shorten the waits of the source.
_sleep = time.sleep


class Asked(msgspec.Struct, frozen=True):
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, or one way to fail.

    ``cut`` sends only so many bytes of the body, ``drip`` waits so long between bytes, ``reset``
    closes the connection without a word, ``wait`` holds the answer back.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = {}
    cut: int | None = None
    drip: float = 0.0
    reset: bool = False
    wait: float = 0.0


Script = Callable[[Asked], Reply]


class Door(ThreadingHTTPServer):
    """Answers by a script and remembers what was asked, and how much of it at once."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.asked: list[Asked] = []
        self.inflight = self.most_inflight = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def lists(self) -> list[Asked]:
        """Requests other than the greeting and the question who we are."""
        return [
            one for one in self.asked if one.path != "/version" and "selfsubject" not in one.path
        ]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Door

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer()

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        asked = Asked(self.command, parts.path, parse_qs(parts.query), dict(self.headers))
        door = self.server
        with door.lock:
            door.asked.append(asked)
            door.inflight += 1
            door.most_inflight = max(door.most_inflight, door.inflight)
        try:
            self._send(door.script(asked))
        finally:
            with door.lock:
                door.inflight -= 1

    def _send(self, reply: Reply) -> None:
        _sleep(reply.wait)
        if reply.reset:
            self.close_connection = True
            self.connection.close()
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for key, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.cut is not None:
            self.wfile.write(body[: reply.cut])
            self.close_connection = True
        elif reply.drip:
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                _sleep(reply.drip)
        else:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@contextmanager
def door(script: Script) -> Iterator[Door]:
    """A server for one test."""

    def answered(asked: Asked) -> Reply:
        if asked.path == "/version":
            return Reply(body={"gitVersion": "v1.34.2"})
        if "selfsubjectreviews" in asked.path:
            return Reply(status=201, body={"status": {"userInfo": {"username": "tester"}}})
        return script(asked)

    server = Door(answered)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def page(names: range, token: str = "", remaining: int | None = None) -> Reply:
    """A page of pods with these numbers for names."""
    meta: dict[str, Any] = {"resourceVersion": "7"}
    if token:
        meta["continue"] = token
    if remaining is not None:
        meta["remainingItemCount"] = remaining
    items = [{"metadata": {"name": f"pod-{n}", "namespace": "web"}} for n in names]
    return Reply(body={"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": items})


def status(code: int, *, token: str = "", **headers: str) -> Reply:
    """A Status object."""
    meta = {"continue": token} if token else {}
    body = {"kind": "Status", "code": code, "message": "said so", "metadata": meta}
    return Reply(
        status=code,
        body=body,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
