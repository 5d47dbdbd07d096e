"""A live cluster as a `Source`: what the collector sees of it."""

import threading
from collections.abc import Iterator
from urllib.parse import urlencode

import msgspec

from kauditor.model.source import (
    Cost,
    Count,
    Deadline,
    Exposition,
    Grant,
    Listing,
    Page,
    Refusal,
    Sample,
    Where,
)
from kauditor.sources.live.ledger import Ledger
from kauditor.sources.live.pacing import Pace
from kauditor.sources.live.pager import METADATA_ONLY, ListMeta, Pager, pages
from kauditor.sources.live.transport import Answer, Transport, refusal
from kauditor.sources.metrics_text import BadExposition, Parser

# Names beyond this many bytes of query are not sent: the server then gives all families.
LONGEST_FILTER_BYTES = 6_000

_OUTCOMES = {"forbidden": "forbidden", "not-served": "absent"}


class _Counted(msgspec.Struct, frozen=True):
    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class _Verdict(msgspec.Struct, frozen=True):
    allowed: bool = False


class _AccessReview(msgspec.Struct, frozen=True):
    status: _Verdict = _Verdict()


class _UserInfo(msgspec.Struct, frozen=True):
    username: str = ""


class _SelfStatus(msgspec.Struct, frozen=True, rename="camel"):
    user_info: _UserInfo = _UserInfo()


class _SelfReview(msgspec.Struct, frozen=True):
    status: _SelfStatus = _SelfStatus()


class LiveSource:
    """Reads a cluster through its API server. Safe to be read from several threads at once."""

    def __init__(
        self, transport: Transport, pace: Pace, ledger: Ledger, where: Where, version: bytes = b""
    ) -> None:
        """``where.identity`` is whom the kubeconfig names; the server is asked for the truth."""
        self._transport = transport
        self._pace = pace
        self._ledger = ledger
        self._where = where
        self._version = version
        self._identity = ""
        self._lock = threading.Lock()

    def pages(self, listing: Listing) -> Iterator[bytes]:
        """The list, page by page, each as the server sent it.

        Raises:
            Refusal: it can't be had whole; what was given out is to be dropped.
            Deadline: the time of the scan is over.
        """
        kind = listing.resource
        pager = Pager(self._transport, self._ledger, listing, lane=threading.get_ident())
        try:
            yield from pages(pager)
        except GeneratorExit:
            if pager.more:
                self._ledger.settle(kind, "partial", "Reading was broken off.")
            raise
        except (Refusal, Deadline) as error:
            self._settle(kind, error)
            raise
        self._ledger.settle(kind, "inconsistent" if pager.inconsistent else "complete")

    def count(self, count: Count) -> int:
        """How many objects there are, from a list of one.

        Raises:
            Refusal: the server does not say.
            Deadline: the time of the scan is over.
        """
        try:
            found = self._count(count)
        except (Refusal, Deadline) as error:
            self._settle(count.resource, error)
            raise
        self._ledger.settle(count.resource, "complete", objects=found)
        return found

    def _count(self, count: Count) -> int:
        answer = self._get(
            f"{count.path}?limit=1", count.resource, str(count), accept=METADATA_ONLY
        )
        try:
            page = msgspec.json.decode(answer.body, type=_Counted)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise _unreadable(str(count)) from None
        meta = page.metadata
        # A list of none is written out; an answer without items is no list.
        if page.items is msgspec.UNSET or (page.items is None and not meta.resource_version):
            raise _unreadable(str(count))
        if meta.continue_token and meta.remaining_item_count is None:
            raise Refusal("not-served", f"The server does not tell the {count}.")
        return len(page.items or []) + (meta.remaining_item_count or 0)

    def body(self, page: Page) -> bytes:
        """The document.

        Raises:
            Refusal: any status but 200 and those the page calls fine.
            Deadline: the time of the scan is over.
        """
        kind = page.path.partition("?")[0]
        if page.path == "/version" and self._version:
            # It was the request that proved the connection.
            return self._version
        try:
            answer = self._get(page.path, kind, str(page), fine=page.optional_codes)
        except (Refusal, Deadline) as error:
            self._settle(kind, error)
            raise
        self._ledger.settle(kind, "complete", objects=1)
        return answer.body

    def samples(self, exposition: Exposition) -> Iterator[Sample]:
        """The wanted samples. Of a long answer only their lines are ever kept.

        Raises:
            Refusal: it can't be had whole, or a wanted line can't be read.
            Deadline: the time of the scan is over.
        """
        kind = exposition.path
        try:
            kept = self._exposition(exposition)
            parser = Parser(exposition.families)
            samples = list(parser.feed(kept))
        except BadExposition as error:
            unreadable = Refusal("unreachable", f"{exposition} can't be read: {error}.")
            self._settle(kind, unreadable)
            raise unreadable from None
        except (Refusal, Deadline) as error:
            self._settle(kind, error)
            raise
        if parser.dropped:
            names = ", ".join(sorted(parser.dropped))
            self._ledger.note(
                f"{exposition} gave {sum(parser.dropped.values())} values that are no finite "
                f"number, left out: {names}."
            )
        self._ledger.settle(kind, "complete", objects=len(samples))
        yield from samples

    def _exposition(self, exposition: Exposition) -> bytes:
        # Servers that do not know the filter ignore it.
        query = urlencode([("name[]", name) for name in exposition.families])
        target = exposition.path
        if query and len(query) <= LONGEST_FILTER_BYTES:
            target += f"?{query}"
        answer = self._get(
            target,
            exposition.path,
            str(exposition),
            accept="text/plain;version=0.0.4",
            families=exposition.families,
        )
        return answer.body

    def may(self, grant: Grant) -> bool | None:
        """Whether the server would allow it; null where it does not say.

        Raises:
            Deadline: the time of the scan is over.
        """
        verdicts = [self._may(grant, verb) for verb in grant.verbs]
        if any(verdict is False for verdict in verdicts):
            return False
        return None if None in verdicts else True

    def _may(self, grant: Grant, verb: str) -> bool | None:
        if grant.path:
            asked = {"nonResourceAttributes": {"path": grant.path, "verb": verb}}
        else:
            resource, _, sub = grant.resource.partition("/")
            attributes = {
                "verb": verb,
                "group": grant.group,
                "resource": resource,
                "subresource": sub,
                "namespace": grant.namespace,
            }
            asked = {
                "resourceAttributes": {key: value for key, value in attributes.items() if value}
            }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": asked,
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        try:
            answer = self._transport.review(path, msgspec.json.encode(body))
            if answer.status not in (200, 201):
                return None
            return msgspec.json.decode(answer.body, type=_AccessReview).status.allowed
        except (Refusal, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def identity(self) -> str:
        """Whom the server takes us for; what the kubeconfig says where it does not tell."""
        with self._lock:
            if not self._identity:
                self._identity = self._asked_identity() or self._where.identity
            return self._identity

    def _asked_identity(self) -> str:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        try:
            answer = self._transport.review(path, msgspec.json.encode(body))
            if answer.status not in (200, 201):
                return ""
            review = msgspec.json.decode(answer.body, type=_SelfReview)
        except (Refusal, Deadline, msgspec.DecodeError, UnicodeDecodeError):
            return ""
        return review.status.user_info.username

    def cost(self) -> Cost:
        """What was asked so far."""
        return self._ledger.cost(self._pace.waited_seconds)

    def where(self) -> Where:
        """Which cluster this is and as whom it is read."""
        return msgspec.structs.replace(self._where, identity=self.identity())

    def notes(self) -> list[str]:
        """Sentences about the reading itself."""
        return self._ledger.notes()

    def _get(
        self,
        target: str,
        kind: str,
        what: str,
        *,
        accept: str = "application/json",
        fine: tuple[int, ...] = (),
        families: tuple[str, ...] | None = None,
    ) -> Answer:
        answer = self._transport.get(
            target,
            kind=kind,
            accept=accept,
            as_it_is=fine,
            sink=None if families is None else lambda: _WantedLines(families),
        )
        if answer.status != 200 and answer.status not in fine:
            raise refusal(answer, what)
        return answer

    def _settle(self, kind: str, error: Refusal | Deadline) -> None:
        if isinstance(error, Deadline):
            self._ledger.settle(kind, "partial", "The time for the scan was over.")
            return
        outcome = _OUTCOMES.get(error.why, "partial")
        if error.detail.startswith("throttled"):
            outcome = "throttled"
        self._ledger.settle(kind, outcome, error.detail)


class _WantedLines:
    """Keeps the lines of wanted families of an exposition."""

    def __init__(self, families: tuple[str, ...]) -> None:
        self._parser = Parser(families)
        self._lines: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        """The next piece."""
        self._lines.append(self._parser.wanted_lines(piece))

    def kept(self) -> bytes:
        """The lines; the last one must have its end, else the text was cut."""
        if self._parser.unfinished.strip():
            raise BadExposition("it ends in the middle of a line")
        return b"".join(self._lines)


def _unreadable(what: str) -> Refusal:
    return Refusal(
        "unreachable",
        f"The {what} can't be read: the answer is no JSON list.",
        lift="Look for a proxy between here and the API server.",
    )
