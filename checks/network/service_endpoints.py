"""PROXY006: a Service with very many endpoints."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Dimension,
    EndpointSlices,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Severity,
    SourceClass,
    check,
    measure,
    ok,
    seen,
)

ENDPOINTS = Dimension(
    "service-endpoints",
    unit="endpoints",
    grows=Growth.PODS,
    title="Endpoints of one Service",
    runs_out="A Service has more endpoints than advised",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.OFFICIAL,
    guidance=True,
)
# Official, but older than EndpointSlices; providers test 5,000 and 10,000 [THR], [OCPMAX].
LIMIT = 250
# One full slice: a smaller Service does not follow the cluster.
WORTH_NAMING = 100


@check(
    id="PROXY006",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/thresholds.md",
        "https://kubernetes.io/blog/2020/09/02/scaling-kubernetes-networking-with-endpointslices/",
    ),
    effort="1 day",
    risk="medium",
)
def service_endpoints(slices: EndpointSlices) -> Iterator[Finding]:
    """A Service has so many endpoints that each change of one is sent to all nodes at a price.

    ## Why it breaks
    Each change of one endpoint sends its slice of up to 100 to every node. Clients that still
    watch Endpoints get all of them, cut off at 1,000: with 5,000 pods and 3,000 nodes one change
    was 4.5 GB, and a rollout 22 TB. Kubernetes advises 250 endpoints for one Service, a figure
    from before EndpointSlices; providers have since tested 5,000 and 10,000.

    ## Fix
    Split the Service, or make it headless and let clients balance; read EndpointSlices only.

    ```shell
    kubectl get endpointslices -A -l kubernetes.io/service-name=SERVICE
    ```

    ## Verify
    ```shell
    kubectl get endpointslices -A -L kubernetes.io/service-name
    ```
    """
    large = [one for one in slices.largest if one.endpoints >= WORTH_NAMING]
    if not large:
        first = slices.largest[0] if slices.largest else None
        yield ok(
            f"The largest Service has {first.endpoints} endpoints."
            if first
            else "No Service has endpoints.",
            evidence=[
                seen("Services with endpoints", slices.services, slices),
                seen("EndpointSlices", slices.count, slices),
            ],
        )
        return
    for one in large:
        yield measure(
            ENDPOINTS,
            subject=one.subject,
            used=one.endpoints,
            limit=LIMIT,
            summary=f"{one.subject} has {one.endpoints:,} endpoints in {one.slices:,} slices; "
            f"{LIMIT} are advised.",
            evidence=[
                seen("endpoints", one.endpoints, slices),
                Evidence(
                    what="EndpointSlices",
                    value=f"{one.slices:,}",
                    source=slices.origin.read_from,
                    seen=slices.origin.seen,
                ),
            ],
        )
