"""ETCD022: etcd's metrics can't be scraped."""

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from kauditor.api import (
    Area,
    ControlPlane,
    Evidence,
    Finding,
    Provider,
    Scale,
    Severity,
    Unknown,
    Why,
    check,
    flag_evidence,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

FLAG = "listen-metrics-urls"
SMALL = 3


@check(
    id="ETCD022",
    area=Area.ETCD,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://etcd.io/docs/v3.6/op-guide/monitoring/",
        "https://github.com/prometheus-operator/kube-prometheus/tree/main/manifests",
    ),
    effort="half an hour",
    risk="low",
)
def etcd_metrics_unreachable(
    plane: ControlPlane | Unknown,
    provider: Provider | Unknown,
    scale: Scale | Unknown,
    *,
    large: int = 500,
) -> Iterator[Finding]:
    """Etcd serves its metrics on loopback only, so nobody sees its disk fall behind.

    ## Why it breaks
    A slow disk is what most etcd trouble begins with, and only etcd's own metrics show it: the
    time of a write to its log, of a commit, and how often the leader changed. kubeadm binds them
    to 127.0.0.1:2381. The client port serves them too, but asks for a certificate of etcd's own
    authority, and the usual Prometheus manifests bring no scrape of etcd.

    ## Fix
    Listen on the node's address behind a firewall, and add a scrape of it.

    ```shell
    # in /etc/kubernetes/manifests/etcd.yaml of each control-plane node
    - --listen-metrics-urls=http://127.0.0.1:2381,http://NODE_IP:2381
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=etcd -o yaml | grep listen-metrics-urls
    ```
    """
    if isinstance(plane, Unknown):
        if plane.why is Why.MANAGED:
            yield skip("The provider keeps etcd and watches it.")
        else:
            yield unknown(plane)
        return
    if isinstance(provider, Provider) and provider.local:
        yield skip(
            "Nobody watches the etcd of a development cluster.",
            evidence=[seen("provider", provider.name, provider)],
        )
        return
    if isinstance(scale, Scale) and scale.nodes <= SMALL:
        yield skip(
            f"A cluster of {scale.nodes} nodes does well without metrics of etcd.",
            evidence=[Evidence(what="nodes", value=f"{scale.nodes:,}", source="list of nodes")],
        )
        return
    members = plane.component("etcd")
    if isinstance(members, Unknown):
        yield unknown(members)
        return
    hidden = [pod for pod in members if not _reachable(pod.flags.get(FLAG, ""))]
    if not hidden:
        yield ok(
            "etcd serves its metrics on an address that can be scraped.",
            subject="etcd metrics",
            evidence=[flag_evidence(members[0], FLAG)],
        )
        return
    few = isinstance(scale, Scale) and scale.target < large
    yield warn(
        f"{len(hidden)} of {len(members)} etcd members serve their metrics on loopback only.",
        subject="etcd metrics",
        severity=Severity.MEDIUM if few else None,
        evidence=[flag_evidence(hidden[0], FLAG)],
    )


def _reachable(urls: str) -> bool:
    return any(_outside(urlsplit(url.strip()).hostname or "") for url in urls.split(","))


def _outside(host: str) -> bool:
    if not host or host == "localhost":
        return False
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return True
