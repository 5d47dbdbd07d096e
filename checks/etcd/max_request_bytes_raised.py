"""ETCD014: etcd takes larger requests than it should."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Finding,
    Severity,
    Unknown,
    Why,
    check,
    flag_evidence,
    in_bytes,
    ok,
    skip,
    unknown,
    warn,
)

FLAG = "max-request-bytes"
# etcd's default [ETCDLIM].
DEFAULT = 1_572_864


@check(
    id="ETCD014",
    area=Area.ETCD,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://etcd.io/docs/v3.6/dev-guide/limit/",
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/thresholds.md",
    ),
    effort="1 day",
    risk="medium",
)
def max_request_bytes_raised(plane: ControlPlane | Unknown) -> Iterator[Finding]:
    """Etcd's limit on the size of a request was raised above its default of 1.5 MiB.

    ## Why it breaks
    The limit is raised so that one object that is too large can be stored. Kubernetes is tested
    with objects up to 1.5 MB; a larger one is sent whole to every watcher at each change, is held
    by every API server's cache, and no other part of the cluster was built for it.

    ## Fix
    Split the object that is too large, then remove the flag from every member.

    ```shell
    # in /etc/kubernetes/manifests/etcd.yaml of each control-plane node, remove
    - --max-request-bytes=10485760
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=etcd -o yaml | grep max-request-bytes
    ```
    """
    if isinstance(plane, Unknown):
        if plane.why is Why.MANAGED:
            yield skip("The provider keeps etcd and its limits.")
        else:
            yield unknown(plane)
        return
    members = plane.component("etcd")
    if isinstance(members, Unknown):
        yield unknown(members)
        return
    largest = max(members, key=lambda pod: _bytes(pod.flags.get(FLAG, "")))
    size = _bytes(largest.flags.get(FLAG, ""))
    evidence = [flag_evidence(largest, FLAG, "default 1.5 MiB")]
    if size > DEFAULT:
        yield warn(
            f"etcd takes requests of {in_bytes(size)}, which hides objects above 1.5 MiB.",
            subject=f"--{FLAG}",
            evidence=evidence,
        )
    else:
        yield ok(
            f"etcd takes requests of at most {in_bytes(size)}.",
            subject=f"--{FLAG}",
            evidence=evidence,
        )


def _bytes(flag: str) -> int:
    return int(flag) if flag.isdigit() and int(flag) else DEFAULT
