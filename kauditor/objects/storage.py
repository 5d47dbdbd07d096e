"""Volumes, claims, attachments."""

from kauditor.objects.meta import Meta, Struct


class VolumeStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Phase of a volume or a claim."""

    phase: str = ""


class Volume(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A PersistentVolume or a PersistentVolumeClaim, of which only the phase is read."""

    metadata: Meta = Meta()
    status: VolumeStatus = VolumeStatus()


class AttachmentSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a VolumeAttachment."""

    attacher: str = ""
    node_name: str = ""


class AttachmentStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status`` of a VolumeAttachment."""

    attached: bool = False


class VolumeAttachment(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One volume on one node."""

    metadata: Meta = Meta()
    spec: AttachmentSpec = AttachmentSpec()
    status: AttachmentStatus = AttachmentStatus()
