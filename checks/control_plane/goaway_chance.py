"""API016: connections stick to one of several API servers."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Evidence,
    Finding,
    Scale,
    Severity,
    StaticPod,
    Unknown,
    check,
    fail,
    flag_evidence,
    ok,
    unknown,
    warn,
)


@check(
    id="API016",
    area=Area.CONTROL_PLANE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
    ),
    effort="10 minutes",
    risk="low",
)
def goaway_chance(
    plane: ControlPlane, scale: Scale, *, warn_from_nodes: int = 500
) -> Iterator[Finding]:
    """Long-lived connections never move back to an API server that was restarted.

    ## Why it breaks
    Kubelets and controllers hold one HTTP/2 connection each for days. After a rolling restart the
    server that came back last has almost none, and the others carry its share of watches and
    memory. With `--goaway-chance` a server closes a small part of the connections at random, and
    the clients spread again. The documentation suggests 0.001 to start with, at most 0.02, and
    never with a single API server.

    ## Fix
    Set `--goaway-chance=0.001` on every API server, behind a load balancer that spreads connections.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    - --goaway-chance=0.001
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep goaway-chance
    ```
    """
    subject = "kube-apiserver"
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(servers, subject=subject)
        return
    least = min(servers, key=_chance)
    evidence = [
        flag_evidence(least, "goaway-chance", "default 0"),
        Evidence(what="API servers", value=f"{len(servers):,}", source="pods in kube-system"),
    ]
    if len(servers) == 1:
        if _chance(least) > 0:
            yield fail(
                "A single API server sends its clients away, and they have nowhere to go.",
                subject=subject,
                evidence=evidence,
                fix="Remove `--goaway-chance` until there is a second API server.",
            )
        else:
            yield ok("A single API server keeps its clients.", subject=subject, evidence=evidence)
    elif _chance(least) > 0:
        yield ok(
            f"Connections spread again after a restart, with a chance of {_chance(least):g} a "
            "request.",
            subject=subject,
            evidence=evidence,
        )
    elif scale.target < warn_from_nodes:
        yield ok(
            f"Connections stick to one of {len(servers)} API servers, which {scale.target:,} nodes "
            "don't feel.",
            subject=subject,
            evidence=evidence,
        )
    else:
        yield warn(
            f"Connections never spread again over {len(servers)} API servers after a restart, and "
            f"{scale.target:,} nodes are wanted.",
            subject=subject,
            evidence=evidence,
        )


def _chance(server: StaticPod) -> float:
    try:
        return float(server.flags.get("goaway-chance", 0))
    except ValueError:
        return 0.0
