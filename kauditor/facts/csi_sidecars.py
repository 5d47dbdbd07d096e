"""CSI controllers: their sidecars' rates and workers, their replicas."""

import re

import msgspec

from kauditor.facts.add_ons import DEPLOYMENT_LISTING
from kauditor.model.fact import Fact, tallies
from kauditor.objects.workload import Workload, flags_of

SIDECAR = re.compile(r"(?:^|/)csi-(provisioner|attacher)(?=[:@]|$)")


class CsiController(msgspec.Struct, frozen=True, kw_only=True):
    """One controller Deployment. ``flags`` by sidecar ("provisioner", "attacher")."""

    namespace: str
    name: str
    replicas: int
    flags: dict[str, dict[str, str]]

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"Deployment {self.namespace}/{self.name}"


class CsiControllers(Fact, frozen=True, kw_only=True):
    """Deployments that run a provisioner or attacher sidecar."""

    controllers: tuple[CsiController, ...]


KEPT = frozenset({"worker-threads", "kube-api-qps", "kube-api-burst", "leader-election", "timeout"})


@tallies(CsiControllers, DEPLOYMENT_LISTING)
class CsiControllerTally:
    """Picks out CSI controllers by the images of their sidecars."""

    def __init__(self) -> None:
        self.controllers: list[CsiController] = []

    def add(self, workload: Workload) -> None:
        """Keep the Deployment where it has a sidecar that we know."""
        flags: dict[str, dict[str, str]] = {}
        for container in workload.spec.template.spec.containers or []:
            match = SIDECAR.search(container.image)
            if match:
                found = flags_of(container.command, container.args)
                flags[match.group(1)] = {k: v for k, v in sorted(found.items()) if k in KEPT}
        if not flags:
            return
        replicas = workload.spec.replicas
        self.controllers.append(
            CsiController(
                namespace=workload.metadata.namespace,
                name=workload.metadata.name,
                replicas=1 if replicas is None else replicas,
                flags=flags,
            )
        )

    def total(self) -> CsiControllers:
        """The controllers."""
        return CsiControllers(
            controllers=tuple(sorted(self.controllers, key=lambda one: (one.namespace, one.name)))
        )
