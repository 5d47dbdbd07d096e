"""TENANT001: no namespace has a quota."""

from collections.abc import Iterator

from quota_fact import QuotaNamespaces

from kauditor.api import Area, Finding, Severity, check, ok, seen, warn


@check(
    id="TENANT001",
    area=Area.WORKLOADS,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/policy/resource-quotas/",),
)
def quota_free_cluster(quotas: QuotaNamespaces, *, least: int = 1) -> Iterator[Finding]:
    """No namespace has a ResourceQuota, so one tenant can fill the cluster.

    ## Why it breaks
    A runaway controller creates objects until etcd is full.

    ## Fix
    Give each tenant's namespace a quota on object counts.

    ## Verify
    ```shell
    kubectl get resourcequotas --all-namespaces
    ```
    """
    evidence = [seen("namespaces with a quota", len(quotas.quotas), quotas)]
    if len(quotas.quotas) < least:
        yield warn("No namespace has a quota.", evidence=evidence)
    else:
        yield ok(f"{len(quotas.quotas)} namespaces have a quota.", evidence=evidence)
