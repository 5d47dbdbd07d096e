"""Admission webhooks: what they get, how they fail, and where they are served."""

import re

import msgspec

from kauditor.model.fact import Fact, Origin, derives, tallies
from kauditor.model.source import Listing
from kauditor.objects.admission import Webhook as View
from kauditor.objects.admission import WebhookConfiguration, WebhookRule

VALIDATING = Listing(
    "admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations",
    WebhookConfiguration,
    namespaced=False,
)
MUTATING = Listing(
    "admissionregistration.k8s.io/v1",
    "mutatingwebhookconfigurations",
    WebhookConfiguration,
    namespaced=False,
)
MOST = 500
DEFAULT_TIMEOUT = 10

# What every cluster writes all the time or can't live without: group, resource, operations, and
# whether it is namespaced.
CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"
HOT: tuple[tuple[str, str, frozenset[str], bool], ...] = (
    ("", "pods", frozenset({CREATE, UPDATE, DELETE}), True),
    ("", "pods/binding", frozenset({CREATE}), True),
    ("", "bindings", frozenset({CREATE}), True),
    ("", "pods/status", frozenset({UPDATE}), True),
    ("", "nodes", frozenset({CREATE, UPDATE}), False),
    ("", "nodes/status", frozenset({UPDATE}), False),
    ("", "events", frozenset({CREATE, UPDATE}), True),
    ("events.k8s.io", "events", frozenset({CREATE, UPDATE}), True),
    ("coordination.k8s.io", "leases", frozenset({CREATE, UPDATE}), True),
    ("authentication.k8s.io", "tokenreviews", frozenset({CREATE}), False),
    ("authorization.k8s.io", "subjectaccessreviews", frozenset({CREATE}), False),
)
# Groups without which no workload can be changed.
CORE_GROUPS = frozenset({"*", "", "apps", "batch", "coordination.k8s.io"})

# Configurations that a provider puts there and puts back; catalog, trap 5.23.
PROVIDERS_OWN = re.compile(
    r"(\.gke\.io$|^(gke|warden|aks|eks)-|^pod-identity-webhook$|^vpc-resource-(mutating|validating))"
)


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One webhook, judged by what it matches.

    ``hot`` names the resources of `HOT` that its rules match, subresources included, before any
    selector. ``everything`` means all resources of all groups. ``service`` is "namespace/name",
    "" where it is called by URL.
    """

    kind: str
    configuration: str
    name: str
    fails_closed: bool
    timeout_seconds: int
    service: str
    by_namespace: bool
    by_object: bool
    everything: bool
    core: bool
    pods_created: bool
    hot: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"{self.kind} {self.configuration}/{self.name}"

    @property
    def providers_own(self) -> bool:
        """True where the provider keeps it, and an edit would be undone."""
        return bool(PROVIDERS_OWN.search(self.configuration))

    @property
    def narrowed(self) -> bool:
        """True where a selector or a match condition leaves requests out."""
        return self.by_namespace or self.by_object


class ValidatingWebhooks(Fact, frozen=True, kw_only=True):
    """At most 500 webhooks; ``count`` counts all."""

    count: int
    webhooks: tuple[Webhook, ...]


class MutatingWebhooks(Fact, frozen=True, kw_only=True):
    """At most 500 webhooks; ``count`` counts all."""

    count: int
    webhooks: tuple[Webhook, ...]


class Webhooks(Fact, frozen=True, kw_only=True):
    """Both kinds together."""

    count: int
    webhooks: tuple[Webhook, ...]


class _WebhookTally:
    kind = ""

    def __init__(self) -> None:
        self.webhooks: list[Webhook] = []

    def add(self, configuration: WebhookConfiguration) -> None:
        """Note the webhooks of one configuration."""
        for view in configuration.webhooks or []:
            self.webhooks.append(_judged(self.kind, configuration.metadata.name, view))

    def noted(self) -> tuple[Webhook, ...]:
        """The most far-reaching first, so that the bound cuts off the harmless."""
        ordered = sorted(
            self.webhooks,
            key=lambda one: (
                not one.fails_closed,
                not one.core,
                one.narrowed,
                one.configuration,
                one.name,
            ),
        )
        return tuple(ordered[:MOST])


@tallies(ValidatingWebhooks, VALIDATING)
class ValidatingTally(_WebhookTally):
    """Notes validating webhooks."""

    kind = "ValidatingWebhookConfiguration"

    def total(self) -> ValidatingWebhooks:
        """The webhooks."""
        return ValidatingWebhooks(count=len(self.webhooks), webhooks=self.noted())


@tallies(MutatingWebhooks, MUTATING)
class MutatingTally(_WebhookTally):
    """Notes mutating webhooks."""

    kind = "MutatingWebhookConfiguration"

    def total(self) -> MutatingWebhooks:
        """The webhooks."""
        return MutatingWebhooks(count=len(self.webhooks), webhooks=self.noted())


@derives
def webhooks(validating: ValidatingWebhooks, mutating: MutatingWebhooks) -> Webhooks:
    """One list of both; unknown where either is."""
    return Webhooks(
        count=validating.count + mutating.count,
        webhooks=validating.webhooks + mutating.webhooks,
        origin=Origin(f"{validating.origin.read_from} and {mutating.origin.read_from}"),
    )


def _judged(kind: str, configuration: str, view: View) -> Webhook:
    rules = view.rules or []
    service = view.client_config.service
    return Webhook(
        kind=kind,
        configuration=configuration,
        name=view.name,
        fails_closed=view.failure_policy != "Ignore",
        timeout_seconds=DEFAULT_TIMEOUT if view.timeout_seconds is None else view.timeout_seconds,
        service=f"{service.namespace}/{service.name}" if service else "",
        by_namespace=view.namespace_selector is not None and not view.namespace_selector.empty,
        by_object=bool(view.match_conditions)
        or (view.object_selector is not None and not view.object_selector.empty),
        everything=any(_everything(rule) for rule in rules),
        core=any(
            CORE_GROUPS & set(rule.api_groups or []) and set(rule.operations or []) != {"CONNECT"}
            for rule in rules
        ),
        pods_created=any(
            _matches(rule, "", "pods", frozenset({CREATE}), namespaced=True) for rule in rules
        ),
        hot=tuple(
            dict.fromkeys(
                resource
                for group, resource, operations, namespaced in HOT
                if any(
                    _matches(rule, group, resource, operations, namespaced=namespaced)
                    for rule in rules
                )
            )
        ),
    )


def _everything(rule: WebhookRule) -> bool:
    resources = set(rule.resources or [])
    return "*" in (rule.api_groups or []) and bool(resources & {"*", "*/*"})


def _matches(
    rule: WebhookRule, group: str, resource: str, operations: frozenset[str], *, namespaced: bool
) -> bool:
    if rule.scope == ("Cluster" if namespaced else "Namespaced"):
        return False
    if not {"*", group} & set(rule.api_groups or []):
        return False
    if not (operations | {"*"}) & set(rule.operations or []):
        return False
    # "*" leaves subresources out, "*/*" takes them in; "pods/*" is the subresources of pods.
    name, slash, part = resource.partition("/")
    wanted = {resource, "*/*"} | ({f"{name}/*", f"*/{part}"} if slash else {"*"})
    return bool(wanted & set(rule.resources or []))
