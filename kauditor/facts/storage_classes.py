"""StorageClasses: who provisions, and when volumes are bound."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.storage_class import CsiDriver, StorageClass

DEFAULT_MARK = "storageclass.kubernetes.io/is-default-class"


class ClassInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One class. ``immediate`` is also true where the mode is unset."""

    name: str
    provisioner: str
    immediate: bool
    default: bool
    expandable: bool


class StorageClasses(Fact, frozen=True, kw_only=True):
    """All classes by name; clusters have a handful."""

    classes: tuple[ClassInfo, ...]


class AttachingDrivers(Fact, frozen=True, kw_only=True):
    """CSI drivers that attach volumes to nodes, and those that do not need to."""

    attaching: tuple[str, ...]
    without_attaching: tuple[str, ...]


@tallies(
    StorageClasses, Listing("storage.k8s.io/v1", "storageclasses", StorageClass, namespaced=False)
)
class StorageClassTally:
    """Notes classes."""

    def __init__(self) -> None:
        self.classes: list[ClassInfo] = []

    def add(self, one: StorageClass) -> None:
        """Note one."""
        self.classes.append(
            ClassInfo(
                name=one.metadata.name,
                provisioner=one.provisioner,
                immediate=one.volume_binding_mode in ("", "Immediate"),
                default=one.metadata.annotation(DEFAULT_MARK) == "true",
                expandable=one.allow_volume_expansion,
            )
        )

    def total(self) -> StorageClasses:
        """The classes."""
        return StorageClasses(classes=tuple(sorted(self.classes, key=lambda one: one.name)))


@tallies(AttachingDrivers, Listing("storage.k8s.io/v1", "csidrivers", CsiDriver, namespaced=False))
class CsiDriverTally:
    """Sorts drivers."""

    def __init__(self) -> None:
        self.attaching: list[str] = []
        self.without: list[str] = []

    def add(self, driver: CsiDriver) -> None:
        """Note one."""
        (self.attaching if driver.spec.attach_required else self.without).append(
            driver.metadata.name
        )

    def total(self) -> AttachingDrivers:
        """The drivers."""
        return AttachingDrivers(
            attaching=tuple(sorted(self.attaching)), without_attaching=tuple(sorted(self.without))
        )
