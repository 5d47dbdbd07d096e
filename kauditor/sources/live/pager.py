"""Lists, page by page, the next page on its way while one is worked on.

Rules learnt from the API server's source: `limit` without a resource version, since with
``resourceVersion=0`` the limit is ignored; the token of the last page and nothing else with it; 500
objects a page, as kubectl, fewer where the server says that is too much.
"""

import re
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import msgspec

from kauditor.model.source import Listing, Refusal
from kauditor.sources.live.ledger import Ledger
from kauditor.sources.live.transport import Answer, NoAnswer, Transport, refusal

PAGE_OBJECTS = 500
LEAST_PAGE_OBJECTS = 50
# A list whose token ends again and again will not come to its end.
MOST_EXPIRIES = 10
MOST_GARBLED = 2
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"

# How an API server begins a list: `metadata` holds no braces, and `items` follow it.
_BEGINNING = re.compile(
    rb'\{(?:"kind":"[A-Za-z]*List",)?(?:"apiVersion":"[^"]*",)?'
    rb'"metadata":(\{[^{}]*\}),"items":(?=\[)'
)
_END = re.compile(rb"\]\}\s*$")


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """``metadata`` of a list."""

    resource_version: str = ""
    continue_token: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class _Head(msgspec.Struct, frozen=True):
    metadata: ListMeta = ListMeta()
    items: msgspec.Raw = msgspec.Raw()


class _Expiry(msgspec.Struct, frozen=True):
    """A ``Status`` of 410: its metadata may offer a token that goes on at a later moment."""

    metadata: ListMeta = ListMeta()


_META = msgspec.json.Decoder(ListMeta)
_HEAD = msgspec.json.Decoder(_Head)
_EXPIRY = msgspec.json.Decoder(_Expiry)


def head_of(body: bytes) -> ListMeta:
    """``metadata`` of a page.

    The way an API server writes it, only its first bytes are decoded; whoever reads the objects
    decodes the rest. Anything else is decoded whole.

    Raises:
        ValueError: it is no list.
    """
    match = _BEGINNING.match(body)
    if match is not None and _END.search(body, max(len(body) - 8, 0)):
        return _META.decode(match.group(1))
    try:
        head = _HEAD.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ValueError("the answer is no JSON list") from None
    if not bytes(head.items):
        raise ValueError("the answer holds no items")
    return head.metadata


class Pager:
    """The pages of one list, in order. `page` is called by one thread at a time."""

    def __init__(
        self, transport: Transport, ledger: Ledger, listing: Listing, *, lane: int
    ) -> None:
        self._transport = transport
        self._ledger = ledger
        self._listing = listing
        self._lane = lane
        self._limit = PAGE_OBJECTS
        self._token = ""
        self._seen: set[int] = set()
        self._given = 0
        self._expiries = 0
        self._slow = 0
        self._garbled = 0
        self._version = ""
        self._resumed = False
        self.inconsistent = False
        self.more = True

    def page(self) -> bytes:
        """The next page.

        Raises:
            Refusal: the server refuses, or the list can't be had whole.
            Deadline: the time of the scan is over.
        """
        while True:
            try:
                answer = self._get()
            except NoAnswer as error:
                if error.kind != "slow-answer" or self._slow or not self._smaller():
                    raise
                self._slow += 1
                continue
            if answer.status == 410:
                self._expired(answer)
            elif answer.status in (413, 504):
                if not self._smaller():
                    raise refusal(answer, str(self._listing))
            elif answer.status != 200:
                raise refusal(answer, str(self._listing))
            else:
                head = self._head(answer)
                if head is not None:
                    self._took(head)
                    return answer.body

    def _get(self) -> Answer:
        query = {"limit": str(self._limit)}
        if self._token:
            query["continue"] = self._token
        return self._transport.get(
            f"{self._listing.path}?{urlencode(query)}",
            kind=self._listing.resource,
            accept=METADATA_ONLY if self._listing.metadata_only else "application/json",
            as_it_is=(410, 413, 504),
            page_lane=self._lane,
        )

    def _head(self, answer: Answer) -> ListMeta | None:
        """Null where the page is to be asked for once more."""
        try:
            return head_of(answer.body)
        except (ValueError, msgspec.DecodeError) as error:
            self._garbled += 1
            if self._garbled < MOST_GARBLED:
                return None
            kind = f" ({answer.media_type})" if answer.media_type else ""
            raise Refusal(
                "unreachable",
                f"The {self._listing} can't be read: {error}{kind}.",
                lift="Look for a proxy between here and the API server.",
            ) from None

    def _took(self, head: ListMeta) -> None:
        self._given += 1
        # Any token seen before, not only the last one: a circle may be longer.
        if hash(head.continue_token) in self._seen:
            raise Refusal(
                "unreachable",
                f"The {self._listing} goes round in circles: the server gave the same token twice.",
            )
        if self._resumed:
            self._resumed = False
            self._ledger.note(
                f"The {self._listing} expired while it was read and went on at a later state: its "
                f"first {_pages(self._given - 1)} show resource version "
                f"{self._version or 'unknown'}, the rest {head.resource_version or 'unknown'}."
            )
        self._version = head.resource_version or self._version
        self._token = head.continue_token
        if self._token:
            self._seen.add(hash(self._token))
        self.more = bool(head.continue_token)

    def _smaller(self) -> bool:
        """Half the page size; false where it is as small as it gets."""
        if self._limit <= LEAST_PAGE_OBJECTS:
            return False
        self._limit = max(self._limit // 2, LEAST_PAGE_OBJECTS)
        return True

    def _expired(self, answer: Answer) -> None:
        """The token has ended with the server's history. Go on where it offers to, else restart."""
        self._expiries += 1
        try:
            offered = _EXPIRY.decode(answer.body).metadata.continue_token
        except (msgspec.DecodeError, UnicodeDecodeError):
            offered = ""
        if self._expiries > MOST_EXPIRIES:
            offered = ""
        if offered and self._given:
            self._token = offered
            self.inconsistent = self._resumed = True
            return
        if self._given or self._expiries > 1:
            # Pages were handed out already: read again, their objects would count twice.
            raise Refusal(
                "unreachable",
                f"The {self._listing} expired after {_pages(self._given)} (410), and the server "
                "offered no way to go on.",
                lift="Scan again; a faster network or a quieter hour helps.",
            )
        self._token = ""


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


class Ahead:
    """Runs a step in a thread, one result ahead of whoever takes them."""

    def __init__(self, step: Callable[[], bytes]) -> None:
        self._step = step
        self._wanted = threading.Semaphore(0)
        self._ready = threading.Semaphore(0)
        self._result: bytes = b""
        self._error: BaseException | None = None
        self._over = False
        threading.Thread(target=self._run, name="kauditor-page", daemon=True).start()

    def want(self) -> None:
        """Begin the next step."""
        self._wanted.release()

    def take(self) -> bytes:
        """Its result, or what it raised. Lets Ctrl-C through at any time."""
        while not self._ready.acquire(timeout=0.2):
            pass
        if self._error is not None:
            raise self._error
        result, self._result = self._result, b""
        return result

    def stop(self) -> None:
        """Begin no other step. Waits for nothing."""
        self._over = True
        self._wanted.release()

    def _run(self) -> None:
        while True:
            self._wanted.acquire()
            if self._over:
                return
            try:
                self._result = self._step()
            except BaseException as error:
                self._error = error
                self._ready.release()
                return
            self._ready.release()


def pages(pager: Pager) -> Iterator[bytes]:
    """All pages; from the second on, each is fetched while the one before it is worked on."""
    page = pager.page()
    if not pager.more:
        yield page
        return
    ahead = Ahead(pager.page)
    try:
        while True:
            more = pager.more
            if more:
                ahead.want()
            yield page
            if not more:
                return
            page = b""
            page = ahead.take()
    finally:
        ahead.stop()
