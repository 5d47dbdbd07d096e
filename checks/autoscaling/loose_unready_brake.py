"""AS006: the brake that keeps the autoscaler from deleting a sick cluster."""

from collections.abc import Iterator

from kauditor.api import (
    AddOn,
    AddOns,
    Area,
    Evidence,
    Finding,
    Provider,
    Seen,
    Severity,
    Stated,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
)

DEFAULT_PERCENT = 45
DEFAULT_COUNT = 3


@check(
    id="AS006",
    area=Area.AUTOSCALING,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
        "https://openai.com/index/scaling-kubernetes-to-2500-nodes",
    ),
    effort="10 minutes",
    risk="low",
)
def loose_unready_brake(
    add_ons: AddOns | Unknown,
    provider: Provider | Unknown,
    stated: Stated,
    *,
    most_percent: int = 60,
) -> Iterator[Finding]:
    """The autoscaler stops acting when too many nodes are unready, unless the brake is loosened.

    ## Why it breaks
    When the control plane can't hear its nodes, healthy ones look dead. One published cluster
    filled its etcd, health checks failed, and the autoscaler began to terminate all workers. The
    brake is `--max-total-unready-percentage`: above it (45 % by default, with at least
    `--ok-total-unready-count` = 3 nodes) the autoscaler does nothing. At 100 % there is no brake.

    ## Fix
    Set the brake back to 45 %, and alert when the cluster is not safe to autoscale.

    ```shell
    kubectl -n kube-system edit deployment cluster-autoscaler
    # --max-total-unready-percentage=45 --ok-total-unready-count=3
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployment cluster-autoscaler -o yaml | grep unready
    ```
    """
    if stated.max_unready_percentage is not None:
        row = seen("most unready nodes, percent", stated.max_unready_percentage, stated)
        yield _verdict(stated.max_unready_percentage, most_percent, "autoscaler", [row])
        return
    if isinstance(add_ons, Unknown):
        yield unknown(add_ons)
        return
    scalers = add_ons.role("cluster-autoscaler")
    if not scalers:
        yield _without(add_ons, provider)
        return
    for scaler in scalers:
        percent = _number(scaler, "max-total-unready-percentage", DEFAULT_PERCENT)
        yield _verdict(
            percent,
            most_percent,
            scaler.subject,
            [
                _row(scaler, "max-total-unready-percentage", DEFAULT_PERCENT),
                _row(scaler, "ok-total-unready-count", DEFAULT_COUNT),
            ],
        )


def _verdict(percent: float, most: int, subject: str, evidence: list[Evidence]) -> Finding:
    if percent >= 100:
        return fail(
            "The autoscaler goes on however many nodes are unready: there is no brake.",
            subject=subject,
            evidence=evidence,
        )
    if percent > most:
        return fail(
            f"The autoscaler goes on until {percent:g} % of the nodes are unready.",
            subject=subject,
            severity=Severity.HIGH,
            evidence=evidence,
        )
    return ok(
        f"The autoscaler stops acting when more than {percent:g} % of the nodes are unready.",
        subject=subject,
        evidence=evidence,
    )


def _number(scaler: AddOn, flag: str, default: float) -> float:
    try:
        return float(scaler.flags[flag])
    except (KeyError, ValueError):
        return default


def _row(scaler: AddOn, flag: str, default: int) -> Evidence:
    value = scaler.flags.get(flag)
    return Evidence(
        what=f"--{flag}",
        value=value if value is not None else f"not set (default {default})",
        source=scaler.subject,
        seen=Seen.DECLARED,
    )


def _without(add_ons: AddOns, provider: Provider | Unknown) -> Finding:
    if isinstance(provider, Unknown):
        return unknown(provider)
    if provider.name in ("gke", "aks"):
        return unknown(
            why=Why.MANAGED,
            summary=f"{provider.name} runs the autoscaler itself, and its settings are not shown.",
            lift="State it: [facts.autoscaler] max-unready-percentage in kauditor.toml.",
        )
    return skip(
        "No cluster autoscaler runs here.",
        evidence=[seen("Deployments", add_ons.deployments, add_ons)],
    )
