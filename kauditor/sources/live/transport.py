"""One request after another: paced, retried where that helps, counted, and read-only.

What comes back is bytes. An answer that means "no" comes back too, for the caller to judge;
`refusal` puts it into the words of a `Refusal`.
"""

import email.utils
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from kauditor.model.clean import clean
from kauditor.model.source import Refusal
from kauditor.sources.live.client import Client, Fault, LoginFailed, Reply
from kauditor.sources.live.kubeconfig import BadKubeconfig
from kauditor.sources.live.ledger import Ledger
from kauditor.sources.live.pacing import Pace

log = logging.getLogger("kauditor.sources.live")

CONNECT_SECONDS = 5.0
# Longer than the 60 s after which an API server gives up by itself, so that its own 504 is seen.
REQUEST_SECONDS = 65.0
# An API that ignores `limit` gives everything at once; more than this is not taken.
MOST_BYTES = 256 * 1024 * 1024
MOST_ERROR_BYTES = 64 * 1024
MOST_THROTTLED = 5
# Longer than the longest that API Priority and Fairness asks for (32 s).
LONGEST_RETRY_AFTER_SECONDS = 60.0
BACK_OFF_SECONDS = (0.25, 0.5, 1.0)
# After so many questions without an answer in a row, the rest is asked once and briefly.
MOST_DEAD = 2
DEAD_SECONDS = 5.0
# From this rate on, compression costs more time than it saves (measured: inflating runs at 479 MB/s).
FAST_BYTES_PER_SECOND = 100e6
BROKEN = frozenset({"cut", "garbled", "reset", "refused", "unreachable", "proxy", "dns"})

# A read-only tool may ask who it is and what it may do, and "create" is how that is asked.
REVIEWS = frozenset(
    {
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    }
)


class Sink(Protocol):
    """Takes a body in pieces, to keep less of it."""

    def feed(self, piece: bytes) -> None:
        """The next piece."""

    def kept(self) -> bytes:
        """What is left of it at its end."""


class Answer(msgspec.Struct, frozen=True):
    """A whole answer: status and body."""

    status: int
    body: bytes
    media_type: str = ""


class _Status(msgspec.Struct, frozen=True):
    """What is read of a Kubernetes ``Status``."""

    kind: str = ""
    message: str = ""


class Transport:
    """Sends requests for all threads of a scan."""

    def __init__(
        self,
        client: Client,
        pace: Pace,
        ledger: Ledger,
        *,
        user_agent: str,
        request_timeout: float | None = REQUEST_SECONDS,
        compress: bool = True,
    ) -> None:
        self._client = client
        self._pace = pace
        self._ledger = ledger
        self._user_agent = user_agent
        self._timeout = request_timeout
        self._compress = compress
        self._lock = threading.Lock()
        self._dead = 0

    def get(
        self,
        target: str,
        *,
        kind: str,
        accept: str = "application/json",
        as_it_is: tuple[int, ...] = (),
        page_lane: int | None = None,
        sink: Callable[[], Sink] | None = None,
        patient: bool = True,
    ) -> Answer:
        """The answer to a GET of ``target``, a path with its query.

        ``kind`` is the name under which it is counted. Statuses ``as_it_is`` come back without
        another try. ``page_lane`` paces it as a page of that lane. ``patient=False`` gives up at
        the first broken connection.

        Raises:
            Refusal: no answer, or too often "later"; any other status is the caller's.
            Deadline: the time of the scan is over.
        """
        return self._ask(
            _Request("GET", target, kind, accept, None),
            as_it_is=as_it_is,
            page_lane=page_lane,
            sink=sink,
            patient=patient,
        )

    def review(self, path: str, body: bytes) -> Answer:
        """The answer to one of the three reviews that a client may ask about itself."""
        return self._ask(_Request("POST", path, "", "application/json", body))

    def _ask(
        self,
        request: "_Request",
        *,
        as_it_is: tuple[int, ...] = (),
        page_lane: int | None = None,
        sink: Callable[[], Sink] | None = None,
        patient: bool = True,
    ) -> Answer:
        throttled = broken = 0
        renewed = False
        while True:
            if page_lane is None:
                self._pace.turn()
            else:
                self._pace.page_turn(page_lane)
            generation = self._client.generation
            try:
                answer, retry_after = self._send(request, sink)
            except Fault as fault:
                self._pace.check()
                if patient and fault.kind in BROKEN and broken < self._tries():
                    self._back_off(broken)
                    broken += 1
                    continue
                if fault.kind not in ("huge", "cut", "garbled"):
                    with self._lock:
                        self._dead += 1
                raise NoAnswer(request.path, fault) from None
            with self._lock:
                self._dead = 0
            status = answer.status
            if status == 200 or status in as_it_is:
                return answer
            if status == 201 and request.method == "POST":
                return answer
            if status == 401 and not renewed:
                renewed = True
                self._renew(request, generation)
            elif status == 429 or (status == 503 and retry_after is not None):
                throttled += 1
                self._throttled(request, answer, throttled, retry_after)
            elif status in (500, 502, 503, 504) and broken < self._tries():
                self._back_off(broken)
                broken += 1
            else:
                return answer

    def _tries(self) -> int:
        return 0 if self._dead >= MOST_DEAD else len(BACK_OFF_SECONDS)

    def _back_off(self, tries: int) -> None:
        self._pace.wait(BACK_OFF_SECONDS[tries] * random.uniform(0.75, 1.25))  # noqa: S311

    def _throttled(
        self, request: "_Request", answer: Answer, times: int, retry_after: float | None
    ) -> None:
        self._ledger.throttled()
        if answer.status == 429:
            self._pace.narrow()
        wait = 1.0 if retry_after is None else retry_after
        if times >= MOST_THROTTLED:
            raise Refusal(
                "unreachable",
                f"throttled: the server answered {answer.status} to {request.path} "
                f"{times} times in a row.",
                lift="Scan at a quieter hour, or with --gentle.",
            )
        if wait > LONGEST_RETRY_AFTER_SECONDS:
            raise Refusal(
                "unreachable",
                f"throttled: the server answered {answer.status} to {request.path} and asked to "
                f"wait {wait:.0f} s.",
                lift="Scan at a quieter hour.",
            )
        # Whoever was told the same must not come back at the same moment.
        self._pace.wait(wait + random.uniform(0.0, 0.25))  # noqa: S311

    def _renew(self, request: "_Request", generation: int) -> None:
        try:
            self._client.renew(generation)
        except (BadKubeconfig, LoginFailed) as error:
            raise Refusal(
                "forbidden",
                f"The server no longer accepts the credential (401 to {request.path}), and no "
                f"other could be had: {error}",
                lift="Log in again, and scan again.",
            ) from None

    def _send(
        self, request: "_Request", sink: Callable[[], Sink] | None
    ) -> tuple[Answer, float | None]:
        with self._pace.lane():
            began = time.monotonic()
            limit = self._timeout
            if self._dead >= MOST_DEAD:
                limit = min(limit or DEAD_SECONDS, DEAD_SECONDS)
            until = None if limit is None else began + limit
            if self._pace.end is not None:
                until = self._pace.end if until is None else min(until, self._pace.end)
            left = None if until is None else max(until - began, 0.05)
            compress = self._compress
            status, wire, level = 0, 0, ""
            self._ledger.asked(request.kind)
            try:
                reply = self._client.send(
                    request.method,
                    request.target,
                    request.headers(self._user_agent, compress),
                    request.body,
                    connect_seconds=CONNECT_SECONDS if left is None else min(left, CONNECT_SECONDS),
                    read_seconds=left,
                )
                status = reply.status
                level = reply.headers.get("X-Kubernetes-PF-PriorityLevel-UID", "") or ""
                try:
                    answer = self._read(reply, until, sink)
                finally:
                    wire = reply.wire_bytes
                return answer, _retry_after(reply.headers.get("Retry-After"))
            except Fault as fault:
                log.debug("%s %s: %s", request.method, request.path, fault)
                raise
            finally:
                self._ledger.answered(request.kind, wire, level)
                log.debug(
                    "%s %s %d, %d bytes, %.3f s",
                    request.method,
                    request.path,
                    status,
                    wire,
                    time.monotonic() - began,
                )

    def _read(self, reply: Reply, until: float | None, sink: Callable[[], Sink] | None) -> Answer:
        began = time.monotonic()
        fine = reply.status == 200
        most = MOST_BYTES if fine else MOST_ERROR_BYTES
        taker = sink() if fine and sink is not None else None
        parts: list[bytes] = []
        size = 0
        for piece in reply.pieces(until):
            size += len(piece)
            if size > most:
                reply.close()
                if fine:
                    raise Fault("huge", f"the answer is larger than {most // 2**20} MiB")
                break
            if taker is None:
                parts.append(piece)
            else:
                taker.feed(piece)
        body = b"".join(parts) if taker is None else taker.kept()
        took = time.monotonic() - began
        if self._compress and size > 2**20 and size / max(took, 1e-6) > FAST_BYTES_PER_SECOND:
            self._compress = False
        return Answer(reply.status, body, str(reply.headers.get("Content-Type", "") or ""))


class NoAnswer(Refusal):
    """No whole answer came. ``kind`` is that of the `Fault`."""

    def __init__(self, path: str, fault: Fault) -> None:
        lift = {
            "huge": "Ask the owner of this API for paged lists.",
            "slow-answer": "Give it more time: --request-timeout.",
        }.get(fault.kind, "Check the network between here and the API server, and scan again.")
        super().__init__("unreachable", f"{path} was not answered: {fault}.", lift=lift)
        self.kind = fault.kind
        self.words = str(fault)


class _Request:
    """One request; the only place where a method is chosen."""

    def __init__(
        self, method: str, target: str, kind: str, accept: str, body: bytes | None
    ) -> None:
        self.method = method
        self.target = target
        self.path = target.partition("?")[0]
        self.kind = kind
        self.accept = accept
        self.body = body
        if method != "GET" and not (method == "POST" and target in REVIEWS):
            raise AssertionError(f"a read-only tool does not send {method} {self.path}")
        if "resourceVersion" in target.partition("?")[2]:
            raise AssertionError("with a resourceVersion the server would ignore the page size")

    def headers(self, user_agent: str, compress: bool) -> list[tuple[str, str]]:
        headers = [
            ("Accept", self.accept),
            ("User-Agent", user_agent),
            # Without this header, http.client would add one of its own.
            ("Accept-Encoding", "gzip" if compress else "identity"),
        ]
        if self.body is not None:
            headers.append(("Content-Type", "application/json"))
        return headers


def refusal(answer: Answer, what: str) -> Refusal:
    """The `Refusal` that a status other than 200 stands for. ``what`` was asked for."""
    status = answer.status
    said = _message(answer)
    tail = f": {said}." if said else "."
    if status == 401:
        return Refusal(
            "forbidden",
            f"The server does not accept the credential for {what} (401){tail}",
            lift="Log in again, and scan again.",
        )
    if status == 403:
        return Refusal("forbidden", f"The server refused {what} (403){tail}")
    if status == 404:
        return Refusal("not-served", f"The server does not serve {what} (404){tail}")
    if status == 429:
        return Refusal("unreachable", f"throttled: the server refused {what} (429){tail}")
    if 300 <= status < 400:
        return Refusal(
            "unreachable",
            f"The server sent {what} elsewhere ({status}), which no API server does.",
            lift="Check that the server address is that of a Kubernetes API server.",
        )
    return Refusal("unreachable", f"The server could not answer {what} ({status}){tail}")


def _message(answer: Answer) -> str:
    """The server's own words, where it has some."""
    try:
        told: Any = msgspec.json.decode(answer.body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return clean(told.message, 300).strip().rstrip(".") if told.kind == "Status" else ""


def _retry_after(text: str | None) -> float | None:
    """Seconds to wait, from either form of the header; null where there is none."""
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(moment.timestamp() - time.time(), 0.0)
