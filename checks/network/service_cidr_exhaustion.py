"""ADDR004: addresses left for new Services."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    ServiceRanges,
    Services,
    Severity,
    SourceClass,
    Unknown,
    check,
    measure,
    seen,
    unknown,
)

ADDRESSES = Dimension(
    "service-addresses",
    unit="addresses",
    grows=Growth.LINEAR,
    title="Service addresses",
    runs_out="Service addresses run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)


@check(
    id="ADDR004",
    area=Area.NETWORK,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/",
        "https://kubernetes.io/docs/tasks/network/extend-service-ip-ranges/",
        "https://github.com/Azure/AKS/issues/1843",
    ),
    effort="1 hour",
    risk="medium",
)
def service_cidr_exhaustion(
    services: Services, ranges: ServiceRanges | Unknown
) -> Iterator[Finding]:
    """Each Service takes one address of the service range; without a free one it is refused.

    ## Why it breaks
    The range was chosen when the cluster was made: a /27 holds 30 Services, a /20 4,094, and the
    next one fails with "range is full". Deployments then stop half-way, since their Services are
    refused and their pods are not. Headless Services take no address.

    ## Fix
    Add a second range as a ServiceCIDR object (Kubernetes 1.33), or plan a larger one for the next
    cluster. The range must overlap with neither nodes nor pods.

    ```yaml
    apiVersion: networking.k8s.io/v1
    kind: ServiceCIDR
    metadata:
      name: second-range
    spec:
      cidrs:
        - 10.112.0.0/16
    ```

    ## Verify
    ```shell
    kubectl get servicecidrs
    kubectl get services -A --no-headers | grep -vc None
    ```
    """
    if isinstance(ranges, Unknown):
        yield unknown(
            ranges,
            summary=f"{services.with_address:,} service addresses are in use; of how many can't "
            f"be seen. {ranges.detail}",
            subject="service addresses",
            evidence=[
                seen("Services with an address", services.with_address, services),
                seen("headless Services", services.headless, services),
            ],
        )
        return
    for family in ranges.families:
        used = services.addresses.get(family.version, 0)
        shown = ", ".join(family.cidrs)
        yield measure(
            ADDRESSES,
            subject="service addresses" if family.version == 4 else "service addresses (IPv6)",
            used=used,
            limit=family.usable,
            summary=f"{used:,} of {family.usable:,} service addresses of {shown} are taken.",
            evidence=[
                seen("service range", shown, ranges),
                Evidence(
                    what="usable addresses",
                    value=f"{family.usable:,}",
                    source=ranges.origin.read_from,
                    seen=ranges.origin.seen,
                ),
                seen("Services with an address", used, services),
                seen("headless Services", services.headless, services),
            ],
        )
