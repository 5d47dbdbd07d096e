"""ETCD008: Events share etcd with everything else."""

from collections.abc import Iterator

from kauditor.api import (
    ApiServerMetrics,
    Area,
    ControlPlane,
    Evidence,
    Finding,
    Scale,
    Severity,
    Stated,
    Unknown,
    Why,
    check,
    fail,
    flag_evidence,
    ok,
    seen,
    skip,
    unknown,
)


@check(
    id="ETCD008",
    area=Area.ETCD,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/setup/best-practices/cluster-large/",
        "https://github.com/kubernetes/community/blob/main/sig-scalability/slos/slos.md",
    ),
    effort="1 day",
    risk="medium",
)
def events_in_main_etcd(
    plane: ControlPlane | Unknown,
    metrics: ApiServerMetrics | Unknown,
    scale: Scale,
    stated: Stated,
    *,
    from_nodes: int = 500,
) -> Iterator[Finding]:
    """Events share one etcd with everything else.

    ## Why it breaks
    Events are the most written and least valued objects of a cluster. In a storm they fill the
    same write-ahead log, the same database file and the same quota that nodes and pods depend on.
    A separate etcd for Events is a prerequisite of the published service-level objectives, and
    the Kubernetes documentation advises it for large clusters.

    ## Fix
    Run a second etcd for Events and point the API servers at it. Events that are in the old etcd
    then expire by themselves.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    - --etcd-servers-overrides=/events#https://127.0.0.1:2383
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep etcd-servers-overrides
    ```
    """
    if stated.events_in_own_etcd is not None:
        yield from _verdict(
            stated.events_in_own_etcd,
            scale,
            from_nodes,
            seen("Events have an etcd of their own", stated.events_in_own_etcd, stated),
        )
        return
    if isinstance(metrics, ApiServerMetrics) and len(metrics.database_bytes) > 1:
        yield from _verdict(
            True, scale, from_nodes, seen("storage clusters", len(metrics.database_bytes), metrics)
        )
        return
    if isinstance(plane, Unknown):
        if plane.why is Why.MANAGED:
            yield skip("The provider keeps etcd and decides how it is split.")
        else:
            yield unknown(plane)
        return
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(servers)
        return
    without = [
        pod for pod in servers if "/events#" not in pod.flags.get("etcd-servers-overrides", "")
    ]
    yield from _verdict(
        not without,
        scale,
        from_nodes,
        flag_evidence((without or list(servers))[0], "etcd-servers-overrides"),
    )


def _verdict(split: bool, scale: Scale, from_nodes: int, row: Evidence) -> Iterator[Finding]:
    evidence = [row]
    if split:
        yield ok("Events have an etcd of their own.", evidence=evidence)
    elif scale.target <= from_nodes:
        yield ok(
            f"Events share etcd with the rest, which serves up to {from_nodes:,} nodes.",
            evidence=evidence,
        )
    else:
        yield fail(
            f"Events share etcd with everything else, and {scale.target:,} nodes are wanted.",
            subject="events",
            evidence=evidence,
        )
