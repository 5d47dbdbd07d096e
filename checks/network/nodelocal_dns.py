"""DNS003: no DNS cache on the nodes."""

import re
from collections.abc import Iterator

from kauditor.api import (
    Area,
    DaemonSets,
    Evidence,
    Finding,
    Provider,
    Scale,
    Severity,
    Unknown,
    Why,
    check,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

NAME = re.compile(r"^(node-?local-?dns|nodelocaldns)")
IMAGE = "k8s-dns-node-cache"
ON_EVERY_NODE = ("dns-default",)


@check(
    id="DNS003",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/",
        "https://docs.aws.amazon.com/eks/latest/best-practices/scale-cluster-services.html",
    ),
    effort="half a day",
    risk="medium",
)
def nodelocal_dns(
    sets: DaemonSets, provider: Provider | Unknown, scale: Scale, *, from_nodes: int = 200
) -> Iterator[Finding]:
    """Pods ask DNS across the network, since no node keeps a cache.

    ## Why it breaks
    Each lookup is a UDP packet to some other node: an entry in the connection table, and at times
    a lost packet that costs five seconds. A cache on the node answers most of them, asks over TCP
    for the rest, and goes on with what it knows while DNS is away. Kubernetes, EKS and AKS advise
    it for large clusters.

    ## Fix
    Run NodeLocal DNSCache on all nodes; with IPVS also change the kubelets' `--cluster-dns`.

    ```shell
    kubectl apply -f nodelocaldns.yaml    # from the page of the Kubernetes documentation
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get daemonset node-local-dns
    ```
    """
    found = next(
        (
            one
            for one in sets.sets
            if NAME.search(one.name) or any(IMAGE in image for image in one.images)
        ),
        None,
    )
    if found is not None:
        yield ok(
            "The nodes keep a DNS cache.",
            evidence=[Evidence(what="ready", value=f"{found.ready:,}", source=found.subject)],
        )
        return
    evidence = [
        seen("DaemonSets", sets.count, sets),
        Evidence(what="target", value=f"{scale.target:,} nodes", source="target of the scan"),
    ]
    everywhere = sets.named(*ON_EVERY_NODE)
    if everywhere is not None:
        yield skip(
            "DNS itself runs on every node.",
            evidence=[
                Evidence(
                    what="nodes served", value=f"{everywhere.ready:,}", source=everywhere.subject
                )
            ],
        )
    elif scale.target <= from_nodes:
        yield ok(
            f"The nodes keep no DNS cache, which {scale.target:,} nodes do without.",
            evidence=evidence,
        )
    elif isinstance(provider, Provider) and provider.name in ("aks", "gke"):
        # AKS LocalDNS is a setting of the node pool, Cloud DNS of GKE serves on the node.
        yield unknown(
            why=Why.MANAGED,
            summary=f"No DNS cache is visible on the nodes; {provider.name} has one of its own "
            "that can't be seen.",
            lift="Look for LocalDNS (AKS) or Cloud DNS (GKE) in the cluster's settings.",
            evidence=evidence,
        )
    else:
        yield warn(
            f"The nodes keep no DNS cache, and {scale.target:,} nodes are wanted.",
            evidence=evidence,
        )
