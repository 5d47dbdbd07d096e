"""What the user states in ``[facts]`` of kauditor.toml because no API shows it."""

from kauditor.model.fact import Fact


class Stated(Fact, frozen=True, kw_only=True):
    """Stated values; null where nothing is stated. Sizes in bytes, rates per second.

    Filled in from the settings, never from the cluster, and marked so in all evidence.
    """

    cluster_cidr: str | None = None
    node_cidr_mask_size: int | None = None
    service_cidr: str | None = None
    etcd_quota_bytes: int | None = None
    etcd_members: int | None = None
    events_in_own_etcd: bool | None = None
    scheduler_qps: float | None = None
    max_nodes: int | None = None
    instance_quota: int | None = None
    zones: int | None = None
    max_unready_percentage: int | None = None
