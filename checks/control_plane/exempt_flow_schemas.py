"""API006: clients that the API server's queues let pass without limit."""

from collections.abc import Iterator

from kauditor.api import Area, Evidence, Finding, FlowSchemas, Seen, Severity, check, ok, seen, warn

BUILT_IN = frozenset({"exempt", "probes"})
# Providers keep schemas of their own, and put them back.
PROVIDERS = ("eks-", "gke-", "aks-", "openshift-")


@check(
    id="API006",
    area=Area.CONTROL_PLANE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/cluster-administration/flow-control/",),
    effort="1 hour",
    risk="low",
)
def exempt_flow_schemas(schemas: FlowSchemas) -> Iterator[Finding]:
    """A FlowSchema lets some clients pass the API server's queues without any limit.

    ## Why it breaks
    Requests of the level `exempt` are never queued and never refused. A controller that goes wrong
    there takes the whole API server, and nothing slows it down. The level is meant for the
    server's administrators and its own health checks.

    ## Fix
    Give the client a priority level of its own with a share, in place of `exempt`.

    ```yaml
    apiVersion: flowcontrol.apiserver.k8s.io/v1
    kind: PriorityLevelConfiguration
    metadata:
      name: agents
    spec:
      type: Limited
      limited:
        nominalConcurrencyShares: 20
        limitResponse:
          type: Queue
          queuing:
            queues: 64
            handSize: 6
            queueLengthLimit: 50
    ```

    ## Verify
    ```shell
    kubectl get flowschemas | grep exempt
    ```
    """
    own = [name for name in schemas.exempt if name in BUILT_IN or name.startswith(PROVIDERS)]
    custom = [name for name in schemas.exempt if name not in own]
    for name in custom:
        yield warn(
            "Its requests are never queued and never refused.",
            subject=f"FlowSchema {name}",
            evidence=[
                Evidence(
                    what="priority level",
                    value="exempt",
                    source=f"FlowSchema {name}",
                    seen=Seen.DECLARED,
                )
            ],
        )
    if not custom:
        yield ok(
            f"None of {schemas.count} FlowSchemas exempts more than what the server brings.",
            evidence=[
                seen("FlowSchemas", schemas.count, schemas),
                seen("exempt", ", ".join(own) or "none", schemas),
            ],
        )
