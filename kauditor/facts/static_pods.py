"""Control-plane components as their static-pod mirrors show them."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.pod import Pod
from kauditor.objects.workload import flags_of

KUBE_SYSTEM_PODS = Listing("v1", "pods", Pod, namespace="kube-system")
MIRROR = "kubernetes.io/config.mirror"
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

# Only flags that say something about scale are kept: a command line can carry secrets.
KEPT_FLAGS = frozenset(
    """
    quota-backend-bytes max-request-bytes snapshot-count heartbeat-interval election-timeout
    auto-compaction-mode auto-compaction-retention listen-metrics-urls data-dir
    experimental-initial-corrupt-check initial-cluster
    etcd-servers etcd-servers-overrides etcd-compaction-interval event-ttl
    max-requests-inflight max-mutating-requests-inflight enable-priority-and-fairness
    watch-cache watch-cache-sizes default-watch-cache-size goaway-chance
    service-cluster-ip-range service-node-port-range delete-collection-workers
    audit-policy-file audit-log-mode audit-webhook-mode encryption-provider-config
    feature-gates default-not-ready-toleration-seconds default-unreachable-toleration-seconds
    cluster-cidr allocate-node-cidrs node-cidr-mask-size node-cidr-mask-size-ipv4
    node-cidr-mask-size-ipv6 kube-api-qps kube-api-burst configure-cloud-routes
    concurrent-deployment-syncs concurrent-replicaset-syncs concurrent-statefulset-syncs
    concurrent-endpoint-syncs concurrent-service-endpoint-syncs concurrent-job-syncs
    concurrent-gc-syncs concurrent-namespace-syncs concurrent-horizontal-pod-autoscaler-syncs
    concurrent-daemonset-syncs concurrent-service-syncs horizontal-pod-autoscaler-sync-period
    node-monitor-grace-period node-eviction-rate secondary-node-eviction-rate
    unhealthy-zone-threshold large-cluster-size-threshold terminated-pod-gc-threshold
    max-endpoints-per-slice config bind-address leader-elect controllers
    """.split()
)


class StaticPod(msgspec.Struct, frozen=True, kw_only=True):
    """One component on one node, with its flags (only those that bear on scale)."""

    component: str
    name: str
    node: str
    flags: dict[str, str]
    image_tag: str = ""


class StaticPods(Fact, frozen=True, kw_only=True):
    """The control plane as far as it runs as static pods in kube-system."""

    pods: tuple[StaticPod, ...]


@tallies(StaticPods, KUBE_SYSTEM_PODS)
class StaticPodTally:
    """Picks out mirror pods of the control plane."""

    def __init__(self) -> None:
        self.pods: list[StaticPod] = []

    def add(self, pod: Pod) -> None:
        """Keep the pod where it mirrors a component."""
        if not pod.metadata.annotation(MIRROR):
            return
        component = pod.metadata.label("component") or pod.metadata.label("k8s-app")
        containers = pod.spec.containers or []
        for container in containers:
            name = component if component in COMPONENTS else container.name
            if name not in COMPONENTS:
                continue
            flags = flags_of(container.command, container.args)
            self.pods.append(
                StaticPod(
                    component=name,
                    name=pod.metadata.name,
                    node=pod.spec.node_name,
                    flags={
                        flag: value for flag, value in sorted(flags.items()) if flag in KEPT_FLAGS
                    },
                    image_tag=container.image.rpartition(":")[2],
                )
            )
            return

    def total(self) -> StaticPods:
        """The static pods, in a steady order."""
        return StaticPods(pods=tuple(sorted(self.pods, key=lambda pod: (pod.component, pod.name))))
