"""SCHED013: network, DNS and storage add-ons that any workload may push out."""

import re
from collections.abc import Iterator

from kauditor.api import (
    AddOn,
    AddOns,
    Area,
    DaemonSet,
    DaemonSets,
    Evidence,
    Finding,
    PriorityClasses,
    Scale,
    Seen,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
)

NAMES = frozenset(
    """
    kube-proxy calico-node canal cilium anetd aws-node azure-cns kube-flannel-ds kube-flannel
    ovnkube-node antrea-agent weave-net kube-router node-local-dns coredns kube-dns dns-default
    """.split()
)
# Drivers name their agents so: ebs-csi-node, csi-rbdplugin, longhorn-csi-plugin.
CSI = re.compile(r"(^|[-a-z])csi-.*(node|plugin)|csi-?node|csi-[a-z0-9]+plugin")
SYSTEM = "system-"


@check(
    id="SCHED013",
    area=Area.SCHEDULER,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/",
        "https://openai.com/index/scaling-kubernetes-to-7500-nodes",
    ),
    effort="10 minutes",
    risk="low",
)
def priority_of_node_agents(
    sets: DaemonSets | Unknown,
    add_ons: AddOns | Unknown,
    classes: PriorityClasses | Unknown,
    scale: Scale,
    *,
    small: int = 500,
) -> Iterator[Finding]:
    r"""A network, DNS or storage add-on runs without a system priority class.

    ## Why it breaks
    Without a class a pod has the lowest priority there is. On a full node the kubelet evicts it
    first, and the scheduler pushes it out for any workload of a higher class. A node without its
    network agent, proxy or storage driver takes pods and can't start them; the larger the
    cluster, the more often some node is full. Classes added later make it worse: whatever has
    none is then below all that have one.

    ## Fix
    Give node agents system-node-critical, and DNS system-cluster-critical.

    ```shell
    kubectl -n NAMESPACE patch daemonset NAME --type=merge \
      -p='{"spec": {"template": {"spec": {"priorityClassName": "system-node-critical"}}}}'
    ```

    ## Verify
    ```shell
    kubectl get daemonsets --all-namespaces \
      -o custom-columns=NAME:.metadata.name,CLASS:.spec.template.spec.priorityClassName
    ```
    """
    found = 0
    if isinstance(sets, Unknown):
        yield unknown(sets, subject="DaemonSets")
    else:
        for one in sets.sets:
            if one.name in NAMES or CSI.search(one.name):
                found += 1
                yield _verdict(one, classes, scale, small)
    if isinstance(add_ons, Unknown):
        yield unknown(add_ons, subject="Deployments")
    else:
        for server in add_ons.role("dns"):
            found += 1
            yield _verdict(server, classes, scale, small)
    if not found and isinstance(sets, DaemonSets) and isinstance(add_ons, AddOns):
        yield skip(
            "No DaemonSet or Deployment is a network, DNS or storage add-on that we know.",
            evidence=[
                seen("DaemonSets", sets.count, sets),
                seen("Deployments", add_ons.deployments, add_ons),
            ],
        )


def _verdict(
    one: DaemonSet | AddOn, classes: PriorityClasses | Unknown, scale: Scale, small: int
) -> Finding:
    name = one.priority_class
    row = Evidence(
        what="priorityClassName", value=name or "not set", source=one.subject, seen=Seen.DECLARED
    )
    severity = Severity.MEDIUM if scale.target < small else None
    if name.startswith(SYSTEM):
        return ok(f"It runs as {name}.", subject=one.subject, evidence=[row])
    if not name:
        return fail(
            "It has no priority class, so any workload of a higher class pushes it out.",
            subject=one.subject,
            severity=severity,
            evidence=[row],
        )
    if isinstance(classes, Unknown):
        return unknown(classes, subject=one.subject, evidence=[row])
    value = classes.values.get(name, 0)
    evidence = [
        row,
        seen(f"value of {name}", value, classes),
        seen("highest of all others but the system's", classes.highest, classes),
    ]
    if value > 0 and value >= classes.highest:
        return ok(
            f"It runs as {name}, which only the system's classes outrank.",
            subject=one.subject,
            evidence=evidence,
        )
    return fail(
        f"It runs as {name} ({value:,}), and workloads may have up to {classes.highest:,}.",
        subject=one.subject,
        severity=Severity.MEDIUM,
        evidence=evidence,
    )
