"""API023: more kinds of custom resources than discovery was made for."""

from collections.abc import Iterator

from kauditor.api import Area, CrdCount, Finding, Severity, check, ok, seen, warn


@check(
    id="API023",
    area=Area.CONTROL_PLANE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/95-custom-resource-definitions",
        "https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",
    ),
    effort="1 hour",
    risk="medium",
)
def crd_count(crds: CrdCount, *, most: int = 500) -> Iterator[Finding]:
    """Every CustomResourceDefinition is a part of discovery and of the published OpenAPI.

    ## Why it breaks
    Each definition costs the API server memory, a watch cache and a part of the OpenAPI document,
    which every client and controller fetches. The published target is 500 of them, with about 35
    seconds until a new one is published. Families of provider CRDs bring a thousand kinds of
    which ten are used.

    ## Fix
    Remove the definitions that nothing uses, beginning with unused providers' families.

    ```shell
    kubectl get crds -o custom-columns=GROUP:.spec.group --no-headers | sort | uniq -c | sort -rn
    ```

    ## Verify
    ```shell
    kubectl get crds --no-headers | wc -l
    ```
    """
    evidence = [seen("CustomResourceDefinitions", crds.count, crds)]
    summary = f"{crds.count:,} CustomResourceDefinitions; {most:,} are the published target."
    if crds.count > most:
        yield warn(summary, evidence=evidence)
    else:
        yield ok(summary, evidence=evidence)
