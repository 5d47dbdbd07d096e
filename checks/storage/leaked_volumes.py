"""STOR012: volumes that nobody claims any more."""

from collections.abc import Iterator

from kauditor.api import Area, Finding, Severity, Volumes, check, ok, seen, warn


@check(
    id="STOR012",
    area=Area.STORAGE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming",),
    effort="1 hour",
    risk="medium",
)
def leaked_volumes(
    volumes: Volumes, *, most_percent: float = 5.0, most: int = 50
) -> Iterator[Finding]:
    """Released and failed volumes pile up.

    ## Why it breaks
    A volume whose claim is gone still counts in every list of the storage controllers, still costs
    its disk, and with many of them the cloud's quota is met by data that nobody uses.

    ## Fix
    Delete volumes that are released for good, and set the reclaim policy that you mean.

    ```shell
    kubectl get pv --no-headers | grep -E 'Released|Failed'
    ```

    ## Verify
    ```shell
    kubectl get pv --no-headers | grep -cE 'Released|Failed'
    ```
    """
    leaked = volumes.phases.get("Released", 0) + volumes.phases.get("Failed", 0)
    share = 100 * leaked / volumes.count if volumes.count else 0.0
    evidence = [
        seen("PersistentVolumes", volumes.count, volumes),
        seen("released or failed", leaked, volumes),
    ]
    # A single released volume among ten is no pile.
    if leaked > most or (share > most_percent and leaked >= 10):
        yield warn(
            f"{leaked:,} of {volumes.count:,} PersistentVolumes are released or failed.",
            subject="PersistentVolumes",
            evidence=evidence,
        )
    else:
        yield ok(
            f"{leaked:,} of {volumes.count:,} PersistentVolumes are released or failed.",
            evidence=evidence,
        )
