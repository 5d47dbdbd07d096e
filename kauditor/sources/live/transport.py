"""One request at a time, paced: raw bytes through the official client's connection pool.

Figures: the server's own request time-out is 60 s, so 65 s let its 504 be seen; client-go's
default pace is 5 requests a second with bursts of 10.
"""

import json
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import msgspec

from kauditor.model.source import Deadline, Refusal

log = logging.getLogger("kauditor")

CONNECT_SECONDS = 5.0
CEILING_BYTES = 256 * 2**20
THROTTLED_TRIES = 5
BROKEN_TRIES = 3
# The only writes that are ever sent: questions about one's own rights and name.
REVIEWS = frozenset(
    f"/apis/{group}"
    for group in (
        "authorization.k8s.io/v1/selfsubjectaccessreviews",
        "authorization.k8s.io/v1/selfsubjectrulesreviews",
        "authentication.k8s.io/v1/selfsubjectreviews",
    )
)


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How gently to ask. ``qps`` 0 means as fast as the server answers."""

    qps: float = 5.0
    burst: int = 10
    inflight: int = 2

    @property
    def page_seconds(self) -> float:
        """Least time between two pages of one list: 10 a second at the default pace."""
        return 1 / (2 * self.qps) if self.qps else 0.0


class Answer(msgspec.Struct, frozen=True):
    """Status, headers and body of one answer."""

    status: int
    headers: Any
    body: bytes


class Transport:
    """Sends requests for all threads of a scan; counts what they cost."""

    def __init__(
        self,
        open_client: Callable[[], Any],
        *,
        headers: list[tuple[str, str]],
        user_agent: str,
        pace: Pace,
        request_timeout: float | None,
        deadline: float | None,
        gzip: bool,
    ) -> None:
        self._open_client = open_client
        self._client = open_client()
        self._headers = headers
        self._user_agent = user_agent
        self.pace = pace
        self._timeout = request_timeout
        self.began = time.monotonic()
        self._deadline = self.began + deadline if deadline else None
        self._gzip = gzip
        self._slots = threading.Semaphore(pace.inflight)
        self._lock = threading.Lock()
        self._tokens = float(pace.burst)
        self._filled = self.began
        self.requests = 0
        self.bytes = 0
        self.waited = 0.0
        self.throttled = 0
        self.priority_level = ""

    @property
    def server(self) -> str:
        """Scheme, host and port of the server, without anything secret."""
        from urllib.parse import urlsplit

        parts = urlsplit(str(self._client.configuration.host))
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"

    def get(
        self,
        path: str,
        query: list[tuple[str, str]] | None = None,
        *,
        accept: str = "application/json",
        paced: bool = True,
        fine: tuple[int, ...] = (),
        ceiling: int = CEILING_BYTES,
    ) -> Answer:
        """GET, retried where that helps. Statuses of 400 and more raise unless in ``fine``.

        Raises:
            Refusal: the server said no, or nothing that can be used.
            Deadline: the time for the whole scan is over.
        """
        return self._send("GET", path, query, None, accept, paced, fine, ceiling)

    def review(self, path: str, body: dict[str, Any]) -> Answer:
        """One of the three reviews about oneself; nothing else is ever posted."""
        if path not in REVIEWS:
            raise AssertionError(f"{path} is no review: kauditor writes nothing")
        return self._send(
            "POST", path, None, json.dumps(body).encode(), "application/json", True, (), 2**20
        )

    def _send(
        self,
        method: str,
        path: str,
        query: list[tuple[str, str]] | None,
        body: bytes | None,
        accept: str,
        paced: bool,
        fine: tuple[int, ...],
        ceiling: int,
    ) -> Answer:
        busy = broken = refreshed = 0
        while True:
            if paced:
                self._take_token()
            try:
                answer = self._once(method, path, query, body, accept, ceiling)
            except _Broken as error:
                broken += 1
                if broken >= BROKEN_TRIES or error.final:
                    raise Refusal(
                        "unreachable", f"GET {path} broke off: {error}.", lift="Scan again."
                    ) from None
                self._sleep(0.2 * 2**broken * random.uniform(0.5, 1.5))  # noqa: S311
                continue
            status = answer.status
            if status < 300 or status in fine:
                return answer
            if status in (429, 503):
                busy += 1
                with self._lock:
                    self.throttled += status == 429
                if busy >= THROTTLED_TRIES:
                    raise Refusal(
                        "unreachable",
                        f"The server was too busy {busy} times for GET {path} ({status}).",
                        lift="Scan again at a quieter time, or with --gentle.",
                    )
                self._sleep(_retry_after(answer) * random.uniform(1.0, 1.3))  # noqa: S311
                continue
            if status in (500, 502, 504) and broken + 1 < BROKEN_TRIES:
                broken += 1
                self._sleep(0.2 * 2**broken * random.uniform(0.5, 1.5))  # noqa: S311
                continue
            if status == 401 and not refreshed:
                # A token may have expired while we read; a plugin or file may have a new one.
                refreshed = 1
                self._reopen()
                continue
            raise _refusal(method, path, answer)

    def _reopen(self) -> None:
        try:
            self._client = self._open_client()
        except ValueError:
            log.info("the credentials could not be loaded again")

    def _once(
        self,
        method: str,
        path: str,
        query: list[tuple[str, str]] | None,
        body: bytes | None,
        accept: str,
        ceiling: int,
    ) -> Answer:
        import urllib3

        if method != "GET" and path not in REVIEWS:
            raise AssertionError(f"{method} {path}: kauditor writes nothing")
        headers, base = self._prepared(accept)
        if body is not None:
            headers.add("Content-Type", "application/json")
        url = base + path
        if query:
            url += ("&" if "?" in path else "?") + urlencode(query)
        with self._slot():
            began = time.monotonic()
            until = self._until(began)
            try:
                response = self._client.rest_client.pool_manager.request(
                    method,
                    url,
                    headers=headers,
                    body=body,
                    timeout=urllib3.Timeout(
                        connect=min(CONNECT_SECONDS, self._left(until, began) or CONNECT_SECONDS),
                        read=self._left(until, began),
                    ),
                    retries=False,
                    redirect=False,
                    preload_content=False,
                )
                try:
                    content = self._content(response, until, ceiling)
                finally:
                    response.release_conn()
            except urllib3.exceptions.HTTPError as error:
                self._count(path, 0, 0, began)
                self._check_deadline()
                raise _broken(error) from None
            except TimeoutError as error:
                self._count(path, 0, 0, began)
                self._check_deadline()
                raise _Broken(f"no answer within {self._timeout or 0:g} s", final=True) from error
            self._count(path, response.status, len(content), began)
        level = response.headers.get("X-Kubernetes-Pf-Prioritylevel-Uid")
        if level:
            self.priority_level = level
        return Answer(response.status, response.headers, content)

    def _prepared(self, accept: str) -> tuple[Any, str]:
        import urllib3

        headers = urllib3.HTTPHeaderDict()
        authorized: dict[str, str] = {}
        with self._lock:
            # Runs the token refresh, which is not safe for two threads at once.
            self._client.update_params_for_auth(authorized, [], ["BearerToken"], "", "GET", None)
            base = str(self._client.configuration.host).rstrip("/")
        for key, value in (*authorized.items(), *self._headers):
            headers.add(key, value)
        headers.add("Accept", accept)
        headers.add("User-Agent", self._user_agent)
        if self._gzip:
            headers.add("Accept-Encoding", "gzip")
        return headers, base

    def _content(self, response: Any, until: float | None, ceiling: int) -> bytes:
        chunks, size = [], 0
        # read1 gives what has come; a read of a fixed size would wait for a body that drips in.
        while chunk := response.read1(2**16, decode_content=True):
            chunks.append(chunk)
            size += len(chunk)
            if size > ceiling:
                raise _Broken(f"the answer is larger than {ceiling >> 20} MiB", final=True)
            # A body that drips in byte by byte never times out by itself.
            if until is not None and time.monotonic() > until:
                raise TimeoutError
        return b"".join(chunks)

    def _until(self, began: float) -> float | None:
        ends = [
            end for end in (self._deadline, began + self._timeout if self._timeout else None) if end
        ]
        return min(ends, default=None)

    def _left(self, until: float | None, now: float) -> float | None:
        return None if until is None else max(until - now, 0.01)

    def _slot(self) -> "_Slot":
        return _Slot(self)

    def _take_token(self) -> None:
        """Token bucket for everything but the pages of a list."""
        if not self.pace.qps:
            return
        while True:
            with self._lock:
                now = time.monotonic()
                self._tokens = min(
                    self._tokens + (now - self._filled) * self.pace.qps, float(self.pace.burst)
                )
                self._filled = now
                if self._tokens >= 1:
                    self._tokens -= 1
                    return
                wait = (1 - self._tokens) / self.pace.qps
            self._sleep(wait)

    def sleep_until(self, moment: float) -> None:
        """Wait for the next page's turn."""
        now = time.monotonic()
        if moment > now:
            self._sleep(moment - now)

    def _sleep(self, seconds: float) -> None:
        self._check_deadline()
        if self._deadline is not None:
            seconds = min(seconds, max(self._deadline - time.monotonic(), 0.0))
        with self._lock:
            self.waited += seconds
        time.sleep(seconds)
        self._check_deadline()

    def _check_deadline(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise Deadline

    def _count(self, path: str, status: int, size: int, began: float) -> None:
        with self._lock:
            self.requests += 1
            self.bytes += size
        log.debug("GET %s %s %s bytes %.3f s", path, status, size, time.monotonic() - began)


class _Slot:
    """One of the requests that may be in flight at once."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def __enter__(self) -> None:
        self.transport._check_deadline()
        self.transport._slots.acquire()

    def __exit__(self, *_: object) -> None:
        self.transport._slots.release()


class _Broken(Exception):
    """The connection or the answer broke; ``final`` where trying again can't help."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.final = final


def _broken(error: Exception) -> _Broken:
    from urllib3 import exceptions

    text = {
        exceptions.NameResolutionError: "the name of the server is not known",
        # A refused connection is a kind of connect time-out to urllib3, so it is asked first.
        exceptions.NewConnectionError: "the connection was refused",
        exceptions.ConnectTimeoutError: f"no connection within {CONNECT_SECONDS:g} s",
        exceptions.ReadTimeoutError: "the answer took too long",
        exceptions.IncompleteRead: "the answer was cut short",
        exceptions.ProxyError: "the proxy refused the connection",
        exceptions.SSLError: f"TLS failed: {_tls_reason(error)}",
    }
    for kind, words in text.items():
        if isinstance(error, kind):
            return _Broken(
                words, final=kind in (exceptions.SSLError, exceptions.NameResolutionError)
            )
    return _Broken("the connection broke")


def _tls_reason(error: Exception) -> str:
    text = str(error)
    for sign, words in (
        ("self-signed", "the certificate is self-signed"),
        ("self signed", "the certificate is self-signed"),
        ("unable to get local issuer", "the certificate's authority is not known"),
        ("Hostname mismatch", "the certificate is for another name"),
        ("IP address mismatch", "the certificate is for another address"),
        ("doesn't match", "the certificate is for another name"),
        ("expired", "the certificate has expired"),
        ("WRONG_VERSION", "the server does not speak TLS"),
        ("certificate required", "the server asks for a client certificate"),
    ):
        if sign in text:
            return words
    return "the handshake was refused"


def _retry_after(answer: Answer) -> float:
    text = str(answer.headers.get("Retry-After", "1"))
    return min(float(text), 32.0) if text.isdigit() else 1.0


class _Status(msgspec.Struct):
    message: str = ""


def _refusal(method: str, path: str, answer: Answer) -> Refusal:
    status = answer.status
    said = ""
    try:
        said = msgspec.json.decode(answer.body, type=_Status).message
    except msgspec.DecodeError:
        said = ""
    place = path.partition("?")[0]
    if status == 401:
        return Refusal(
            "forbidden",
            f"The server did not accept the credentials for GET {place} (401).",
            lift="Log in again; the credentials may have expired.",
        )
    if status == 403:
        return Refusal("forbidden", f"GET {place} is forbidden (403){_tail(said)}.")
    if 300 <= status < 400:
        return Refusal(
            "unreachable",
            f"GET {place} was sent elsewhere ({status}), as a login page does.",
            lift="Check that the server address is that of the API server.",
        )
    if status == 404:
        return Refusal("not-served", f"The server does not serve {place} (404).")
    return Refusal(
        "unreachable", f"GET {place} answered {status}{_tail(said)}.", lift="Scan again."
    )


def _tail(said: str) -> str:
    said = said.strip().rstrip(".")
    return f": {said[:300]}" if said else ""
