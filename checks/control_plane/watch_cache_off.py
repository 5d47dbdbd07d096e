"""API015: the watch cache switched off, for everything or for a busy resource."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Finding,
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

BUSY = frozenset({"pods", "nodes", "leases", "configmaps", "secrets", "endpointslices", "services"})
# The server itself keeps Events out of the cache.
NEVER_CACHED = frozenset({"events"})
FALSE = frozenset({"false", "f", "0", "FALSE", "False", "F"})


@check(
    id="API015",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
        "https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/2340-Consistent-reads-from-cache",
    ),
    effort="10 minutes",
    risk="medium",
)
def watch_cache_off(plane: ControlPlane) -> Iterator[Finding]:
    """The API server answers from a watch cache, unless it is told not to.

    ## Why it breaks
    Without the cache every watch is a watch on etcd and every list reads the whole collection
    from it: the load that one server spreads over thousands of kubelets falls on the database.
    Sizes have no meaning any more; only `RESOURCE#0` in `--watch-cache-sizes` still does
    something, and it switches the cache off for that resource.

    ## Fix
    Remove `--watch-cache=false` and every `#0` from `--watch-cache-sizes`.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    grep -n 'watch-cache' /etc/kubernetes/manifests/kube-apiserver.yaml
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep watch-cache
    ```
    """
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(servers, subject="kube-apiserver")
        return
    for server in servers:
        yield _verdict(server)


def _verdict(server: StaticPod) -> Finding:
    subject = f"pod kube-system/{server.name}"
    evidence = [flag_evidence(server, "watch-cache", "default true")]
    if server.flags.get("watch-cache") in FALSE:
        return fail(
            "The watch cache is switched off for all resources.", subject=subject, evidence=evidence
        )
    sizes = server.flags.get("watch-cache-sizes", "")
    off = {
        name.strip().partition(".")[0]
        for name, mark, size in (part.partition("#") for part in sizes.replace(" ", ",").split(","))
        if mark and size.strip() == "0"
    } - NEVER_CACHED
    if sizes:
        evidence.append(flag_evidence(server, "watch-cache-sizes"))
    if off:
        busy = sorted(off & BUSY)
        names = ", ".join(busy or sorted(off))
        verdict = fail if busy else warn
        return verdict(
            f"The watch cache is switched off for {names}.",
            subject=subject,
            severity=None if busy else Severity.MEDIUM,
            evidence=evidence,
        )
    return ok("The watch cache is on.", subject=subject, evidence=evidence)
