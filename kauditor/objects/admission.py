"""Admission webhooks, aggregated APIs and flow schemas: what stands in the way of requests."""

from kauditor.objects.meta import LabelSelector, Meta, Struct
from kauditor.objects.pod import Present


class ServiceReference(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A Service inside the cluster."""

    namespace: str = ""
    name: str = ""


class ClientConfig(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Where a webhook is called. Of a URL only its presence is read: it can carry a secret."""

    service: ServiceReference | None = None


class WebhookRule(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Which requests a webhook gets; an unset scope is "*"."""

    api_groups: list[str] | None = None
    resources: list[str] | None = None
    operations: list[str] | None = None
    scope: str | None = None


class Webhook(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One webhook. The server fills in the defaults: Fail and 10 seconds."""

    name: str = ""
    client_config: ClientConfig = ClientConfig()
    rules: list[WebhookRule] | None = None
    failure_policy: str | None = None
    timeout_seconds: int | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_conditions: list[Present] | None = None


class WebhookConfiguration(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A ValidatingWebhookConfiguration or a MutatingWebhookConfiguration."""

    metadata: Meta = Meta()
    webhooks: list[Webhook] | None = None


class Condition(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One condition, without its message."""

    type: str = ""
    status: str = ""
    reason: str = ""


class ApiServiceSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of an APIService; without a Service it is served by the API server itself."""

    service: ServiceReference | None = None


class ApiServiceStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status`` of an APIService."""

    conditions: list[Condition] | None = None


class ApiService(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One version of one API group."""

    metadata: Meta = Meta()
    spec: ApiServiceSpec = ApiServiceSpec()
    status: ApiServiceStatus = ApiServiceStatus()


class PriorityLevelReference(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A priority level by name."""

    name: str = ""


class FlowSchemaSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a FlowSchema."""

    priority_level_configuration: PriorityLevelReference = PriorityLevelReference()


class FlowSchema(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Which requests go to which priority level."""

    metadata: Meta = Meta()
    spec: FlowSchemaSpec = FlowSchemaSpec()


class LeaseSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a Lease. The times are RFC 3339."""

    lease_transitions: int | None = None
    renew_time: str | None = None


class Lease(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One lease."""

    metadata: Meta = Meta()
    spec: LeaseSpec = LeaseSpec()


class PriorityClass(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One priority class."""

    metadata: Meta = Meta()
    value: int = 0
    global_default: bool = False
