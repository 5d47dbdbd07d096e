"""The control plane's components and flags, or why they are hidden."""

from kauditor.facts.provider import Provider
from kauditor.facts.static_pods import StaticPod, StaticPods
from kauditor.model.fact import Evidence, Fact, Origin, Seen, Unknown, Why, derives


class ControlPlane(Fact, frozen=True, kw_only=True):
    """Static pods by component. Ask through `component`: an absent one is unknown, not empty."""

    pods: tuple[StaticPod, ...]

    def component(self, name: str) -> tuple[StaticPod, ...] | Unknown:
        """The instances of one component."""
        found = tuple(pod for pod in self.pods if pod.component == name)
        if found:
            return found
        return Unknown(
            why=Why.NOT_IN_API,
            detail=f"No static pod of {name} is visible in kube-system.",
            lift=f"State what {name} runs with under [facts] in kauditor.toml.",
        )


@derives
def control_plane(
    pods: StaticPods | Unknown, provider: Provider | Unknown
) -> ControlPlane | Unknown:
    """Static pods where there are any; else the reason, by who keeps the control plane."""
    if isinstance(pods, StaticPods) and pods.pods:
        return ControlPlane(pods=pods.pods, origin=pods.origin)
    if isinstance(provider, Provider) and provider.managed:
        return Unknown(
            why=Why.MANAGED,
            detail=f"The control plane is kept by the provider ({provider.name}), "
            "and its flags are not shown.",
            lift="The provider's published envelope is assumed where there is one.",
        )
    if isinstance(pods, Unknown):
        return pods
    if isinstance(provider, Provider) and provider.name in ("k3s", "rke2", "k0s"):
        return Unknown(
            why=Why.NOT_IN_API,
            detail=f"{provider.name} keeps the control plane's flags on the host.",
            lift="State them under [facts] in kauditor.toml.",
        )
    return Unknown(
        why=Why.NOT_IN_API,
        detail="No control-plane static pods are visible in kube-system.",
        lift="State the control plane's flags under [facts] in kauditor.toml.",
    )


def flag_evidence(pod: StaticPod, flag: str, default: str = "") -> Evidence:
    """A row of evidence for one flag of one static pod."""
    value = pod.flags.get(flag)
    return Evidence(
        what=f"--{flag}",
        value=value if value is not None else f"not set{f' ({default})' if default else ''}",
        source=f"pod kube-system/{pod.name}",
        seen=Seen.DECLARED,
    )


def flag_origin(pod: StaticPod, flag: str) -> Origin:
    """The origin of a value that is one flag of one static pod."""
    return Origin(f"pod kube-system/{pod.name}, --{flag}", Seen.DECLARED)
