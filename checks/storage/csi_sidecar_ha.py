"""STOR014: a CSI controller that stands on one leg."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    CsiControllers,
    Evidence,
    Finding,
    Scale,
    Seen,
    Severity,
    check,
    ok,
    seen,
    skip,
    warn,
)


@check(
    id="STOR014",
    area=Area.STORAGE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes-csi.github.io/docs/deploying.html",),
    effort="1 hour",
    risk="low",
)
def csi_sidecar_ha(
    controllers: CsiControllers, scale: Scale, *, from_nodes: int = 50
) -> Iterator[Finding]:
    """A CSI controller runs once, or several times without electing a leader.

    ## Why it breaks
    While its only pod moves, no volume is made, attached or detached, so every drain of its node
    stalls whatever is stateful. Several replicas without leader election do the work twice.

    ## Fix
    Run two replicas with leader election, spread over nodes and guarded by a disruption budget.

    ## Verify
    ```shell
    kubectl get deployments --all-namespaces | grep -i csi
    ```
    """
    if not controllers.controllers:
        yield skip(
            "No CSI controller is among the Deployments.",
            evidence=[seen("CSI controllers", 0, controllers)],
        )
        return
    for one in controllers.controllers:
        elected = all(
            flags.get("leader-election", "false") == "true" for flags in one.flags.values()
        )
        evidence = [
            Evidence(what="replicas", value=str(one.replicas), source=one.subject),
            Evidence(
                what="--leader-election on all sidecars",
                value="yes" if elected else "no",
                source=one.subject,
                seen=Seen.DECLARED,
            ),
        ]
        if scale.target < from_nodes:
            yield ok("The cluster is small.", subject=one.subject, evidence=evidence)
        elif one.replicas < 2:
            yield warn(
                f"{one.name} runs {one.replicas} replica.", subject=one.subject, evidence=evidence
            )
        elif not elected:
            yield warn(
                f"{one.name} runs {one.replicas} replicas that elect no leader.",
                subject=one.subject,
                evidence=evidence,
            )
        else:
            yield ok(
                f"{one.name} runs {one.replicas} replicas and elects a leader.",
                subject=one.subject,
                evidence=evidence,
            )
