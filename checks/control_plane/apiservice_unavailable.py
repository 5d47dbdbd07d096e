"""API022: an aggregated API that does not answer."""

from collections.abc import Iterator

from kauditor.api import ApiServices, Area, Evidence, Finding, Severity, check, fail, ok, seen


@check(
    id="API022",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/",
        "https://github.com/kubernetes-monitoring/kubernetes-mixin/blob/master/alerts/kube_apiserver.libsonnet",
    ),
    effort="1 hour",
    risk="low",
)
def apiservice_unavailable(services: ApiServices) -> Iterator[Finding]:
    """An aggregated API is registered, and its server does not answer.

    ## Why it breaks
    The API server hands requests of that group on to a Service in the cluster. While it does not
    answer, discovery is incomplete: namespaces hang in deletion, garbage collection stalls, and
    with metrics-server away no horizontal autoscaler scales.

    ## Fix
    Mend the Service behind the APIService, or delete the APIService where nothing serves it any more.

    ```shell
    kubectl describe apiservice NAME
    ```

    Run two replicas of what stays, with a PodDisruptionBudget.

    ## Verify
    ```shell
    kubectl get apiservices | grep False
    ```
    """
    evidence = [
        seen("APIServices", services.count, services),
        seen("served by a Service", services.aggregated, services),
    ]
    for one in services.unavailable:
        behind = f"Service {one.service}" if one.service else "the API server itself"
        yield fail(
            f"It is not available ({one.reason or 'no reason given'}); {behind} should serve it.",
            subject=one.subject,
            evidence=[
                Evidence(what="Available", value="no", source=one.subject),
                Evidence(what="reason", value=one.reason or "not set", source=one.subject),
            ],
        )
    if services.down > len(services.unavailable):
        yield fail(
            f"{services.down:,} of {services.count:,} APIServices are not available.",
            evidence=evidence,
        )
    if not services.down:
        yield ok(f"All {services.count:,} APIServices are available.", evidence=evidence)
