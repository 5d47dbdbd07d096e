"""API038: kubelets of several versions, or too far from the API server."""

import re
from collections.abc import Iterator

from kauditor.api import (
    Area,
    Evidence,
    Finding,
    Nodes,
    ServerVersion,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    unknown,
    warn,
)

ALLOWED_SKEW = 3


@check(
    id="API038",
    area=Area.CONTROL_PLANE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/releases/version-skew-policy/",),
    effort="half a day",
    risk="medium",
)
def kubelet_version_skew(
    nodes: Nodes, version: ServerVersion | Unknown, *, most_minors: int = 2
) -> Iterator[Finding]:
    r"""Kubelets of several minor versions are an upgrade that was never finished.

    ## Why it breaks
    A kubelet may be up to three minor versions older than the API server and never newer. An
    upgrade takes nodes × minutes a node ÷ the number done at once, so what drags on at 300 nodes
    never ends at 3,000, and the control plane can't move on before the oldest kubelet does.

    ## Fix
    Finish the upgrade pool by pool before the cluster grows further.

    ```shell
    kubectl drain NODE --ignore-daemonsets --delete-emptydir-data
    ```

    ## Verify
    ```shell
    kubectl get nodes -o custom-columns=VERSION:.status.nodeInfo.kubeletVersion --no-headers \
      | sort | uniq -c
    ```
    """
    minors: dict[int, int] = {}
    for kubelet, count in nodes.kubelet_versions.items():
        match = re.match(r"v?1\.(\d+)", kubelet)
        if match:
            minor = int(match.group(1))
            minors[minor] = minors.get(minor, 0) + count
    words = ", ".join(f"{count:,} × 1.{minor}" for minor, count in sorted(minors.items()))
    row = seen("kubelets", words or "none that says its version", nodes)
    if not minors:
        yield unknown(
            summary="No node says its kubelet's version.",
            lift="Look at status.nodeInfo of the nodes.",
            evidence=[row],
        )
        return
    if len(minors) > most_minors:
        yield warn(
            f"Kubelets of {len(minors)} minor versions: {words}.",
            subject="kubelets",
            evidence=[row],
        )
    else:
        yield ok(f"Kubelets: {words}.", subject="kubelets", evidence=[row])
    yield _against_server(minors, version, row)


def _against_server(
    minors: dict[int, int], version: ServerVersion | Unknown, row: Evidence
) -> Finding:
    subject = "kubelets and API server"
    if isinstance(version, Unknown):
        return unknown(version, subject=subject, evidence=[row])
    evidence = [row, seen("API server", version.git_version, version)]
    newer = sum(count for minor, count in minors.items() if minor > version.minor)
    old = sum(count for minor, count in minors.items() if version.minor - minor > ALLOWED_SKEW)
    if newer:
        return fail(
            f"{newer:,} of the kubelets are newer than the API server, which is not supported.",
            subject=subject,
            evidence=evidence,
        )
    if old:
        return fail(
            f"{old:,} of the kubelets are more than {ALLOWED_SKEW} minor versions older than the API "
            "server, which is not supported.",
            subject=subject,
            evidence=evidence,
        )
    return ok(
        f"No kubelet is more than {ALLOWED_SKEW} minor versions older than the API server.",
        subject=subject,
        evidence=evidence,
    )
