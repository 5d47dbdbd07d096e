"""API019: a webhook that refuses all when it is away, and that is easily away."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    BudgetedNamespaces,
    Evidence,
    Finding,
    Provider,
    Scale,
    Seen,
    ServiceBackends,
    Severity,
    Unknown,
    Webhook,
    Webhooks,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
    warn,
)


@check(
    id="API019",
    area=Area.CONTROL_PLANE,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/",
        "https://github.com/SlinkyProject/slurm-operator/issues/189",
        "https://github.com/dfds/postmortems",
    ),
    effort="1 hour",
    risk="low",
)
def webhook_fail_closed_fragile(
    webhooks: Webhooks,
    backends: ServiceBackends | Unknown,
    budgets: BudgetedNamespaces | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    small: int = 500,
) -> Iterator[Finding]:
    """A webhook that fails closed stops the writes it guards while its pods are away.

    ## Why it breaks
    `failurePolicy: Fail` is the default: when no endpoint answers, each write that the rules
    match is refused. A webhook on pods or their bindings with one replica stops all scheduling
    when that replica's node reboots, and where it guards its own namespace its own pod can't come
    back. Published outages: bindings refused after a reboot, every write of Services refused
    while a policy engine was down.

    ## Fix
    Run two or more replicas on different nodes with a PodDisruptionBudget.

    ```yaml
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata:
      name: webhook
      namespace: policy
    spec:
      minAvailable: 1
      selector:
        matchLabels:
          app: webhook
    ```

    Leave the webhook's own namespace and kube-system out by its namespaceSelector. Where refusing
    protects nothing, use `failurePolicy: Ignore`.

    ## Verify
    ```shell
    kubectl -n NAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE
    ```
    """
    closed = [one for one in webhooks.webhooks if one.fails_closed and not one.providers_own]
    count = seen("webhooks that fail closed", len(closed), webhooks)
    if not closed:
        yield ok(f"None of {webhooks.count} webhooks fails closed.", evidence=[count])
        return
    if isinstance(backends, Unknown):
        yield unknown(backends, evidence=[count])
        return
    local = isinstance(provider, Provider) and provider.local
    sound = 0
    for one in closed:
        finding = _finding(one, backends, budgets, scale, local, small)
        if finding is None:
            sound += 1
        else:
            yield finding
    if sound:
        yield ok(
            f"{sound} of {len(closed)} webhooks that fail closed are served well enough for what "
            "they guard.",
            evidence=[count],
        )


def _finding(
    one: Webhook,
    backends: ServiceBackends,
    budgets: BudgetedNamespaces | Unknown,
    scale: Scale,
    local: bool,
    small: int,
) -> Finding | None:
    guarded = ", ".join(one.hot) if one.hot else "core resources" if one.core else "its own API"
    evidence = [
        Evidence(what="failurePolicy", value="Fail", source=one.subject, seen=Seen.DECLARED),
        Evidence(what="guards", value=guarded, source=one.subject, seen=Seen.DECLARED),
    ]
    if not one.service:
        return unknown(
            why=Why.NOT_IN_API,
            summary="It is called by URL, so how many servers answer can't be seen.",
            lift="Look at the servers behind the URL of its clientConfig.",
            subject=one.subject,
            evidence=evidence,
        )
    ready = backends.ready.get(one.service, 0)
    number = "2 or more" if ready > 1 else str(ready)
    evidence.append(seen(f"ready endpoints of Service {one.service}", number, backends))
    stops_all = bool(one.hot) and not one.narrowed
    if ready == 0:
        return fail(
            f"No endpoint is ready, so each write of {guarded} that it matches is refused now.",
            subject=one.subject,
            severity=Severity.CRITICAL if one.core else Severity.HIGH,
            evidence=evidence,
        )
    if ready == 1:
        if local:
            return skip(
                "On a development cluster of one machine a second replica adds nothing.",
                subject=one.subject,
                evidence=evidence,
            )
        if not one.core:
            # A lone replica that guards its own API only is how most operators are shipped.
            if scale.target < small:
                return None
            return warn(
                "One endpoint serves it; while it is away, its own API can't be written.",
                subject=one.subject,
                severity=Severity.LOW,
                evidence=evidence,
            )
        own = " Its own pods are among them." if "pods" in one.hot and not one.narrowed else ""
        return fail(
            f"One endpoint serves it; while it is away, writes of {guarded} are refused.{own}",
            subject=one.subject,
            severity=Severity.CRITICAL if stops_all else Severity.HIGH,
            evidence=evidence,
        )
    if one.core and one.service in backends.one_node and not local and scale.nodes > 1:
        return warn(
            f"All its endpoints stand on one node; with that node writes of {guarded} stop.",
            subject=one.subject,
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    if not one.core or local or scale.target < small:
        return None
    if isinstance(budgets, Unknown):
        return unknown(budgets, subject=one.subject, evidence=evidence)
    namespace = one.service.partition("/")[0]
    # Whose pods a budget covers is not joined: only a namespace without any is certain.
    if namespace not in budgets.budgets:
        return warn(
            f"No PodDisruptionBudget stands in {namespace}, so a drain may take all its endpoints "
            f"at once, and writes of {guarded} are refused.",
            subject=one.subject,
            severity=Severity.MEDIUM,
            evidence=[*evidence, seen(f"PodDisruptionBudgets in {namespace}", 0, budgets)],
        )
    return None
