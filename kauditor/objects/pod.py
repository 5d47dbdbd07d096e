"""Pods."""

import msgspec

from kauditor.objects.meta import AnnotatedMeta, Struct


class Present(msgspec.Struct, frozen=True, gc=False):
    """Stands for an object of which only the presence matters."""


class AffinityTerm(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One required term."""

    topology_key: str = ""


class WeightedTerm(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One preferred term."""

    pod_affinity_term: AffinityTerm = AffinityTerm()


class PodAffinity(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Inter-pod affinity or anti-affinity."""

    required: list[AffinityTerm] | None = msgspec.field(
        name="requiredDuringSchedulingIgnoredDuringExecution", default=None
    )
    preferred: list[WeightedTerm] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec.affinity`` without node affinity, which costs little."""

    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Container(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Command line and image of a container. Environment values are not read."""

    name: str = ""
    image: str = ""
    command: list[str] | None = None
    args: list[str] | None = None


class PodSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a pod."""

    node_name: str = ""
    affinity: Affinity | None = None
    containers: list[Container] | None = None
    host_network: bool = False
    scheduling_gates: list[Present] | None = None
    scheduler_name: str = ""
    priority_class_name: str = ""


class PodCondition(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One condition."""

    type: str = ""
    status: str = ""
    reason: str = ""


class PodStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status`` of a pod."""

    phase: str = ""
    reason: str = ""
    conditions: list[PodCondition] | None = None


class Pod(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One pod."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def finished(self) -> bool:
        """Succeeded or failed: it holds no capacity, but still a row in etcd."""
        return self.status.phase in ("Succeeded", "Failed")
