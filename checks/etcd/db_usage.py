"""ETCD002: when the database meets etcd's quota."""

from collections.abc import Iterator

from kauditor.api import (
    ApiServerMetrics,
    Area,
    Dimension,
    EtcdQuota,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Scale,
    Seen,
    Severity,
    SourceClass,
    Unknown,
    Why,
    check,
    in_bytes,
    measure,
    seen,
    unknown,
)

QUOTA = Dimension(
    "etcd-quota-bytes",
    unit="bytes",
    grows=Growth.LINEAR,
    title="etcd database quota",
    runs_out="The etcd database quota runs out",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)
# The share at which etcd's own alert fires [ETCDMIX].
USABLE_PERCENT = 95.0
# Below ten nodes a slope is noise (catalog, trap 5.35): what the database holds is then mostly
# there for any size, and a node adds at most what the published table allows it [CCE].
FEW_NODES = 10
BYTES_PER_NODE = 4 * 2**20


@check(
    id="ETCD002",
    area=Area.ETCD,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://etcd.io/docs/v3.6/dev-guide/limit/",
        "https://github.com/etcd-io/etcd/blob/main/contrib/mixin/alerts/alerts.libsonnet",
        "https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",
    ),
    effort="1 hour",
    risk="medium",
)
def db_usage(
    quota: EtcdQuota | Unknown,
    metrics: ApiServerMetrics | Unknown,
    scale: Scale,
    *,
    usable_percent: float = USABLE_PERCENT,
) -> Iterator[Finding]:
    r"""The database file grows with the cluster until it meets etcd's quota.

    ## Why it breaks
    At the quota etcd refuses all writes until somebody compacts, defragments and disarms the
    alarm by hand. Its own alert calls 95 % of the quota critical. The file counts, not the data in
    it: one published cluster was full with a file 500 times as large as its data, because nobody
    had defragmented it. One reading shows no rate, so the size is projected in step with the
    nodes; how many days are left, it can't say.

    ## Fix
    Defragment one member at a time, the leader last, and find what fills the database. Then
    raise the quota, at most to 8 GiB. Where the file stays large after that, remove objects:
    releases, reports, finished Jobs and their Events.

    ```shell
    kubectl -n kube-system exec etcd-NODE -- etcdctl \
      --cacert /etc/kubernetes/pki/etcd/ca.crt \
      --cert /etc/kubernetes/pki/etcd/peer.crt --key /etc/kubernetes/pki/etcd/peer.key \
      defrag
    ```

    ## Verify
    ```shell
    kubectl get --raw /metrics | grep -E '^apiserver_storage(_db_total)?_size'
    ```
    """
    if isinstance(metrics, Unknown) or not metrics.database_bytes:
        yield unknown(
            metrics if isinstance(metrics, Unknown) else None,
            why=Why.NOT_SERVED,
            summary=""
            if isinstance(metrics, Unknown)
            else "The API server's metrics do not show the size of the database.",
            lift=""
            if isinstance(metrics, Unknown)
            else "Point --prometheus at a server that scrapes etcd.",
            subject="database size",
        )
        return
    for name, used in metrics.database_bytes.items():
        subject = f"database {name}" if len(metrics.database_bytes) > 1 else "database size"
        size = seen("database size", in_bytes(used), metrics)
        if isinstance(quota, Unknown):
            yield unknown(
                quota,
                summary=f"The database takes {in_bytes(used)}; the quota is not known. "
                f"{quota.detail}",
                subject=subject,
                evidence=[size],
            )
            continue
        held = in_bytes(quota.quota_bytes)
        words = held if quota.configured else f"not set (default {held})"
        evidence = [seen("etcd quota", words, quota), size]
        constant = 0.0
        if scale.nodes < FEW_NODES and used < quota.quota_bytes * usable_percent / 100:
            constant = max(0.0, used - scale.nodes * BYTES_PER_NODE)
            evidence.append(
                Evidence(
                    what="growth",
                    value=f"at most {in_bytes(BYTES_PER_NODE)} a node; "
                    f"{scale.nodes} nodes are too few to tell",
                    source="published table of object volumes",
                    seen=Seen.ASSUMED,
                )
            )
        yield measure(
            QUOTA,
            subject=subject,
            used=used,
            limit=quota.quota_bytes * usable_percent / 100,
            constant=constant,
            summary=(
                f"The database takes {in_bytes(used)} of {held} "
                f"({used / quota.quota_bytes:.0%}); {usable_percent:g} % of the quota is critical. "
                "One reading gives no rate of growth."
            ),
            evidence=evidence,
        )
