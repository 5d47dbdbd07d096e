"""SCHED004: which share of the nodes the scheduler scores for each pod."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Evidence,
    Finding,
    Provider,
    Scale,
    SchedulerConfig,
    SchedulerConfigs,
    Seen,
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

FLAG = "percentageOfNodesToScore"


@check(
    id="SCHED004",
    area=Area.SCHEDULER,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/scheduling-eviction/scheduler-perf-tuning/",
        "https://github.com/kubernetes/kubernetes/issues/78208",
    ),
    effort="10 minutes",
    risk="low",
)
def scored_nodes_share(
    configs: SchedulerConfigs | Unknown,
    plane: ControlPlane | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    from_nodes: int = 1000,
    most_percent: int = 50,
    least_percent: int = 5,
) -> Iterator[Finding]:
    """The scheduler scores a share of all nodes for each pod, and a fixed share grows with them.

    ## Why it breaks
    Unset or 0, `percentageOfNodesToScore` adapts: about 50 % of 100 nodes, 10 % of 5,000. A fixed
    share does not. One published cluster of 5,000 nodes bound 15 pods a second with idle cores,
    because each pod took 130 ms of scoring; a higher API rate would not have helped. Too small a
    share places pods badly: the documentation discourages values under 10.

    ## Fix
    Remove the fixed share and let the scheduler adapt it.

    ```yaml
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    percentageOfNodesToScore: 0
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-scheduler -o yaml | grep -- '--config'
    ```
    """
    if isinstance(configs, Unknown):
        yield unknown(configs, subject="schedulers with a ConfigMap")
    else:
        for config in configs.configs:
            yield _verdict(config, configs, scale, from_nodes, most_percent, least_percent)
    yield _own(plane, provider)


def _verdict(
    config: SchedulerConfig,
    configs: SchedulerConfigs,
    scale: Scale,
    from_nodes: int,
    most: int,
    least: int,
) -> Finding:
    words = ", ".join(f"{share} %" for share in config.shares)
    row = Evidence(
        what=FLAG,
        value=words or "not set (default adaptive)",
        source=config.subject,
        seen=Seen.DECLARED,
    )
    set_shares = [share for share in config.shares if share]
    high = [share for share in set_shares if share >= most and scale.target > from_nodes]
    if high:
        scored = scale.target * max(high) // 100
        return warn(
            f"The scheduler scores {max(high)} % of the nodes for each pod: {scored:,} at "
            f"{scale.target:,} nodes.",
            subject=config.subject,
            evidence=[row],
        )
    low = [share for share in set_shares if share < least]
    if low:
        return warn(
            f"The scheduler scores {min(low)} % of the nodes for each pod, too few to place pods "
            "well.",
            subject=config.subject,
            severity=Severity.LOW,
            evidence=[row],
        )
    return ok(
        f"The scheduler scores {words or 'an adaptive share'} of the nodes for each pod.",
        subject=config.subject,
        evidence=[row],
    )


def _own(plane: ControlPlane | Unknown, provider: Provider | Unknown) -> Finding:
    subject = "kube-scheduler"
    schedulers = plane if isinstance(plane, Unknown) else plane.component(subject)
    if isinstance(schedulers, Unknown):
        if isinstance(provider, Provider) and provider.managed:
            return skip(
                f"{provider.name} runs the scheduler and sets its share of scored nodes.",
                subject=subject,
                evidence=[seen("provider", provider.name, provider)],
            )
        return unknown(schedulers, subject=subject)
    for scheduler in schedulers:
        if "config" in scheduler.flags:
            return unknown(
                why=Why.NOT_IN_API,
                summary="The scheduler reads its share of scored nodes from a file on the host.",
                lift=f"Look for {FLAG} in that file; unset or 0 is adaptive.",
                subject=subject,
                evidence=[flag_evidence(scheduler, "config")],
            )
    return ok(
        "The scheduler has no configuration file, so the share of scored nodes is adaptive.",
        subject=subject,
        evidence=[flag_evidence(schedulers[0], "config", "no file")],
    )
