"""A live cluster as a `kauditor.model.source.Source`."""

import json
import re
import resource
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from kauditor.model.source import (
    Cost,
    Count,
    Deadline,
    Exposition,
    Grant,
    KindCost,
    Listing,
    Page,
    Refusal,
    Sample,
    Where,
)
from kauditor.sources import metrics_text
from kauditor.sources.live.transport import Answer, Transport

PAGE_SIZE = 500
LEAST_PAGE_SIZE = 50
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
_CONTINUE = re.compile(rb'"continue"\s*:\s*"((?:[^"\\]|\\.)*)"')


class ConnectError(Exception):
    """The server can't be reached, or does not let us in. One sentence with what to do."""


class _ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    remaining_item_count: int | None = None
    continue_: str = msgspec.field(name="continue", default="")


class _Head(msgspec.Struct, frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: list[msgspec.Raw] | None = None


class _Spent:
    """What one kind cost so far."""

    def __init__(self) -> None:
        self.requests = self.bytes = 0
        self.outcome = "complete"
        self.detail = ""


class LiveSource:
    """Reads through a `Transport`. Safe for several threads, each with a list of its own."""

    def __init__(self, transport: Transport, *, context: str, user: str) -> None:
        self._transport = transport
        self._context = context
        self._user = user
        self._kinds: dict[str, _Spent] = {}
        self._notes: list[str] = []
        self._lock = threading.Lock()
        self._identity: str | None = None

    def greet(self) -> None:
        """One request that proves the connection.

        Raises:
            ConnectError: unreachable, TLS refused, or the credentials are not accepted.
        """
        server = self._transport.server
        try:
            answer = self._transport.get("/version", fine=(401, 403, 404))
        except Refusal as refusal:
            reason = refusal.detail.removeprefix("GET /version broke off: ").rstrip(".")
            raise ConnectError(
                f"the server {server} (context {self._context!r}) can't be scanned: {reason}; "
                f"check that it is up and that the kubeconfig is right."
            ) from None
        except Deadline:
            raise ConnectError(
                f"the server {server} did not answer before --timeout was over."
            ) from None
        if answer.status == 401:
            raise ConnectError(
                f"the server {server} does not accept the credentials of user {self._user!r} "
                "(401); log in again."
            )

    def pages(self, listing: Listing) -> Iterator[bytes]:
        """Pages of 500, the next one on its way while this one is worked on."""
        spent = self._spent(listing.resource)
        run = _Paging(self, listing, spent)
        try:
            yield from run.pages()
        except Refusal as refusal:
            spent.detail = refusal.detail
            spent.outcome = {"forbidden": "forbidden", "not-served": "absent"}.get(
                refusal.why, "throttled" if "too busy" in refusal.detail else "partial"
            )
            raise
        except Deadline:
            spent.outcome = "partial"
            raise

    def count(self, count: Count) -> int:
        """Asks for one object and for how many remain."""
        answer = self._get(count.resource, count.path, [("limit", "1")])
        head = _head(answer.body)
        held = len(head.items or [])
        remaining = head.metadata.remaining_item_count
        if remaining is None and head.metadata.continue_:
            raise Refusal(
                "not-served", f"The server does not say how many {count.resource} remain."
            )
        return held + (remaining or 0)

    def body(self, page: Page) -> bytes:
        """The document."""
        path = page.path
        return self._get(path.partition("?")[0], path, None, fine=page.optional_codes).body

    def samples(self, exposition: Exposition) -> Iterator[Sample]:
        """The wanted samples of the API server's own metrics.

        Newer servers filter by ``name[]``; older ones ignore it and send everything.
        """
        names = [("name[]", name) for name in exposition.families]
        answer = self._get(
            exposition.path, exposition.path, names, accept="text/plain;version=0.0.4"
        )
        yield from metrics_text.parse([answer.body], frozenset(exposition.families))

    def may(self, grant: Grant) -> bool | None:
        """Whether the server would allow it; null where it does not say."""
        if grant.path:
            spec: dict[str, Any] = {
                "nonResourceAttributes": {"path": grant.path, "verb": grant.verbs[0]}
            }
        else:
            spec = {
                "resourceAttributes": {
                    "verb": grant.verbs[0],
                    "group": grant.group,
                    "resource": grant.resource,
                    "namespace": grant.namespace,
                }
            }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": spec,
        }
        try:
            answer = self._transport.review(
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review
            )
            status = json.loads(answer.body).get("status", {})
        except (Refusal, ValueError):
            return None
        return bool(status.get("allowed"))

    def where(self) -> Where:
        """Context, server, and the name that the server knows us by."""
        return Where(
            name=self._context,
            context=self._context,
            server=self._transport.server,
            identity=self._who(),
        )

    def _who(self) -> str:
        if self._identity is None:
            self._identity = self._user
            review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
            try:
                answer = self._transport.review(
                    "/apis/authentication.k8s.io/v1/selfsubjectreviews", review
                )
                user = json.loads(answer.body)["status"]["userInfo"]["username"]
                self._identity = str(user)
            except (Refusal, Deadline, ValueError, KeyError, TypeError):
                return self._identity
        return self._identity

    def cost(self) -> Cost:
        """What was asked so far."""
        transport = self._transport
        with self._lock:
            kinds = tuple(
                KindCost(
                    kind=kind,
                    outcome=spent.outcome,
                    requests=spent.requests,
                    bytes=spent.bytes,
                    detail=spent.detail,
                )
                for kind, spent in sorted(self._kinds.items())
            )
        return Cost(
            requests=transport.requests,
            bytes=transport.bytes,
            seconds=round(time.monotonic() - transport.began, 3),
            waited_seconds=round(transport.waited, 3),
            throttled=transport.throttled,
            peak_memory_bytes=_peak_memory(),
            priority_level=transport.priority_level,
            kinds=kinds,
        )

    def notes(self) -> list[str]:
        """Lists that changed underway."""
        with self._lock:
            return sorted(self._notes)

    def note(self, sentence: str) -> None:
        """Keep a sentence for the report."""
        with self._lock:
            self._notes.append(sentence)

    def _spent(self, kind: str) -> _Spent:
        with self._lock:
            return self._kinds.setdefault(kind, _Spent())

    def _get(
        self,
        kind: str,
        path: str,
        query: list[tuple[str, str]] | None,
        *,
        accept: str = "application/json",
        fine: tuple[int, ...] = (),
    ) -> Answer:
        spent = self._spent(kind)
        spent.requests += 1
        try:
            answer = self._transport.get(path, query, accept=accept, fine=fine)
        except Refusal as refusal:
            spent.outcome = {"forbidden": "forbidden", "not-served": "absent"}.get(
                refusal.why, "partial"
            )
            spent.detail = refusal.detail
            raise
        spent.bytes += len(answer.body)
        return answer


class _Paging:
    """The pages of one list."""

    def __init__(self, source: LiveSource, listing: Listing, spent: _Spent) -> None:
        self.source = source
        self.transport = source._transport
        self.listing = listing
        self.spent = spent
        self.size = PAGE_SIZE
        self.given = 0
        self.turn = 0.0
        self.seen: set[int] = set()

    def pages(self) -> Iterator[bytes]:
        """One page after another; a lost continue token goes on where the server offers one."""
        body = self._fetch("")
        while True:
            token = continue_token(body)
            self._check_loop(token)
            following = _Later(self._fetch, token) if token else None
            self.given += 1
            yield body
            if following is None:
                return
            body = following.result()

    def _check_loop(self, token: str) -> None:
        # A server that gives out one token twice would never come to an end.
        if hash(token) in self.seen:
            raise Refusal(
                "unreachable",
                f"The list of {self.listing.resource} gave out the same continue token twice.",
                lift="Look for a proxy between here and the API server.",
            )
        if token:
            self.seen.add(hash(token))

    def _fetch(self, token: str) -> bytes:
        while True:
            self.transport.sleep_until(self.turn)
            self.turn = time.monotonic() + self.transport.pace.page_seconds
            query = [("limit", str(self.size))]
            if token:
                query.append(("continue", token))
            self.spent.requests += 1
            accept = METADATA_ONLY if self.listing.metadata_only else "application/json"
            answer = self.transport.get(
                self.listing.path, query, accept=accept, paced=False, fine=(410, 413, 504)
            )
            if answer.status == 200:
                self.spent.bytes += len(answer.body)
                return answer.body
            if answer.status == 410:
                token = self._after_expiry(answer)
                continue
            if self.size <= LEAST_PAGE_SIZE:
                raise Refusal(
                    "unreachable",
                    f"The server could not answer even {self.size} {self.listing.resource} "
                    f"at a time ({answer.status}).",
                    lift="Scan again at a quieter time.",
                )
            self.size = max(self.size // 2, LEAST_PAGE_SIZE)

    def _after_expiry(self, answer: Answer) -> str:
        """The token to go on with, once the old one was compacted away."""
        head = _head(answer.body)
        offered = head.metadata.continue_
        if not offered:
            if self.given:
                # Starting over would count the pages that were given out twice.
                raise Refusal(
                    "unreachable",
                    f"The list of {self.listing.resource} expired while it was read (410).",
                    lift="Scan again.",
                )
            if self.spent.outcome == "inconsistent":
                raise Refusal(
                    "unreachable",
                    f"The list of {self.listing.resource} expired twice (410).",
                    lift="Scan again.",
                )
        self.spent.outcome = "inconsistent"
        self.source.note(
            f"The list of {self.listing.resource} expired while it was read and went on at a "
            "newer state: objects that came or went in between may be missed or counted twice."
        )
        return offered


class _Later:
    """A page on its way, in a thread that no exit waits for."""

    def __init__(self, fetch: Any, token: str) -> None:
        self._error: BaseException | None = None
        self._body = b""
        self._done = threading.Event()
        threading.Thread(target=self._run, args=(fetch, token), daemon=True).start()

    def _run(self, fetch: Any, token: str) -> None:
        try:
            self._body = fetch(token)
        except BaseException as error:
            self._error = error
        self._done.set()

    def result(self) -> bytes:
        """The page; raises what its request raised."""
        while not self._done.wait(0.2):
            # Short waits let Ctrl-C through.
            continue
        if self._error is not None:
            raise self._error
        return self._body


def continue_token(body: bytes) -> str:
    """The continue token of a page, "" on the last one.

    Looked for before the items; a page whose metadata comes last is decoded for it.
    """
    items = body.find(b'"items"')
    head = body if items < 0 else body[:items]
    if b'"metadata"' in head:
        match = _CONTINUE.search(head)
        return json.loads(b'"' + match.group(1) + b'"') if match else ""
    return _head(body).metadata.continue_ if body else ""


def _head(body: bytes) -> _Head:
    try:
        return msgspec.json.decode(body, type=_Head)
    except msgspec.DecodeError as error:
        raise Refusal(
            "unreachable", f"The server's answer can't be read: {error}.", lift="Scan again."
        ) from None


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes on Linux, bytes on macOS.
    return peak if sys.platform == "darwin" else peak * 1024
