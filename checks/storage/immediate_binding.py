"""STOR006: zonal volumes that are bound before the pod has a node."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Finding,
    Nodes,
    Severity,
    StorageClasses,
    check,
    fail,
    ok,
    seen,
    skip,
)

# Drivers whose volumes live in one zone; file systems such as EFS or Azure Files do not.
ZONAL = frozenset(
    {"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"}
)


@check(
    id="STOR006",
    area=Area.STORAGE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode",
    ),
    effort="1 hour",
    risk="low",
)
def immediate_binding(classes: StorageClasses, nodes: Nodes) -> Iterator[Finding]:
    """A class binds zonal volumes at once, in a zone where the pod may not fit.

    ## Why it breaks
    `Immediate` (which an unset mode means) makes the volume before the pod has a node. In a
    cluster of several zones the volume then decides the zone, and the pod stays pending when that
    zone has no room, however empty the others are.

    ## Fix
    Make a class with WaitForFirstConsumer and let new claims use it.

    ```yaml
    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata:
      name: zonal
    provisioner: ebs.csi.aws.com
    volumeBindingMode: WaitForFirstConsumer
    ```

    ## Verify
    ```shell
    kubectl get storageclasses
    ```
    """
    zonal = [one for one in classes.classes if one.provisioner in ZONAL]
    if not zonal:
        yield skip(
            "No class makes zonal volumes.",
            evidence=[seen("classes", len(classes.classes), classes)],
        )
        return
    if len(nodes.zones) == 1:
        yield skip(
            "All nodes stand in one zone.", evidence=[seen("zones", len(nodes.zones), nodes)]
        )
        return
    immediate = [one for one in zonal if one.immediate]
    for one in immediate:
        yield fail(
            f"StorageClass {one.name} binds volumes of {one.provisioner} at once, "
            f"and the nodes stand in {len(nodes.zones) or 'unknown'} zones.",
            subject=f"StorageClass {one.name}",
            evidence=[
                seen(f"provisioner of {one.name}", one.provisioner, classes),
                seen("volumeBindingMode", "Immediate", classes),
                seen("zones", len(nodes.zones), nodes),
            ],
        )
    if not immediate:
        yield ok(
            "Classes of zonal volumes wait for their first consumer.",
            evidence=[seen("classes", ", ".join(one.name for one in zonal), classes)],
        )
