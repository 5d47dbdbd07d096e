"""PriorityClasses: their values, and which one pods get that name none."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.admission import PriorityClass

SYSTEM = "system-"
MOST = 200


class PriorityClasses(Fact, frozen=True, kw_only=True):
    """``values`` of at most 200 classes, highest first; ``highest`` among those of users."""

    values: dict[str, int]
    highest: int
    default: str = ""


@tallies(
    PriorityClasses,
    Listing("scheduling.k8s.io/v1", "priorityclasses", PriorityClass, namespaced=False),
)
class PriorityClassTally:
    """Notes classes."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.highest = 0
        self.default = ""

    def add(self, one: PriorityClass) -> None:
        """Note one."""
        self.values[one.metadata.name] = one.value
        if not one.metadata.name.startswith(SYSTEM):
            self.highest = max(self.highest, one.value)
        if one.global_default:
            self.default = one.metadata.name

    def total(self) -> PriorityClasses:
        """The classes."""
        ordered = sorted(self.values.items(), key=lambda item: (-item[1], item[0]))
        return PriorityClasses(
            values=dict(ordered[:MOST]), highest=self.highest, default=self.default
        )
