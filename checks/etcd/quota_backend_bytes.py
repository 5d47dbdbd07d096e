"""ETCD001: etcd's quota, and when the database meets it."""

from collections.abc import Iterator

from kauditor.api import (
    ApiServerMetrics,
    Area,
    ControlPlane,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Provider,
    Seen,
    Severity,
    SourceClass,
    Stated,
    Unknown,
    Why,
    check,
    flag_evidence,
    in_bytes,
    measure,
    ok,
    seen,
    unknown,
    warn,
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
GIB = 2**30
DEFAULT_QUOTA = 2 * GIB
LARGEST_ADVISED = 8 * GIB
# Published quotas where the provider keeps etcd [EKSQUOTA], [AKSBIG]; GKE publishes none.
ASSUMED = {"eks": 8 * GIB, "aks": 8 * 10**9}


@check(
    id="ETCD001",
    area=Area.ETCD,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://etcd.io/docs/v3.6/dev-guide/limit/",
        "https://openai.com/index/scaling-kubernetes-to-2500-nodes",
    ),
    effort="half an hour",
    risk="medium",
)
def quota_backend_bytes(
    plane: ControlPlane | Unknown,
    metrics: ApiServerMetrics | Unknown,
    provider: Provider | Unknown,
    stated: Stated,
    *,
    usable_percent: float = 80.0,
) -> Iterator[Finding]:
    """Etcd's quota decides when the database is full and the cluster takes no more writes.

    ## Why it breaks
    When the database file reaches `--quota-backend-bytes`, etcd raises a NOSPACE alarm and
    refuses all writes: no pod is bound, no lease renewed, and health checks begin to fail. The
    default is 2 GiB. One published cluster met it just after 1,000 nodes, whereupon its
    autoscaler took healthy workers for dead ones. etcd warns at start above 8 GiB, the suggested
    maximum.

    ## Fix
    Set the quota to 8 GiB on every member, one member after another. The members need as much
    memory. Where the alarm was already raised, compact and defragment first, then disarm it.

    ```shell
    # in /etc/kubernetes/manifests/etcd.yaml of each control-plane node
    - --quota-backend-bytes=8589934592
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=etcd -o yaml | grep quota-backend-bytes
    ```
    """
    quota, row, verdict = _quota(plane, provider, stated)
    if verdict is not None:
        yield verdict
    if quota is None or row is None:
        return
    if isinstance(metrics, Unknown) or not metrics.database_bytes:
        hole = metrics if isinstance(metrics, Unknown) else None
        yield unknown(
            hole,
            why=Why.NOT_SERVED,
            summary=""
            if hole
            else "The API server's metrics do not show the size of the database.",
            lift="" if hole else "Point --prometheus at a server that scrapes etcd.",
            subject="database size",
            evidence=[row],
        )
        return
    for name, used in metrics.database_bytes.items():
        yield measure(
            QUOTA,
            subject=f"database {name}" if len(metrics.database_bytes) > 1 else "database size",
            used=used,
            limit=quota * usable_percent / 100,
            summary=(
                f"The database takes {in_bytes(used)} of {in_bytes(quota)}; "
                f"{usable_percent:g} % of the quota is what can be planned with."
            ),
            evidence=[row, seen("database size", in_bytes(used), metrics)],
        )


def _quota(
    plane: ControlPlane | Unknown, provider: Provider | Unknown, stated: Stated
) -> tuple[float | None, Evidence | None, Finding | None]:
    """The quota in bytes, its evidence, and what is to be said of the setting itself."""
    if stated.etcd_quota_bytes is not None:
        row = seen("etcd quota", in_bytes(stated.etcd_quota_bytes), stated)
        return stated.etcd_quota_bytes, row, _verdict(stated.etcd_quota_bytes, row, set_=True)
    if isinstance(plane, Unknown):
        name = provider.name if isinstance(provider, Provider) else ""
        if plane.why is Why.MANAGED and name in ASSUMED:
            row = Evidence(
                what="etcd quota",
                value=in_bytes(ASSUMED[name]),
                source=f"published envelope of {name}",
                seen=Seen.ASSUMED,
            )
            return ASSUMED[name], row, None
        return None, None, unknown(plane)
    members = plane.component("etcd")
    if isinstance(members, Unknown):
        return None, None, unknown(members)
    smallest = min(members, key=lambda pod: _bytes(pod.flags.get("quota-backend-bytes", "")))
    flag = smallest.flags.get("quota-backend-bytes", "")
    row = flag_evidence(smallest, "quota-backend-bytes", "default 2.0 GiB")
    quota = _bytes(flag)
    return quota, row, _verdict(quota, row, set_=flag not in ("", "0"))


def _bytes(flag: str) -> float:
    # etcd reads 0 as "use the default".
    return float(flag) if flag.isdigit() and int(flag) else DEFAULT_QUOTA


def _verdict(quota: float, row: Evidence, *, set_: bool) -> Finding:
    if not set_:
        return warn(
            "etcd's quota is not set, so all writes stop at the default of 2.0 GiB.",
            subject="--quota-backend-bytes",
            evidence=[row],
        )
    if quota > LARGEST_ADVISED:
        return warn(
            f"etcd's quota of {in_bytes(quota)} is above 8.0 GiB, the suggested maximum.",
            subject="--quota-backend-bytes",
            severity=Severity.CRITICAL,
            evidence=[row],
        )
    return ok(
        f"etcd's quota is set to {in_bytes(quota)}.",
        subject="--quota-backend-bytes",
        evidence=[row],
    )
