"""API020: webhooks that may hold a write for long."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Evidence,
    Finding,
    Seen,
    Severity,
    Webhooks,
    check,
    ok,
    seen,
    warn,
)

MUTATING = "MutatingWebhookConfiguration"


@check(
    id="API020",
    area=Area.CONTROL_PLANE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/",
        "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
    ),
    effort="10 minutes",
    risk="low",
)
def webhook_timeout(
    webhooks: Webhooks, *, most_seconds: int = 10, most_seconds_in_a_row: int = 30
) -> Iterator[Finding]:
    r"""Webhooks may hold a write for longer than its client waits.

    ## Why it breaks
    Mutating webhooks are called one after another, so their timeouts add up; validating ones are
    called together. While a webhook hangs, the write holds its place in the API server's queues.
    Ten seconds are the default and thirty the most; the documentation advises small values. A
    request is cut off at 60 seconds, and clients give up earlier.

    ## Fix
    Set `timeoutSeconds` of each webhook to between 2 and 5.

    ```shell
    kubectl patch mutatingwebhookconfiguration NAME --type=json \
      -p='[{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 3}]'
    ```

    ## Verify
    ```shell
    kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations \
      -o custom-columns='NAME:.metadata.name,SECONDS:.webhooks[*].timeoutSeconds'
    ```
    """
    found = 0
    for one in webhooks.webhooks:
        if one.timeout_seconds > most_seconds and not one.providers_own:
            found += 1
            yield warn(
                f"It may hold a write for {one.timeout_seconds} seconds.",
                subject=one.subject,
                severity=None if one.core else Severity.LOW,
                evidence=[
                    Evidence(
                        what="timeoutSeconds",
                        value=str(one.timeout_seconds),
                        source=one.subject,
                        seen=Seen.DECLARED,
                    )
                ],
            )
    row = [one for one in webhooks.webhooks if one.kind == MUTATING and one.pods_created]
    total = sum(one.timeout_seconds for one in row)
    evidence = [
        seen("mutating webhooks for new pods", len(row), webhooks),
        seen("their timeouts together, seconds", total, webhooks),
    ]
    if total > most_seconds_in_a_row:
        yield warn(
            f"{len(row)} mutating webhooks in a row may hold a new pod for {total} seconds.",
            subject="new pods",
            evidence=evidence,
        )
    elif not found:
        yield ok(
            f"None of {webhooks.count} webhooks may hold a write for more than {most_seconds} "
            f"seconds, nor those in a row for more than {most_seconds_in_a_row}.",
            evidence=[seen("webhooks", webhooks.count, webhooks), *evidence],
        )
