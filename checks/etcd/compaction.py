"""ETCD009: nobody compacts etcd, or two do."""

import re
from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Finding,
    Severity,
    Unknown,
    Why,
    check,
    fail,
    flag_evidence,
    ok,
    skip,
    unknown,
    warn,
)

INTERVAL = "etcd-compaction-interval"
RETENTION = "auto-compaction-retention"


@check(
    id="ETCD009",
    area=Area.ETCD,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
        "https://etcd.io/docs/v3.6/op-guide/maintenance/",
    ),
    effort="half an hour",
    risk="low",
)
def compaction(plane: ControlPlane | Unknown) -> Iterator[Finding]:
    """Old revisions stay in etcd for ever where nobody compacts it.

    ## Why it breaks
    etcd keeps every revision of every object until it is told to compact. The API server does so
    each five minutes; etcd by itself does not unless asked. With an interval of 0 and no
    compaction in etcd, each lease renewal stays: the database grows with the write rate until it
    meets its quota. Where both compact, watches that are a little behind lose their place.

    ## Fix
    Leave the API server's compaction at five minutes, and drop etcd's own where both run.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    - --etcd-compaction-interval=5m
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l tier=control-plane -o yaml | grep -E 'compaction'
    ```
    """
    if isinstance(plane, Unknown):
        if plane.why is Why.MANAGED:
            yield skip("The provider keeps etcd and compacts it.")
        else:
            yield unknown(plane)
        return
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(servers)
        return
    members = plane.component("etcd")
    off = [pod for pod in servers if _off(pod.flags.get(INTERVAL, "5m"))]
    evidence = [flag_evidence((off or list(servers))[0], INTERVAL, "default 5m")]
    if isinstance(members, Unknown):
        if len(off) == len(servers):
            yield unknown(
                members,
                summary="The API server does not compact etcd; whether etcd does is not visible.",
                evidence=evidence,
            )
        else:
            yield ok("The API server compacts etcd.", evidence=evidence)
        return
    by_itself = [pod for pod in members if not _off(pod.flags.get(RETENTION, "0"))]
    evidence.append(flag_evidence((by_itself or list(members))[0], RETENTION, "default 0, off"))
    if len(off) == len(servers) and not by_itself:
        yield fail("Nobody compacts etcd: every revision stays for ever.", evidence=evidence)
    elif len(off) < len(servers) and by_itself:
        yield warn(
            "Both the API server and etcd compact; the shorter of the two decides.",
            severity=Severity.LOW,
            evidence=evidence,
        )
    else:
        yield ok("etcd is compacted by one side.", evidence=evidence)


def _off(duration: str) -> bool:
    """Whether a duration such as "0", "0s" or "5m0s" is none at all."""
    return not any(float(number) for number in re.findall(r"\d+(?:\.\d+)?", duration))
