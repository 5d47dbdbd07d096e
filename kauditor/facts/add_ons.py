"""Deployments that a cluster leans on: DNS, autoscalers, Typha and their like."""

import re

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.meta import quantity
from kauditor.objects.workload import Workload, flags_of

DEPLOYMENT_LISTING = Listing("apps/v1", "deployments", Workload)

# role → (names, label k8s-app or app, image name). The name of a Deployment is free text, so the
# image decides too: a chart calls the autoscaler "aws-cluster-autoscaler", or anything.
ROLES: dict[str, tuple[re.Pattern[str], frozenset[str], re.Pattern[str]]] = {
    "dns": (
        re.compile(r"^(coredns|kube-dns)$"),
        frozenset({"kube-dns"}),
        re.compile(r"/(coredns|k8s-dns-kube-dns)(?=[:@]|$)"),
    ),
    "dns-autoscaler": (
        re.compile(r"^(dns|coredns|kube-dns)-autoscaler$"),
        frozenset({"kube-dns-autoscaler", "dns-autoscaler", "coredns-autoscaler"}),
        re.compile(r"(?!)"),
    ),
    "typha": (
        re.compile(r"^calico-typha$"),
        frozenset({"calico-typha"}),
        re.compile(r"/typha(?=[:@]|$)"),
    ),
    "cluster-autoscaler": (
        re.compile(r"(^|-)cluster-autoscaler$"),
        frozenset({"cluster-autoscaler"}),
        re.compile(r"/(cluster-autoscaler)(-[a-z0-9]+)?(?=[:@]|$)"),
    ),
    "karpenter": (
        re.compile(r"^karpenter$"),
        frozenset({"karpenter"}),
        re.compile(r"/karpenter/controller(?=[:@]|$)"),
    ),
    "metrics-server": (
        re.compile(r"^metrics-server(-v[\d.]+)?$"),
        frozenset({"metrics-server"}),
        re.compile(r"/metrics-server(?=[:@]|$)"),
    ),
}

SYSTEM_ROLES = frozenset({"dns", "dns-autoscaler"})

KEPT_FLAGS = frozenset(
    """
    nodes max-nodes-total max-total-unready-percentage ok-total-unready-count
    node-group-auto-discovery scale-down-delay-after-add scale-down-unneeded-time
    max-drain-parallelism max-nodes-per-scaleup expander balance-similar-node-groups
    kube-client-qps kube-client-burst kube-api-qps kube-api-burst v scan-interval
    max-node-provision-time cloud-provider nodeLabels default-params target configmap namespace
    metric-resolution worker-threads leader-election timeout
    """.split()
)


class AddOn(msgspec.Struct, frozen=True, kw_only=True):
    """One add-on Deployment. ``memory_limit_bytes`` is that of its largest container, 0 if none."""

    role: str
    namespace: str
    name: str
    replicas: int
    ready: int
    flags: dict[str, str]
    image_tag: str = ""
    memory_limit_bytes: float = 0.0
    priority_class: str = ""

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"Deployment {self.namespace}/{self.name}"


class AddOns(Fact, frozen=True, kw_only=True):
    """Add-ons among the Deployments; ``deployments`` counts all there are."""

    deployments: int
    found: tuple[AddOn, ...]

    def role(self, role: str) -> tuple[AddOn, ...]:
        """The add-ons in one role; usually one or none."""
        return tuple(add_on for add_on in self.found if add_on.role == role)


@tallies(AddOns, DEPLOYMENT_LISTING)
class AddOnTally:
    """Picks out add-ons."""

    def __init__(self) -> None:
        self.deployments = 0
        self.found: list[AddOn] = []

    def add(self, workload: Workload) -> None:
        """Keep the Deployment where it is an add-on."""
        self.deployments += 1
        role = role_of(workload)
        if not role:
            return
        containers = workload.spec.template.spec.containers or []
        flags: dict[str, str] = {}
        memory = 0.0
        for container in containers:
            for flag, value in flags_of(container.command, container.args).items():
                if flag in KEPT_FLAGS:
                    flags.setdefault(flag, value)
            limit = (container.resources.limits or {}).get("memory")
            try:
                memory = max(memory, quantity(limit))
            except ValueError:
                continue
        replicas = workload.spec.replicas
        self.found.append(
            AddOn(
                role=role,
                namespace=workload.metadata.namespace,
                name=workload.metadata.name,
                replicas=1 if replicas is None else replicas,
                ready=workload.status.ready_replicas,
                flags=dict(sorted(flags.items())),
                image_tag=containers[0].image.rpartition(":")[2] if containers else "",
                memory_limit_bytes=memory,
                priority_class=workload.spec.template.spec.priority_class_name,
            )
        )

    def total(self) -> AddOns:
        """The add-ons, in a steady order."""
        return AddOns(
            deployments=self.deployments,
            found=tuple(sorted(self.found, key=lambda one: (one.role, one.namespace, one.name))),
        )


def role_of(workload: Workload) -> str:
    """The add-on role of a Deployment, "" for all others. Labels first, then image, then name.

    The cluster's DNS stands in kube-system; a tenant's own resolver elsewhere is not it.
    """
    role = _role_of(workload)
    if role in SYSTEM_ROLES and workload.metadata.namespace != "kube-system":
        return ""
    return role


def _role_of(workload: Workload) -> str:
    labels = workload.metadata.labels or {}
    marked = {
        labels.get("k8s-app", ""),
        labels.get("app", ""),
        labels.get("app.kubernetes.io/name", ""),
    }
    images = [container.image for container in workload.spec.template.spec.containers or []]
    for role, (_, label_values, _) in ROLES.items():
        if marked & label_values:
            return role
    for role, (_, _, image_name) in ROLES.items():
        if any(image_name.search("/" + image) for image in images):
            return role
    for role, (name, _, _) in ROLES.items():
        if name.search(workload.metadata.name):
            return role
    return ""
