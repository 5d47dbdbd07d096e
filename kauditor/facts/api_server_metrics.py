"""What one API server's own ``/metrics`` says about the size of the database."""

from kauditor.model.fact import Fact, Unknown, Why, tallies
from kauditor.model.source import Exposition, Sample

# Name by version, newest first; catalog section 6.
DATABASE_BYTES = (
    "apiserver_storage_size_bytes",
    "apiserver_storage_db_total_size_in_bytes",
    "etcd_db_total_size_in_bytes",
)
OBJECT_COUNTS = ("apiserver_resource_objects", "apiserver_storage_objects", "etcd_object_counts")
OBJECT_BYTES = "apiserver_resource_size_estimate_bytes"


class ApiServerMetrics(Fact, frozen=True, kw_only=True):
    """``database_bytes``: storage cluster → bytes of the etcd file, as this API server sees it.

    ``objects`` and ``object_bytes``: "resource" or "resource.group" → number or bytes. A value of
    −1 is the server's word for an error and is left out (catalog, trap 5.11). Empty where the
    server's version or settings hide the metric.
    """

    database_bytes: dict[str, float]
    objects: dict[str, float]
    object_bytes: dict[str, float]


@tallies(ApiServerMetrics, Exposition((*DATABASE_BYTES, *OBJECT_COUNTS, OBJECT_BYTES)))
class ApiServerMetricsTally:
    """Keeps the newest name of each quantity: two names are never added up."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}
        self.samples = 0

    def add(self, sample: Sample) -> None:
        """Take one sample."""
        self.samples += 1
        if sample.value < 0:
            return
        labels = sample.labels
        if sample.name in DATABASE_BYTES:
            key = (
                labels.get("storage_cluster_id")
                or labels.get("cluster")
                or labels.get("endpoint")
                or "etcd"
            )
        else:
            resource, group = labels.get("resource", ""), labels.get("group", "")
            key = f"{resource}.{group}" if group else resource
        self.found.setdefault(sample.name, {})[key] = sample.value

    def total(self) -> ApiServerMetrics | Unknown:
        """The metrics."""
        if not self.samples:
            return Unknown(
                why=Why.NOT_SERVED,
                detail="The API server's /metrics held none of the wanted families.",
                lift="Check that /metrics is the API server's own and not filtered on its way.",
            )
        return ApiServerMetrics(
            database_bytes=self._newest(DATABASE_BYTES),
            objects=self._newest(OBJECT_COUNTS),
            object_bytes=self._newest((OBJECT_BYTES,)),
        )

    def _newest(self, names: tuple[str, ...]) -> dict[str, float]:
        for name in names:
            if self.found.get(name):
                return dict(sorted(self.found[name].items()))
        return {}
