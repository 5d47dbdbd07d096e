"""ETCD001: how etcd's quota is set."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    EtcdQuota,
    Finding,
    Provider,
    Scale,
    Severity,
    Unknown,
    check,
    in_bytes,
    ok,
    seen,
    skip,
    warn,
)

LARGEST_ADVISED = 8 * 2**30


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
    quota: EtcdQuota, provider: Provider | Unknown, scale: Scale | Unknown, *, small: int = 500
) -> Iterator[Finding]:
    """Etcd's quota decides when the database is full and the cluster takes no more writes.

    ## Why it breaks
    When the database file reaches `--quota-backend-bytes`, etcd raises a NOSPACE alarm and
    refuses all writes: no pod is bound, no lease renewed, and health checks begin to fail. The
    default is 2 GiB. One published cluster met it just after 1,000 nodes, whereupon its
    autoscaler took healthy workers for dead ones. etcd warns at start above 8 GiB, the suggested
    maximum. How near the database is, ETCD002 says.

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
    subject = "--quota-backend-bytes"
    held = in_bytes(quota.quota_bytes)
    row = seen("etcd quota", held if quota.configured else f"not set (default {held})", quota)
    if quota.assumed_of:
        yield ok(
            f"The provider sets etcd's quota; {held} is what {quota.assumed_of} publishes.",
            subject=subject,
            evidence=[row],
        )
    elif not quota.configured:
        if isinstance(provider, Provider) and provider.local:
            yield skip(
                "A development cluster on one machine stays far below etcd's default of 2.0 GiB.",
                subject=subject,
                evidence=[row, seen("provider", provider.name, provider)],
            )
            return
        few = isinstance(scale, Scale) and scale.target < small
        yield warn(
            "etcd's quota is not set, so all writes stop at the default of 2.0 GiB.",
            subject=subject,
            severity=Severity.MEDIUM if few else None,
            evidence=[row],
        )
    elif quota.quota_bytes > LARGEST_ADVISED:
        yield warn(
            f"etcd's quota of {held} is above 8.0 GiB, the suggested maximum.",
            subject=subject,
            severity=Severity.MEDIUM,
            evidence=[row],
        )
    else:
        yield ok(f"etcd's quota is set to {held}.", subject=subject, evidence=[row])
