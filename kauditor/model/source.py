"""What can be asked of a cluster, and the one face that live clusters, dumps and tests share."""

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """One RBAC rule. ``group`` is "" for the core API; ``path`` is set for non-resource URLs."""

    verbs: tuple[str, ...]
    group: str = ""
    resource: str = ""
    namespace: str = ""
    path: str = ""

    def __str__(self) -> str:
        verbs = ",".join(self.verbs)
        if self.path:
            return f"{verbs} on {self.path}"
        name = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f"in namespace {self.namespace}" if self.namespace else "cluster-wide"
        return f"{verbs} on {name} {where}"


class Listing(msgspec.Struct, frozen=True):
    """Every object of one resource. ``view`` is the msgspec type one object is decoded to.

    ``group_version`` is "v1" or "apps/v1"; ``namespace`` limits the list to one namespace.
    ``metadata_only`` asks the server for PartialObjectMetadata: bodies never leave it.
    ``narrows`` says that a scan of one namespace (``-n``) may read only that namespace.
    """

    group_version: str
    resource: str
    view: type[Any]
    namespace: str = ""
    metadata_only: bool = False
    namespaced: bool = True
    narrows: bool = False

    @property
    def group(self) -> str:
        """API group, "" for the core API."""
        return self.group_version.rpartition("/")[0]

    @property
    def path(self) -> str:
        """URL path of the list, without a query."""
        root = "/apis/" if "/" in self.group_version else "/api/"
        scope = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"{root}{self.group_version}{scope}/{self.resource}"

    @property
    def grant(self) -> Grant:
        """The right that this list needs."""
        return Grant(
            verbs=("list",), group=self.group, resource=self.resource, namespace=self.namespace
        )

    def __str__(self) -> str:
        return f"list of {self.resource}" + (f" in {self.namespace}" if self.namespace else "")


class Count(msgspec.Struct, frozen=True):
    """How many objects of a resource exist, without reading them (one object is fetched).

    The server's ``metadata.remainingItemCount`` answers; never a full list.
    """

    group_version: str
    resource: str

    @property
    def listing(self) -> Listing:
        """The list whose length is asked."""
        return Listing(self.group_version, self.resource, dict)

    @property
    def path(self) -> str:
        """URL path of the list."""
        return self.listing.path

    @property
    def grant(self) -> Grant:
        """The right that this count needs."""
        return self.listing.grant

    def __str__(self) -> str:
        return f"count of {self.resource}"


class Page(msgspec.Struct, frozen=True):
    """One document by its URL path (``/version``), handed over as bytes.

    For an object inside a namespace the grant is on the resource, so it can be stated.
    """

    path: str
    grant: Grant
    optional_codes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"GET {self.path}"


class Exposition(msgspec.Struct, frozen=True):
    """Metric families of the API server's own ``/metrics``.

    ``families`` are full names, histograms without their ``_bucket`` suffix.
    """

    families: tuple[str, ...]

    @property
    def path(self) -> str:
        """URL path of the exposition."""
        return "/metrics"

    @property
    def grant(self) -> Grant:
        """The right that reading it needs."""
        return Grant(verbs=("get",), path="/metrics")

    def __str__(self) -> str:
        return "GET /metrics"


Question = Listing | Count | Page | Exposition


class Sample(msgspec.Struct, frozen=True):
    """One line of an exposition. ``name`` keeps its suffix; ``value`` is finite."""

    name: str
    labels: dict[str, str]
    value: float


class KindCost(msgspec.Struct, frozen=True, kw_only=True):
    """What reading one kind took, and how far it got."""

    kind: str
    outcome: str
    objects: int = 0
    requests: int = 0
    bytes: int = 0
    detail: str = ""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What the scan itself asked of the cluster. Times in seconds, memory and traffic in bytes.

    ``cut_short`` says that the time for the whole scan was over before all was read.
    """

    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited_seconds: float = 0.0
    throttled: int = 0
    peak_memory_bytes: int = 0
    priority_level: str = ""
    cut_short: bool = False
    kinds: tuple[KindCost, ...] = ()


class Refusal(Exception):
    """A source did not answer. ``why`` is a word of `kauditor.model.fact.Why`.

    Raised part-way through a list too: what was read before is then dropped, never half used.
    """

    def __init__(self, why: str, detail: str, *, lift: str = "") -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail
        self.lift = lift


class Deadline(Exception):
    """The time given to the whole scan is over. What is not yet read stays unknown."""


class Source(Protocol):
    """A cluster that can be asked. Live, recorded or made up for a test: all look like this."""

    def pages(self, listing: Listing) -> Iterator[bytes]:
        """The list, page by page, each a JSON List object. Raises `Refusal` or `Deadline`."""

    def count(self, count: Count) -> int:
        """Number of objects. Raises `Refusal` or `Deadline`."""

    def body(self, page: Page) -> bytes:
        """The document. Raises `Refusal` or `Deadline`."""

    def samples(self, exposition: Exposition) -> Iterator[Sample]:
        """The wanted samples. Raises `Refusal` or `Deadline`."""

    def cost(self) -> Cost:
        """What was asked so far."""

    def where(self) -> "Where":
        """Which cluster this is and as whom it is read."""

    def notes(self) -> list[str]:
        """Sentences about the reading itself: a list that changed underway and its like."""


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Which cluster, through which server, as whom. Never holds a credential."""

    name: str = ""
    context: str = ""
    server: str = ""
    identity: str = ""
