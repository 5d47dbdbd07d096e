"""AS011: an autoscaler that is sized for a small cluster."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    Evidence,
    Finding,
    Pods,
    Scale,
    Seen,
    Severity,
    Unknown,
    check,
    in_bytes,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

GIB = 2**30


@check(
    id="AS011",
    area=Area.AUTOSCALING,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
        "https://github.com/kubernetes/autoscaler/issues/4575",
    ),
    effort="10 minutes",
    risk="low",
)
def ca_self_sizing(
    add_ons: AddOns,
    pods: Pods | Unknown,
    scale: Scale,
    *,
    from_nodes: int = 1000,
    pods_per_gib: int = 10_000,
) -> Iterator[Finding]:
    """The cluster autoscaler has the rate, the memory and the log level of a small cluster.

    ## Why it breaks
    It holds all pods, running and pending, in memory: 613 MB were measured at 5,875 pods, and at
    8,000 pending pods one with 600Mi was killed before it could add the nodes they waited for. Its
    client sends 5 requests a second by default, and a log level of 2 and more is known to hurt
    above 1,000 nodes.

    ## Fix
    Give it 1 GiB for each 10,000 pods, `--kube-client-qps=50` and `--v=1`.

    ## Verify
    ```shell
    kubectl -n kube-system get deployment cluster-autoscaler -o yaml | grep -E 'memory|qps|--v='
    ```
    """
    scalers = add_ons.role("cluster-autoscaler")
    if not scalers:
        yield skip(
            "No cluster autoscaler runs here.",
            evidence=[seen("Deployments", add_ons.deployments, add_ons)],
        )
        return
    held = pods.total if isinstance(pods, Pods) else None
    for scaler in scalers:
        problems = []
        limit = scaler.memory_limit_bytes
        needed = GIB if scale.target >= from_nodes else 0.0
        if held is not None:
            needed = max(needed, held / pods_per_gib * GIB)
        if limit and limit < needed:
            problems.append(f"a memory limit of {in_bytes(limit)} where {in_bytes(needed)} are due")
        qps = scaler.flags.get("kube-client-qps", "")
        if scale.target >= from_nodes and (not qps or float(qps) <= 5):
            problems.append(f"{qps or 5} requests a second")
        level = scaler.flags.get("v", "")
        if scale.target > from_nodes and level.isdigit() and int(level) >= 2:
            problems.append(f"log level {level}")
        evidence = [
            Evidence(
                what="memory limit",
                value=in_bytes(limit) if limit else "not set",
                source=scaler.subject,
                seen=Seen.DECLARED,
            ),
            Evidence(
                what="--kube-client-qps",
                value=qps or "not set (default 5)",
                source=scaler.subject,
                seen=Seen.DECLARED,
            ),
            Evidence(
                what="--v", value=level or "not set", source=scaler.subject, seen=Seen.DECLARED
            ),
        ]
        if isinstance(pods, Pods):
            evidence.append(seen("pods", pods.total, pods))
        if problems:
            yield warn(
                f"{scaler.name} has {', '.join(problems)}, for {scale.target:,} nodes.",
                subject=scaler.subject,
                evidence=evidence,
            )
        elif limit and isinstance(pods, Unknown):
            yield unknown(pods, subject=scaler.subject, evidence=evidence)
        else:
            yield ok(
                f"{scaler.name} is sized for {scale.target:,} nodes.",
                subject=scaler.subject,
                evidence=evidence,
            )
