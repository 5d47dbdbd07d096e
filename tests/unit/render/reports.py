"""Four reports made by hand: healthy, before a wall, managed and half seen, everything forbidden."""

from itertools import pairwise
from typing import Any

import msgspec

from kauditor.model.check import Area
from kauditor.model.dimension import Confidence, Growth, Limit, LimitKind, SourceClass
from kauditor.model.fact import Evidence, Seen, Why
from kauditor.model.finding import Severity, State
from kauditor.model.report import (
    AreaScore,
    Cluster,
    Gate,
    GateCondition,
    Report,
    Score,
    Step,
    Target,
    Tool,
)
from kauditor.model.result import Result, Waived
from kauditor.model.source import Cost, KindCost

WHY = """The controller-manager cuts one block for each node from the cluster's pod range. When the
pool is empty a new node still joins, but it stays `NotReady`: the range **can't be extended** later.

- Pods stay pending.
- The autoscaler keeps buying nodes that can't run anything."""
FIX = """Give new nodes smaller blocks, or plan a larger range for the next cluster. Existing nodes keep
their block.

```shell
# in /etc/kubernetes/manifests/kube-controller-manager.yaml
- --node-cidr-mask-size=25
```

A block must still hold the node's pods: a /25 holds 126.

```yaml
apiVersion: projectcalico.org/v3
kind: IPPool
metadata:
  name: pods-b
spec:
  cidr: 10.160.0.0/11
  blockSize: 26
```
"""
VERIFY = """```shell
kubectl get nodes -o custom-columns=NODE:.metadata.name,BLOCK:.spec.podCIDR
```"""
DOCS = "https://kubernetes.io/docs/setup/best-practices/cluster-large/"


def evidence(what: str, value: str, source: str, seen: Seen = Seen.MEASURED) -> Evidence:
    return Evidence(what=what, value=value, source=source, seen=seen)


def result(check: str, name: str, area: Area, state: State, **changes: Any) -> Result:
    fields: dict[str, Any] = {
        "check": check,
        "name": name,
        "area": area,
        "severity": Severity.HIGH,
        "state": state,
        "reason": None,
        "subject": "",
        "summary": f"{name.replace('-', ' ').capitalize()} is in order.",
        "evidence": (),
        "references": (DOCS,),
        "fix": FIX,
        "title": f"What {name.replace('-', ' ')} means for a growing cluster.",
        "why": WHY,
        "verify": VERIFY,
        **changes,
    }
    return Result(**fields)


def unseen(check: str, name: str, area: Area, reason: Why, summary: str, **changes: Any) -> Result:
    return result(
        check, name, area, State.UNKNOWN, **{"reason": reason, "summary": summary, **changes}
    )


def limit(check: str, title: str, nodes: int | None, **changes: Any) -> Limit:
    fields: dict[str, Any] = {
        "check": check,
        "dimension": title.lower().replace(" ", "-"),
        "title": title,
        "subject": "",
        "nodes": nodes,
        "low": nodes,
        "high": nodes,
        "kind": LimitKind.HARD,
        "confidence": Confidence.HIGH,
        "used": 812.0,
        "limit": None if nodes is None else float(nodes),
        "unit": "nodes",
        "runs_out": f"{title} run out",
        **changes,
    }
    return Limit(**fields)


def hidden(check: str, title: str) -> Limit:
    return limit(
        check, title, None, used=None, limit=None, confidence=Confidence.NONE, low=None, high=None
    )


def tool(checks: int) -> Tool:
    return Tool(name="kauditor", version="0.1.0", scoring="1", checks=checks)


def healthy() -> Report:
    """Forty nodes, a target of 100, nothing in the way."""
    passed = [
        result(
            "ADDR001", "pod-cidr-exhaustion", Area.NETWORK, State.PASS, nodes=256, capacity=True
        ),
        result("NET006", "coredns-replicas", Area.NETWORK, State.PASS, nodes=320, capacity=True),
        result("ETCD001", "etcd-quota", Area.ETCD, State.PASS, nodes=2_100, capacity=True),
        result("SCHED001", "affinity-cost", Area.SCHEDULER, State.PASS),
        result("STOR001", "attach-limit-headroom", Area.STORAGE, State.PASS, capacity=True),
        result("NET004", "calico-typha", Area.NETWORK, State.NOT_APPLICABLE),
    ]
    return Report(
        tool=tool(6),
        taken="2026-12-01T09:14:03Z",
        cluster=Cluster(
            name="staging",
            context="staging",
            server="https://10.0.0.10:6443",
            uid="7b0f6a1e-2f7c-4a42-9d0f-50f2d0b6a111",
            version="v1.34.2",
            provider="kubeadm",
            nodes=40,
            pods=611,
            identity="system:serviceaccount:kauditor:scanner",
        ),
        target=Target(nodes=100, source="--target-nodes"),
        headline="Nothing that was seen runs out before 100 nodes; "
        "pod addresses run out first, at 256.",
        score=Score(value=100, low=100, high=100, grade="A", coverage=100),
        areas=tuple(
            AreaScore(id=area, score=100, low=100, high=100, checks=checks, first_limit=first)
            for area, checks, first in (
                (Area.SCHEDULER, 1, None),
                (Area.ETCD, 1, 2_100),
                (Area.NETWORK, 2, 256),
                (Area.STORAGE, 1, None),
            )
        ),
        limits=(
            limit("ADDR001", "Pod addresses", 256, used=40.0, unit="blocks", points=100),
            limit(
                "NET006", "DNS capacity", 320, used=2.0, limit=16.0, unit="replicas",
                low=250, high=410, confidence=Confidence.LOW, kind=LimitKind.CAPACITY,
                grows=Growth.LINEAR, basis=SourceClass.FIELD, points=100,
            ),
            limit(
                "ETCD001", "etcd database quota", 2_100, used=42_000_000.0,
                limit=2_147_483_648.0, unit="bytes", low=1_750, high=2_625,
                confidence=Confidence.MEDIUM, basis=SourceClass.OFFICIAL, points=100,
            ),
            limit(
                "STOR001", "Volume attach slots", None, subject="ebs.csi.aws.com", used=6.0,
                limit=39.0, unit="volumes on one node", grows=Growth.FIXED,
            ),
        ),
        path=(),
        results=tuple(passed),
        cost=Cost(
            requests=24,
            bytes=1_830_212,
            seconds=1.9,
            peak_memory_bytes=61_000_000,
            priority_level="workload-low",
            kinds=(
                KindCost(kind="nodes", outcome="read", objects=40, requests=1, bytes=402_118),
                KindCost(kind="pods", outcome="read", objects=611, requests=2, bytes=1_402_090),
            ),
        ),
        gate=Gate(
            outcome="passed",
            exit=0,
            conditions=(
                GateCondition(
                    name="min-score", value="100", bound="70", outcome="passed",
                    sentence="score 100 is at least 70",
                ),
            ),
        ),
    )  # fmt: skip


_WALL: tuple[tuple[str, str, str, Area, int, int, int, str, str, float, float, str], ...] = (
    ("ADDR001", "pod-cidr-exhaustion", "Pod addresses", Area.NETWORK, 1_024, 1_024, 1_024, "hard", "high", 812, 1_024, "blocks"),
    ("AUTO001", "max-nodes-below-target", "Autoscaler node cap", Area.AUTOSCALING, 1_500, 1_500, 1_500, "configured", "high", 812, 1_500, "nodes"),
    ("NET007", "kube-proxy-sync", "kube-proxy rule sync", Area.NETWORK, 2_300, 1_900, 2_800, "latency", "medium", 3.6, 10, "seconds"),
    ("ETCD001", "etcd-quota", "etcd database quota", Area.ETCD, 2_880, 2_500, 3_300, "hard", "medium", 601_295_421, 2_147_483_648, "bytes"),
    ("API003", "apiserver-memory", "API server memory", Area.CONTROL_PLANE, 3_100, 2_500, 3_900, "capacity", "medium", 8_697_308_774, 33_285_996_544, "bytes"),
    ("NET006", "coredns-replicas", "DNS capacity", Area.NETWORK, 3_400, 2_600, 4_400, "capacity", "low", 14_000, 60_000, "queries a second"),
    ("SCHED004", "scheduler-client-rate", "Scheduler throughput", Area.SCHEDULER, 4_300, 3_800, 4_900, "latency", "medium", 44, 50, "calls a second"),
    ("NET004", "calico-typha", "Typha capacity", Area.NETWORK, 5_600, 5_300, 6_000, "capacity", "high", 5, 26, "replicas"),
    ("API007", "controller-rate", "Controller API rate", Area.CONTROL_PLANE, 6_200, 5_200, 7_400, "latency", "low", 9, 70, "calls a second"),
    ("STOR005", "provisioner-queue", "Provisioner work queue", Area.STORAGE, 7_100, 6_400, 7_900, "latency", "medium", 0.8, 7, "seconds"),
)  # fmt: skip
_FAULTS: tuple[tuple[str, str, Area, State, Severity, str, str], ...] = (
    ("STOR001", "attach-limit-headroom", Area.STORAGE, State.FAIL, Severity.HIGH, "ebs.csi.aws.com", "The fullest node has 37 of 39 volumes of ebs.csi.aws.com attached."),
    ("SCHED001", "affinity-cost", Area.SCHEDULER, State.FAIL, Severity.HIGH, "shop/checkout", "Deployment shop/checkout asks 640 pods for anti-affinity across the whole cluster."),
    ("ETCD005", "events-in-main-etcd", Area.ETCD, State.FAIL, Severity.MEDIUM, "", "Events share etcd with everything else: 38 % of all keys."),
    ("API002", "daemonset-api-clients", Area.CONTROL_PLANE, State.FAIL, Severity.MEDIUM, "monitoring/node-agent", "DaemonSet monitoring/node-agent watches all pods from each of 812 nodes."),
    ("AUTO003", "loose-unready-brake", Area.AUTOSCALING, State.FAIL, Severity.LOW, "", "The autoscaler goes on while 45 % of the nodes are not ready."),
    ("WORK002", "no-disruption-budget", Area.WORKLOADS, State.WARN, Severity.MEDIUM, "", "61 Deployments with more than one replica have no disruption budget."),
    ("WORK007", "latest-tags", Area.WORKLOADS, State.WARN, Severity.LOW, "", "208 containers pull a moving tag on each start."),
    ("NODE003", "max-pods-default", Area.NODES, State.WARN, Severity.LOW, "pool general-a", "286 nodes of pool general-a keep the default of 110 pods."),
)  # fmt: skip


def wall() -> Report:
    """812 nodes before a wall at 1,024, with a target of 5,000."""
    limits: list[Limit] = []
    results: list[Result] = []
    for check, name, title, area, nodes, low, high, kind, confidence, used, most, unit in _WALL:
        subject = "10.128.0.0/14" if check == "ADDR001" else ""
        state = State.FAIL if nodes <= 5_000 else State.WARN if nodes <= 6_250 else State.PASS
        limits.append(
            limit(
                check, title, nodes, low=low, high=high, kind=LimitKind(kind), used=float(used),
                limit=float(most), unit=unit, confidence=Confidence(confidence), subject=subject,
                grows=Growth.WALL if low == high else Growth.LINEAR,
                basis=SourceClass.HARD if confidence == "high" else SourceClass.FIELD,
                points=int(75 * (min(nodes, 5_000) - 812) / 4_188),
            )
        )  # fmt: skip
        results.append(
            result(
                check, name, area, state, nodes=nodes, capacity=True, subject=subject,
                dimension=limits[-1].dimension,
                severity=Severity.HIGH if nodes <= 5_000 else Severity.MEDIUM,
                summary=f"{title}: {used:,} of {most:,} {unit} are taken.",
                evidence=(
                    evidence("pod range", "10.128.0.0/14", "pod kube-system/kube-controller-manager-cp-1 --cluster-cidr", Seen.DECLARED),
                    evidence("in use", f"{used:,} {unit}", "GET /api/v1/nodes"),
                    evidence("plugin", "calico", "DaemonSet kube-system/calico-node", Seen.INFERRED),
                ),
            )
        )  # fmt: skip
    limits.append(
        limit(
            "STOR001", "Volume attach slots", None, subject="ebs.csi.aws.com", used=37.0,
            limit=39.0, unit="volumes on one node", grows=Growth.FIXED,
        )
    )  # fmt: skip
    limits.append(
        limit(
            "NODE001", "Pods on one node", None, used=54.0, limit=110.0, unit="pods on one node",
            grows=Growth.FIXED, confidence=Confidence.MEDIUM, basis=SourceClass.OFFICIAL,
        )
    )  # fmt: skip
    limits += [hidden("ETCD004", "etcd disk latency"), hidden("NODE006", "Cloud instance quota")]
    for check, name, area, state, severity, subject, summary in _FAULTS:
        results.append(
            result(
                check, name, area, state, severity=severity, subject=subject, summary=summary,
                dimension="volume-attach-slots" if check == "STOR001" else "",
                evidence=(evidence("counted", "640 pods", "GET /api/v1/pods"),),
            )
        )  # fmt: skip
    results += [
        unseen(
            "ETCD004", "etcd-disk-latency", Area.ETCD, Why.NO_METRICS,
            "No metrics of etcd's own were found.", capacity=True,
            lift="Give a Prometheus that scrapes etcd: --prometheus URL.",
        ),
        unseen(
            "NODE006", "cloud-quota", Area.NODES, Why.NOT_IN_API,
            "The cloud's quota for instances is not in the Kubernetes API.", capacity=True,
            lift="State it in kauditor.toml under [facts.cloud].",
        ),
        unseen(
            "SCHED002", "scheduler-metrics", Area.SCHEDULER, Why.FORBIDDEN,
            "GET /metrics: 403.", grant="get on /metrics",
            lift="Allow get on /metrics: `kauditor rbac` prints the whole role.",
        ),
        unseen(
            "API009", "priority-and-fairness", Area.CONTROL_PLANE, Why.FORBIDDEN,
            "GET /metrics: 403.", grant="get on /metrics", severity=Severity.MEDIUM,
            lift="Allow get on /metrics: `kauditor rbac` prints the whole role.",
        ),
        result(
            "STOR006", "snapshot-queue", Area.STORAGE, State.WAIVED, severity=Severity.LOW,
            summary="Snapshots share one queue with volumes.",
            waived=Waived(
                until="2027-03-31",
                reason="Snapshots move to a cluster of their own.",
                owner="storage@example.com",
            ),
        ),
        result("NODE001", "pods-on-a-node", Area.NODES, State.PASS, capacity=True),
        result("NET002", "service-cidr", Area.NETWORK, State.PASS),
        result("NODE002", "kubelet-skew", Area.NODES, State.PASS),
        result("BATCH001", "finished-jobs", Area.BATCH, State.NOT_APPLICABLE),
    ]  # fmt: skip
    order = [State.FAIL, State.WARN, State.UNKNOWN, State.WAIVED, State.PASS, State.NOT_APPLICABLE]
    results.sort(key=lambda one: (order.index(one.state), list(Severity).index(one.severity)))
    titles = {
        "ADDR001": ("Give new nodes smaller pod blocks, or plan a larger range for the next cluster", "1 day", "high"),
        "AUTO001": ("Raise the autoscaler's node cap", "10 minutes", "low"),
        "NET007": ("Move kube-proxy from iptables to nftables", "1 day", "medium"),
        "ETCD001": ("Raise the etcd quota and move events out", "half a day", "medium"),
        "API003": ("Give the API servers 64 GiB", "1 day", "low"),
        "NET006": ("Add NodeLocal DNSCache and scale CoreDNS", "half a day", "low"),
        "SCHED004": ("Raise the scheduler's API rate", "10 minutes", "low"),
    }  # fmt: skip
    ahead = [one for one in limits if one.nodes is not None]
    path = tuple(
        Step(
            check=one.check, subject=one.subject, title=titles[one.check][0],
            before=one.nodes or 0, after=following.nodes, then=following.title,
            effort=titles[one.check][1], risk=titles[one.check][2],
        )
        for one, following in pairwise(ahead)
        if (one.nodes or 0) <= 5_000
    )  # fmt: skip
    kinds = (
        KindCost(kind="pods", outcome="read", objects=21_503, requests=44, bytes=91_204_118),
        KindCost(kind="nodes", outcome="read", objects=812, requests=2, bytes=8_120_400),
        KindCost(kind="deployments", outcome="read", objects=1_904, requests=4, bytes=6_002_311),
        KindCost(kind="events", outcome="counted", objects=118_220, requests=1, bytes=2_004),
        KindCost(kind="/metrics", outcome="forbidden", requests=1, bytes=312, detail="403: needs get on /metrics"),
    )  # fmt: skip
    return Report(
        tool=tool(27),
        taken="2026-12-01T09:14:03Z",
        cluster=Cluster(
            name="prod-eu-1",
            context="prod-eu-1-admin",
            server="https://api.prod-eu-1.example.com:6443",
            uid="0c7a9a53-3a8e-4c55-8a80-2a4f6f6f3c11",
            version="v1.34.2",
            provider="kubeadm",
            nodes=812,
            pods=21_503,
            identity="system:serviceaccount:kauditor:scanner",
        ),
        target=Target(nodes=5_000, source="--target-nodes"),
        headline="Pod addresses run out first, at 1,024 nodes.",
        score=Score(value=51, low=43, high=63, grade="D", coverage=88),
        areas=(
            AreaScore(id=Area.SCHEDULER, score=56, low=40, high=64, checks=3, failed=2, unknown=1, first_limit=4_300),
            AreaScore(id=Area.CONTROL_PLANE, score=60, low=51, high=72, checks=4, failed=2, warned=1, unknown=1, first_limit=3_100),
            AreaScore(id=Area.ETCD, score=54, low=33, high=62, checks=3, failed=2, unknown=1, first_limit=2_880),
            AreaScore(id=Area.NETWORK, score=18, low=18, high=18, checks=5, failed=3, warned=1, first_limit=1_024),
            AreaScore(id=Area.STORAGE, score=70, low=70, high=70, checks=3, failed=1, first_limit=7_100),
            AreaScore(id=Area.AUTOSCALING, score=28, low=28, high=28, checks=2, failed=2, first_limit=1_500),
            AreaScore(id=Area.NODES, score=96, low=80, high=98, checks=4, warned=1, unknown=1),
            AreaScore(id=Area.WORKLOADS, score=92, low=92, high=92, checks=2, warned=2),
        ),
        limits=tuple(limits),
        path=path,
        results=tuple(results),
        cost=Cost(
            requests=214, bytes=118_400_211, seconds=38.2, waited_seconds=4.1, throttled=2,
            peak_memory_bytes=189_000_000, priority_level="workload-low", kinds=kinds,
        ),
        gate=Gate(
            outcome="failed",
            exit=1,
            conditions=(
                GateCondition(name="min-score", value="51", bound="70", outcome="failed", sentence="score 51 is under 70"),
                GateCondition(name="fail-on", value="2", bound="critical", outcome="failed", sentence="2 failed at critical or worse, allows 0"),
                GateCondition(name="min-coverage", value="88", bound="80", outcome="passed", sentence="coverage 88 % is at least 80 %"),
            ),
        ),
        notes=("The list of pods changed underway: 12 pods were made or removed while it was read.",),
    )  # fmt: skip


def managed() -> Report:
    """A managed cluster: the provider keeps the control plane, half of the rest was seen."""
    kept = [
        unseen(
            check, name, area, Why.MANAGED, "The provider keeps the control plane.",
            capacity=True, lift="Ask the provider, and state the answer in kauditor.toml.",
        )
        for check, name, area in (
            ("ETCD001", "etcd-quota", Area.ETCD),
            ("ETCD004", "etcd-disk-latency", Area.ETCD),
            ("API003", "apiserver-memory", Area.CONTROL_PLANE),
            ("SCHED004", "scheduler-client-rate", Area.SCHEDULER),
        )
    ]  # fmt: skip
    return Report(
        tool=tool(8),
        taken="2026-11-30T23:59:59Z",
        cluster=Cluster(
            name="arn:aws:eks:eu-central-1:123456789012:cluster/payments-production-eu-central-1",
            context="payments",
            server="https://0A1B2C3D4E5F.gr7.eu-central-1.eks.amazonaws.com",
            uid="",
            version="v1.33.5-eks-113cf36",
            provider="eks",
            nodes=96,
            pods=None,
        ),
        target=Target(nodes=300, source="kauditor.toml"),
        headline="DNS capacity runs out first, at 210 nodes.",
        score=Score(value=74, low=31, high=88, grade="C", coverage=52),
        areas=(
            AreaScore(id=Area.CONTROL_PLANE, score=None, low=40, high=100, checks=1, unknown=1),
            AreaScore(id=Area.ETCD, score=None, low=16, high=100, checks=2, unknown=2),
            AreaScore(id=Area.NETWORK, score=70, low=70, high=70, checks=2, failed=1, first_limit=210),
        ),
        limits=(
            limit(
                "NET006", "DNS capacity", 210, low=160, high=280, used=7.4, limit=16.0,
                unit="thousand queries a second", confidence=Confidence.LOW,
                kind=LimitKind.CAPACITY, grows=Growth.PODS, basis=SourceClass.OURS,
            ),
            *(hidden(one.check, one.name.replace("-", " ")) for one in kept),
        ),
        path=(
            Step(check="NET006", subject="", title="Scale CoreDNS with the cluster", before=210, after=None, then=""),
        ),
        results=(
            result(
                "NET006", "coredns-replicas", Area.NETWORK, State.FAIL, nodes=210, capacity=True,
                dimension="dns-capacity",
                summary="CoreDNS is two fixed replicas with no node cache.",
                evidence=(evidence("replicas", "2", "Deployment kube-system/coredns", Seen.DECLARED),),
            ),
            *kept,
            result("NET002", "service-cidr", Area.NETWORK, State.PASS),
        ),
        cost=Cost(requests=31, bytes=4_002_113, seconds=3.4),
        gate=Gate(
            outcome="undecided",
            exit=4,
            conditions=(
                GateCondition(name="min-coverage", value="52", bound="80", outcome="undecided", sentence="coverage 52 % is under 80 %"),
            ),
        ),
    )  # fmt: skip


def forbidden() -> Report:
    """A credential that may read nothing: every check is unknown, and there is no score."""
    asked = (
        ("ADDR001", "pod-cidr-exhaustion", Area.NETWORK, "nodes"),
        ("NET006", "coredns-replicas", Area.NETWORK, "deployments.apps"),
        ("ETCD001", "etcd-quota", Area.ETCD, "pods"),
        ("ETCD005", "events-in-main-etcd", Area.ETCD, "pods"),
        ("SCHED001", "affinity-cost", Area.SCHEDULER, "pods"),
        ("STOR001", "attach-limit-headroom", Area.STORAGE, "csinodes.storage.k8s.io"),
        ("AUTO001", "max-nodes-below-target", Area.AUTOSCALING, "deployments.apps"),
    )
    results = tuple(
        unseen(
            check, name, area, Why.FORBIDDEN,
            f"list of {resource}: 403, the right to list it is missing.",
            capacity=check not in ("ETCD005", "SCHED001"),
            lift=f"Allow list on {resource} cluster-wide: `kauditor rbac` prints the whole role.",
            grant=f"list on {resource} cluster-wide",
        )
        for check, name, area, resource in asked
    )  # fmt: skip
    return Report(
        tool=tool(len(asked)),
        taken="2026-12-01T09:14:03Z",
        cluster=Cluster(
            name="locked",
            context="locked",
            server="https://10.9.8.7:6443",
            uid="",
            version="",
            provider="",
            nodes=None,
            pods=None,
            identity="nobody",
        ),
        target=Target(nodes=None, source="none: nodes were not counted"),
        headline="No limit could be decided: what would show it was not seen.",
        score=Score(value=None, low=0, high=100, grade=None, coverage=0),
        areas=tuple(
            AreaScore(id=area, score=None, low=16, high=100, checks=checks, unknown=checks)
            for area, checks in (
                (Area.SCHEDULER, 1), (Area.ETCD, 2), (Area.NETWORK, 2), (Area.STORAGE, 1),
                (Area.AUTOSCALING, 1),
            )
        ),
        limits=tuple(
            hidden(one.check, one.name.replace("-", " ")) for one in results if one.capacity
        ),
        path=(),
        results=results,
        cost=Cost(
            requests=7,
            bytes=2_184,
            seconds=0.3,
            kinds=(KindCost(kind="pods", outcome="forbidden", requests=1, detail="403"),),
        ),
        gate=Gate(outcome="none", exit=0),
    )  # fmt: skip


REPORTS = {"healthy": healthy, "wall": wall, "managed": managed, "forbidden": forbidden}


def large(results: int = 286) -> Report:
    """The wall with as many results as a full pack gives on a big cluster."""
    report = wall()
    more = []
    for place in range(results - len(report.results)):
        check = f"MORE{place % 180:03}"
        if place % 3 == 0:
            one = result(
                check, "one-of-many", Area.WORKLOADS, State.FAIL, severity=Severity.MEDIUM,
                subject=f"team-{place}/service-{place}",
                summary=f"Deployment team-{place}/service-{place} keeps 640 pods on one node.",
                evidence=(evidence("counted", "640 pods", "GET /api/v1/pods"),) * 4,
            )  # fmt: skip
        elif place % 3 == 1:
            one = unseen(
                check, "one-of-many", Area.WORKLOADS, Why.FORBIDDEN, f"list of thing-{place}: 403.",
                lift=f"Allow list on thing-{place}.", grant=f"list on thing-{place}",
            )  # fmt: skip
        else:
            one = result(check, "one-of-many", Area.WORKLOADS, State.PASS)
        more.append(one)
    return msgspec.structs.replace(report, results=(*report.results, *more))
