"""Volumes of a CSI driver as they look once stateful pods use them.

Pure functions that return objects. The controller-manager binds each claim to its volume, because
each names the other; nothing provisions or attaches, so attachments say by themselves that they
are done.
"""

from typing import Any

from tests.cluster import shapes

Object = dict[str, Any]


def storage_class(name: str, driver: str) -> Object:
    """A class whose volumes are made in the zone of their first pod."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": driver,
        "volumeBindingMode": "WaitForFirstConsumer",
        "reclaimPolicy": "Delete",
        "allowVolumeExpansion": True,
    }


def volume(
    name: str, driver: str, storage_class_name: str, *, claim: str, namespace: str, gibibytes: int
) -> Object:
    """A volume promised to ``claim`` in ``namespace``; kept when its claim goes."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {"pv.kubernetes.io/provisioned-by": driver},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": f"{gibibytes}Gi"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": claim,
                "namespace": namespace,
            },
            "csi": {"driver": driver, "fsType": "ext4", "volumeHandle": f"vol-{name}"},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage_class_name,
            "volumeMode": "Filesystem",
        },
    }


def bound_claim(
    name: str, namespace: str, storage_class_name: str, volume_name: str, *, gibibytes: int
) -> Object:
    """A claim that asks for one volume by name."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{gibibytes}Gi"}},
            "storageClassName": storage_class_name,
            "volumeName": volume_name,
        },
    }


def attached(volume_name: str, driver: str, node_name: str) -> Object:
    """The volume, attached to the node."""
    one = shapes.attachment(f"csi-{volume_name}", driver, node_name)
    one["spec"]["source"]["persistentVolumeName"] = volume_name
    return {**one, "status": {"attached": True}}


def stateful_volumes(
    count: int,
    namespace: str,
    node_names: list[str],
    *,
    driver: str = "ebs.csi.aws.com",
    attach_limit: int | None = 25,
    storage_class_name: str = "fast",
    gibibytes: int = 20,
) -> list[Object]:
    """``count`` bound claims, their volumes, and an attachment each, dealt out over the nodes.

    ``attach_limit`` is what the driver told each node's CSINode (``allocatable.count``); None
    where it told nothing. The namespace and the nodes must be there.
    """
    made: list[Object] = [storage_class(storage_class_name, driver)]
    made += [shapes.csi_node(name, driver, attach_limit) for name in node_names]
    for number in range(count):
        name, claim = f"pvc-{namespace}-{number:05}", f"data-{number:05}"
        made += [
            volume(
                name,
                driver,
                storage_class_name,
                claim=claim,
                namespace=namespace,
                gibibytes=gibibytes,
            ),
            bound_claim(claim, namespace, storage_class_name, name, gibibytes=gibibytes),
            attached(name, driver, node_names[number % len(node_names)]),
        ]
    return made
