"""API001: too few API servers for the target."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    ControlPlaneLeases,
    Evidence,
    Finding,
    Provider,
    Scale,
    Seen,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
    warn,
)


@check(
    id="API001",
    area=Area.CONTROL_PLANE,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/setup/best-practices/cluster-large/",
        "https://openai.com/index/scaling-kubernetes-to-7500-nodes",
    ),
    effort="half a day",
    risk="medium",
)
def apiserver_replicas(
    plane: ControlPlane | Unknown,
    leases: ControlPlaneLeases | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    three_from_nodes: int = 500,
    five_from_nodes: int = 5000,
) -> Iterator[Finding]:
    r"""A large cluster needs several API servers, and a single one is a single point of failure.

    ## Why it breaks
    Memory and connections of the API servers grow with the nodes, and while one of them is
    upgraded or lost, the rest carry its load. The documentation asks for one or two control-plane
    instances in each failure zone. One published cluster of 7,500 nodes runs five API servers on
    machines of their own. From 500 nodes we ask for three, from 5,000 for five; the numbers are
    ours.

    ## Fix
    Add control-plane nodes in other failure zones, behind the same load balancer.

    ```shell
    kubeadm join LOAD_BALANCER:6443 --control-plane --certificate-key KEY --token TOKEN \
      --discovery-token-ca-cert-hash HASH
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get leases -l apiserver.kubernetes.io/identity=kube-apiserver
    ```
    """
    subject = "kube-apiserver"
    servers = plane if isinstance(plane, Unknown) else plane.component("kube-apiserver")
    if isinstance(provider, Provider) and (provider.managed or provider.local):
        kept = (
            f"{provider.name} runs the API servers and scales them itself"
            if provider.managed
            else "This is a development cluster on one machine"
        )
        rows = [seen("provider", provider.name, provider)]
        if isinstance(leases, ControlPlaneLeases) and leases.api_servers:
            rows.append(seen("API servers seen", leases.api_servers, leases))
        yield skip(f"{kept}.", subject=subject, evidence=rows)
        return
    if not isinstance(servers, Unknown):
        count = len(servers)
        row = Evidence(
            what="API servers",
            value=f"{count:,}",
            source=", ".join(f"pod kube-system/{pod.name}" for pod in servers[:5]),
            seen=Seen.MEASURED,
        )
    elif isinstance(leases, Unknown):
        yield unknown(servers, subject=subject)
        return
    elif not leases.api_servers:
        yield unknown(servers, subject=subject, evidence=[seen("identity leases", 0, leases)])
        return
    elif isinstance(provider, Unknown):
        # A managed plane shows as many leases as it likes.
        yield unknown(provider, subject=subject)
        return
    else:
        count = leases.api_servers
        row = seen("API servers", count, leases)
    needed = 5 if scale.target >= five_from_nodes else 3 if scale.target > three_from_nodes else 1
    word = "API server" if count == 1 else "API servers"
    summary = f"{count} {word} would carry {scale.target:,} nodes; {needed} are advised."
    if count >= needed:
        yield ok(
            f"{count} {word} for a target of {scale.target:,} nodes.",
            subject=subject,
            evidence=[row],
        )
    elif count >= 3:
        yield warn(summary, subject=subject, severity=Severity.MEDIUM, evidence=[row])
    else:
        yield fail(
            summary,
            subject=subject,
            severity=Severity.CRITICAL if count == 1 else Severity.HIGH,
            evidence=[row],
        )
