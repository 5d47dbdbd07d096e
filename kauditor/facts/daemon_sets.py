"""DaemonSets: what runs on every node, and as whom."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.workload import EnvVar, TemplateContainer, Workload, flags_of

DAEMON_SET_LISTING = Listing("apps/v1", "daemonsets", Workload)
MOST = 500

# The one setting of calico-node that decides whether Typha is needed.
CALICO_DATASTORE = "DATASTORE_TYPE"
CALICO_TYPHA = "FELIX_TYPHAK8SSERVICENAME"
CALICO_BACKEND = "CALICO_NETWORKING_BACKEND"
# Settings of the AWS VPC CNI: kept as "true" and "false", or as digits.
VPC_SWITCHES = ("ENABLE_PREFIX_DELEGATION", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")
VPC_NUMBERS = ("WARM_ENI_TARGET", "WARM_IP_TARGET", "MINIMUM_IP_TARGET", "WARM_PREFIX_TARGET")
# The spellings that Go's strconv.ParseBool takes for true.
TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
PROXY_MODE = "proxy-mode"


class DaemonSet(msgspec.Struct, frozen=True, kw_only=True):
    """One DaemonSet. ``account`` is its service account; ``settings`` the few that checks need."""

    namespace: str
    name: str
    account: str
    desired: int
    ready: int
    images: tuple[str, ...]
    priority_class: str = ""
    settings: dict[str, str] = {}

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"DaemonSet {self.namespace}/{self.name}"


class DaemonSets(Fact, frozen=True, kw_only=True):
    """All DaemonSets, largest first, at most 500 of them; ``count`` counts all."""

    count: int
    sets: tuple[DaemonSet, ...]

    def named(self, *names: str) -> DaemonSet | None:
        """The first DaemonSet that has one of these names."""
        return next((one for one in self.sets if one.name in names), None)


@tallies(DaemonSets, DAEMON_SET_LISTING)
class DaemonSetTally:
    """Notes DaemonSets."""

    def __init__(self) -> None:
        self.sets: list[DaemonSet] = []

    def add(self, workload: Workload) -> None:
        """Note one."""
        spec = workload.spec.template.spec
        containers = spec.containers or []
        settings = _settings(containers)
        self.sets.append(
            DaemonSet(
                namespace=workload.metadata.namespace,
                name=workload.metadata.name,
                account=spec.service_account_name or "default",
                desired=workload.status.desired_number_scheduled,
                ready=workload.status.number_ready,
                images=tuple(container.image for container in containers),
                priority_class=spec.priority_class_name,
                settings=settings,
            )
        )

    def total(self) -> DaemonSets:
        """The DaemonSets."""
        ordered = sorted(self.sets, key=lambda one: (-one.desired, one.namespace, one.name))
        return DaemonSets(count=len(ordered), sets=tuple(ordered[:MOST]))


def _settings(containers: list[TemplateContainer]) -> dict[str, str]:
    settings = {}
    for container in containers:
        for variable in container.env or []:
            value = _setting(variable)
            if value is not None:
                settings[variable.name] = value
        mode = flags_of(container.command, container.args).get(PROXY_MODE)
        if mode and container.name == "kube-proxy":
            settings[PROXY_MODE] = mode
    return settings


def _setting(variable: EnvVar) -> str | None:
    """What one variable means; null where no check needs it."""
    name, value = variable.name, variable.value
    if name in (CALICO_DATASTORE, CALICO_TYPHA, CALICO_BACKEND):
        return value
    if name in VPC_SWITCHES:
        return "true" if value in TRUE else "false"
    if name in VPC_NUMBERS and value.strip().isdigit():
        return value.strip()
    return None
