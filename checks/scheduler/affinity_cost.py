"""SCHED006: pods with inter-pod affinity, whose cost grows with pods × nodes."""

from collections.abc import Iterator

from kauditor.api import (
    AffinityTerms,
    Area,
    Finding,
    Scale,
    Severity,
    check,
    ok,
    seen,
    warn,
)


@check(
    id="SCHED006",
    area=Area.SCHEDULER,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/",
        "https://openai.com/index/scaling-kubernetes-to-7500-nodes",
    ),
    effort="1 day",
    risk="medium",
)
def affinity_cost(
    terms: AffinityTerms, scale: Scale, *, most_percent: float = 5.0, from_nodes: int = 500
) -> Iterator[Finding]:
    """Many pods carry inter-pod affinity, which makes the scheduler compare pods with nodes.

    ## Why it breaks
    For a pod with inter-pod affinity or anti-affinity the scheduler looks at the pods on every
    candidate node, so the work grows with pods × nodes. The Kubernetes documentation advises
    against it in clusters of more than several hundred nodes, and the cluster autoscaler's own
    figures assume that there is none. DNS, kube-system and workloads of at most ten pods are
    exempt here.

    ## Fix
    Replace hostname anti-affinity by topology spread constraints. They say the same for far less
    work; a workload that wants a machine for itself can ask for the whole machine instead.

    ```yaml
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      selector:
        matchLabels: {app: web}
      template:
        metadata:
          labels: {app: web}
        spec:
          topologySpreadConstraints:
            - maxSkew: 1
              topologyKey: kubernetes.io/hostname
              whenUnsatisfiable: ScheduleAnyway
              labelSelector:
                matchLabels: {app: web}
          containers:
            - name: web
              image: registry.example/web:1
    ```

    ## Verify
    ```shell
    kauditor scan --only SCHED006
    ```
    """
    counted = terms.with_terms - terms.exempt
    share = 100 * counted / terms.pods if terms.pods else 0.0
    evidence = [
        seen("unfinished pods", terms.pods, terms),
        seen("pods with inter-pod terms, exempt ones left out", counted, terms),
    ]
    if share <= most_percent or scale.target <= from_nodes:
        yield ok(
            f"{counted:,} of {terms.pods:,} pods carry inter-pod affinity ({share:.0f} %).",
            evidence=evidence,
        )
        return
    for owner in terms.worst:
        if owner.namespace == "kube-system" or owner.pods <= 10:
            continue
        kind = "required" if owner.required else "preferred"
        keys = ", ".join(owner.topology_keys)
        evidence.append(
            seen(f"{owner.namespace} {owner.owner}", f"{owner.pods:,} pods, {kind}, {keys}", terms)
        )
    yield warn(
        f"{counted:,} of {terms.pods:,} pods ({share:.0f} %) carry inter-pod affinity, "
        f"and {scale.target:,} nodes are wanted.",
        subject="inter-pod affinity",
        evidence=evidence,
    )
