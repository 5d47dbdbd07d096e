"""API018: a webhook that gets what it should not stand in the way of."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Evidence,
    Finding,
    Seen,
    Severity,
    Webhook,
    Webhooks,
    check,
    fail,
    ok,
    seen,
    warn,
)


@check(
    id="API018",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/",
        "https://github.com/SlinkyProject/slurm-operator/issues/189",
    ),
    effort="1 hour",
    risk="medium",
)
def webhook_catch_all_scope(webhooks: Webhooks) -> Iterator[Finding]:
    r"""A webhook without selectors gets every write of what the cluster lives on.

    ## Why it breaks
    A webhook is called for each write that its rules match, subresources included. Pods are bound
    by a write of `pods/binding`; nodes say that they live by a write of a lease, one in ten
    seconds each; a webhook that gets those stands in the way of scheduling and of the heartbeat,
    and its calls grow with the cluster. With `failurePolicy: Fail` its outage is the cluster's:
    one webhook on `pods/binding` stopped all scheduling after a reboot.

    ## Fix
    Name the resources in the rules, and leave out what the webhook does not need by a selector.

    ```yaml
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingWebhookConfiguration
    metadata:
      name: policy
    webhooks:
      - name: policy.example.com
        admissionReviewVersions: [v1]
        sideEffects: None
        timeoutSeconds: 3
        clientConfig:
          service: {namespace: policy, name: policy}
        namespaceSelector:
          matchExpressions:
            - key: kubernetes.io/metadata.name
              operator: NotIn
              values: [kube-system, kube-node-lease, policy]
        rules:
          - apiGroups: [apps]
            apiVersions: [v1]
            operations: [CREATE, UPDATE]
            resources: [deployments]
    ```

    ## Verify
    ```shell
    kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml \
      | grep -E 'name:|resources:|Selector:|failurePolicy:'
    ```
    """
    found = 0
    for one in webhooks.webhooks:
        if not one.providers_own and (finding := _finding(one)):
            found += 1
            yield finding
    if not found:
        own = sum(one.providers_own for one in webhooks.webhooks)
        kept = f" ({own} of them the provider's own)" if own else ""
        yield ok(
            f"None of {webhooks.count} webhooks{kept} catches all.",
            evidence=[seen("webhooks", webhooks.count, webhooks)],
        )


def _finding(one: Webhook) -> Finding | None:
    # A star that selectors narrow is fine; catalog, trap 5.23.
    if one.narrowed or not one.hot:
        return None
    names = ", ".join(one.hot)
    policy = "Fail" if one.fails_closed else "Ignore"
    evidence = [
        Evidence(what=what, value=value, source=one.subject, seen=Seen.DECLARED)
        for what, value in (
            ("matches", "all resources of all groups" if one.everything else names),
            ("selectors and conditions", "none"),
            ("failurePolicy", policy),
        )
    ]
    what = f"all resources, {names} among them," if one.everything else names
    if set(one.hot) == {"pods"}:
        if not one.fails_closed:
            return None
        return warn(
            "It gets pods of all namespaces, the system's included, and refuses them when it is "
            "away.",
            subject=one.subject,
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    summary = f"It gets {what} of the whole cluster without a selector (failurePolicy {policy})."
    if one.fails_closed:
        return fail(summary, subject=one.subject, evidence=evidence)
    return warn(summary, subject=one.subject, severity=Severity.MEDIUM, evidence=evidence)
