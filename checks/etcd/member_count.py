"""ETCD010: how many members etcd has."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from kauditor.api import (
    Area,
    ControlPlane,
    Evidence,
    Finding,
    Provider,
    Scale,
    Seen,
    Severity,
    Stated,
    Unknown,
    Why,
    check,
    fail,
    flag_evidence,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

SMALL = 3


@check(
    id="ETCD010",
    area=Area.ETCD,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://etcd.io/docs/v3.6/faq/",
        "https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/",
    ),
    effort="1 day",
    risk="medium",
)
def member_count(
    plane: ControlPlane | Unknown,
    provider: Provider | Unknown,
    scale: Scale | Unknown,
    stated: Stated,
) -> Iterator[Finding]:
    r"""Etcd survives the loss of a member only with three or more, and an odd number of them.

    ## Why it breaks
    A write needs more than half of the members. One member has no spare; two need both, so either
    loss stops the cluster. A fourth member adds work to every write and no spare. Three members
    stand one loss, five stand two: maintenance of one member of three leaves none to lose.

    ## Fix
    Run three members on three machines; go to five only where the disks are fast.

    ```shell
    kubeadm join CONTROL_PLANE:6443 --control-plane --token TOKEN \
      --discovery-token-ca-cert-hash sha256:HASH --certificate-key KEY
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=etcd -o wide
    ```
    """
    if stated.etcd_members is not None:
        yield _verdict(stated.etcd_members, [seen("etcd members", stated.etcd_members, stated)])
        return
    if isinstance(plane, Unknown):
        if plane.why is Why.MANAGED:
            yield skip("The provider keeps etcd and its members.")
        else:
            yield unknown(plane)
        return
    if isinstance(provider, Provider) and provider.local:
        yield skip(
            "A development cluster on one machine has nothing to gain from more members.",
            evidence=[seen("provider", provider.name, provider)],
        )
        return
    if isinstance(scale, Unknown):
        yield unknown(scale)
        return
    if scale.nodes <= SMALL:
        yield skip(
            f"A cluster of {scale.nodes} nodes is too small to spare machines for etcd.",
            evidence=[Evidence(what="nodes", value=f"{scale.nodes:,}", source="list of nodes")],
        )
        return
    members = plane.component("etcd")
    if not isinstance(members, Unknown):
        # etcd for Events runs on the same machines: machines are counted, not pods.
        machines = sorted({pod.node or pod.name for pod in members})
        yield _verdict(
            len(machines),
            [
                Evidence(
                    what="etcd members",
                    value=f"{len(machines)}",
                    source="pods kube-system/" + ", ".join(sorted(pod.name for pod in members)[:5]),
                    seen=Seen.DECLARED,
                )
            ],
        )
        return
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(members)
        return
    hosts = {
        urlsplit(url.strip()).hostname or ""
        for url in servers[0].flags.get("etcd-servers", "").split(",")
    } - {"", "127.0.0.1", "localhost", "::1"}
    if len(hosts) < 2:
        # One name may be a load balancer before any number of members.
        yield unknown(members)
        return
    yield _verdict(len(hosts), [flag_evidence(servers[0], "etcd-servers")])


def _verdict(members: int, evidence: list[Evidence]) -> Finding:
    if members <= 1:
        return fail(
            "etcd has one member: its loss is the loss of the cluster's data.",
            subject="etcd members",
            evidence=evidence,
        )
    if members == 2:
        return fail(
            "etcd has two members, and the loss of either stops all writes.",
            subject="etcd members",
            evidence=evidence,
        )
    if members % 2 == 0:
        return warn(
            f"etcd has {members} members: one more than {members - 1}, and no more losses to spare.",
            subject="etcd members",
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    return ok(
        f"etcd has {members} members and stands the loss of {members // 2}.",
        subject="etcd members",
        evidence=evidence,
    )
