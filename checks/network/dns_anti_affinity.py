"""DNS005: all DNS replicas on one node."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    DnsPods,
    Evidence,
    Finding,
    Nodes,
    Provider,
    Seen,
    Severity,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
)

SMALL = 3


@check(
    id="DNS005",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://openai.com/index/scaling-kubernetes-to-2500-nodes",
        "https://github.com/coredns/deployment/blob/master/kubernetes/coredns.yaml.sed",
    ),
    effort="half an hour",
    risk="low",
)
def dns_anti_affinity(
    pods: DnsPods, nodes: Nodes, provider: Provider | Unknown, *, most_on_one: int = 10
) -> Iterator[Finding]:
    """DNS replicas share one node, so they are lost together and share its limits.

    ## Why it breaks
    Replicas that start while a cluster has one node stay there: the loss of that node is the loss
    of DNS. A resolver upstream also counts queries by machine: one published cluster had ten and
    more replicas on some of its machines and met the provider's limit of about 200 external
    queries per second for each.

    ## Fix
    Require that no two DNS replicas share a host, and restart them once.

    ```yaml
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: coredns
      namespace: kube-system
    spec:
      selector:
        matchLabels:
          k8s-app: kube-dns
      template:
        metadata:
          labels:
            k8s-app: kube-dns
        spec:
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - labelSelector:
                    matchLabels:
                      k8s-app: kube-dns
                  topologyKey: kubernetes.io/hostname
          containers:
            - name: coredns
              image: registry.k8s.io/coredns/coredns:v1.12.0
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide
    ```
    """
    if not pods.placed:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="No DNS replica is visible in kube-system.",
            lift="Where the provider serves DNS outside the cluster, skip this check.",
            evidence=[seen("DNS replicas", pods.placed, pods)],
        )
        return
    evidence = [
        seen("DNS replicas", pods.placed, pods),
        seen("nodes that carry them", pods.nodes, pods),
        Evidence(
            what="most on one node",
            value=f"{pods.most_on_one}",
            source=f"pods on node {pods.fullest}",
            seen=Seen.MEASURED,
        ),
    ]
    if pods.most_on_one >= most_on_one:
        yield fail(
            f"{pods.most_on_one} of {pods.placed} DNS replicas share node {pods.fullest}.",
            subject="DNS replicas",
            evidence=evidence,
        )
    elif pods.placed > 1 and pods.nodes == 1:
        if nodes.count <= SMALL or (isinstance(provider, Provider) and provider.local):
            yield skip(
                f"With {nodes.count} nodes, where DNS runs is where it started.",
                subject="DNS replicas",
                evidence=[*evidence, seen("nodes", nodes.count, nodes)],
            )
            return
        yield fail(
            f"All {pods.placed} DNS replicas stand on node {pods.fullest}.",
            subject="DNS replicas",
            evidence=evidence,
        )
    else:
        yield ok(
            f"{pods.placed} DNS replicas stand on {pods.nodes} nodes.",
            subject="DNS replicas",
            evidence=evidence,
        )
