"""API017: how many Events there are, and how long they are kept."""

import re
from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Dimension,
    EventCount,
    Finding,
    Growth,
    LimitKind,
    Severity,
    SourceClass,
    Unknown,
    check,
    flag_evidence,
    measure,
    ok,
    seen,
    unknown,
    warn,
)

EVENTS = Dimension(
    "events",
    unit="Events",
    grows=Growth.PODS,
    title="Events",
    runs_out="The envelope for Events is reached",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.OFFICIAL,
)
MOST_EVENTS = 1_000_000
HOUR = 3600.0
UNITS = {"h": HOUR, "m": 60.0, "s": 1.0, "ms": 0.001}


@check(
    id="API017",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/thresholds.md",
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
    ),
    effort="1 hour",
    risk="low",
)
def event_volume(events: EventCount | Unknown, plane: ControlPlane | Unknown) -> Iterator[Finding]:
    """Events are the most numerous objects of a cluster, and each is kept for an hour or longer.

    ## Why it breaks
    The number of Events is their rate times how long they are kept, and the rate grows with the
    pods. The published envelope is 1,000,000 Events. Each is about 1 kB in etcd, and one client
    that lists them reads them all. `--event-ttl` is one hour by default: a day makes it 24 times
    as many.

    ## Fix
    Keep Events for one hour, and mend what writes the most of them.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    - --event-ttl=1h
    ```

    ## Verify
    ```shell
    kubectl get --raw '/api/v1/events?limit=1' | grep -o '"remainingItemCount":[0-9]*'
    ```
    """
    if isinstance(events, Unknown):
        yield unknown(events, subject="Events")
    else:
        yield measure(
            EVENTS,
            subject="Events",
            used=events.count,
            limit=MOST_EVENTS,
            summary=f"{events.count:,} of {MOST_EVENTS:,} Events.",
            evidence=[seen("Events", events.count, events)],
        )
    yield _kept(plane)


def _kept(plane: ControlPlane | Unknown) -> Finding:
    subject = "--event-ttl"
    servers = plane if isinstance(plane, Unknown) else plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        return unknown(servers, subject=subject)
    server = max(servers, key=lambda pod: _seconds(pod.flags.get("event-ttl", "1h")))
    seconds = _seconds(server.flags.get("event-ttl", "1h"))
    evidence = [flag_evidence(server, "event-ttl", "default 1h0m0s")]
    if seconds > HOUR:
        return warn(
            f"Events are kept for {seconds / HOUR:g} hours, so there are {seconds / HOUR:g} times "
            "as many as by default.",
            subject=subject,
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    return ok(f"Events are kept for {seconds / 60:g} minutes.", subject=subject, evidence=evidence)


def _seconds(text: str) -> float:
    """A Go duration: "1h30m" → 5400."""
    parts = re.findall(r"([\d.]+)(ms|h|m|s)", text)
    return sum(float(number) * UNITS[unit] for number, unit in parts)
