"""StorageClasses and CSI drivers."""

from kauditor.objects.meta import AnnotatedMeta, Meta, Struct


class StorageClass(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One StorageClass; an unset binding mode means Immediate."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    provisioner: str = ""
    volume_binding_mode: str = ""
    allow_volume_expansion: bool = False


class CsiDriverSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a CSIDriver."""

    attach_required: bool = True


class CsiDriver(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One installed storage driver."""

    metadata: Meta = Meta()
    spec: CsiDriverSpec = CsiDriverSpec()
