"""HorizontalPodAutoscalers: how many, and which add-ons they scale."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.workload import HorizontalPodAutoscaler

HPA_LISTING = Listing("autoscaling/v2", "horizontalpodautoscalers", HorizontalPodAutoscaler)


class SystemAutoscaler(msgspec.Struct, frozen=True, kw_only=True):
    """One that scales something in kube-system."""

    name: str
    target_kind: str
    target: str
    maximum: int


class HorizontalAutoscalers(Fact, frozen=True, kw_only=True):
    """``count`` of all; ``system`` lists those in kube-system."""

    count: int
    system: tuple[SystemAutoscaler, ...]


@tallies(HorizontalAutoscalers, HPA_LISTING)
class HorizontalAutoscalerTally:
    """Counts HorizontalPodAutoscalers."""

    def __init__(self) -> None:
        self.count = 0
        self.system: list[SystemAutoscaler] = []

    def add(self, scaler: HorizontalPodAutoscaler) -> None:
        """Count one."""
        self.count += 1
        if scaler.metadata.namespace == "kube-system":
            self.system.append(
                SystemAutoscaler(
                    name=scaler.metadata.name,
                    target_kind=scaler.spec.scale_target_ref.kind,
                    target=scaler.spec.scale_target_ref.name,
                    maximum=scaler.spec.max_replicas,
                )
            )

    def total(self) -> HorizontalAutoscalers:
        """The autoscalers."""
        return HorizontalAutoscalers(
            count=self.count, system=tuple(sorted(self.system, key=lambda one: one.name))
        )
