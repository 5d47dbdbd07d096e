"""Who runs the control plane: a provider, a distribution, or the user."""

from kauditor.facts.nodes import Nodes
from kauditor.facts.server_version import ServerVersion
from kauditor.model.fact import Fact, Origin, Seen, Unknown, derives

# Marks in the server's version string; catalog of traps, 5.1.
VERSION_MARKS = (
    ("-eks-", "eks"),
    ("-gke.", "gke"),
    ("+k3s", "k3s"),
    ("+rke2", "rke2"),
    ("+k0s", "k0s"),
)
MANAGED = frozenset({"eks", "gke", "aks"})


class Provider(Fact, frozen=True, kw_only=True):
    """``name``: eks, gke, aks, openshift, k3s, rke2, k0s, kind, minikube, or self-managed.

    ``local`` marks development clusters on one machine.
    """

    name: str
    managed: bool
    local: bool = False


@derives
def provider(version: ServerVersion | Unknown, nodes: Nodes | Unknown) -> Provider | Unknown:
    """From the version's suffix first, then from labels and provider ids of the nodes."""
    if isinstance(version, ServerVersion):
        for mark, name in VERSION_MARKS:
            if mark in version.git_version:
                return Provider(name=name, managed=name in MANAGED, origin=version.origin)
    if isinstance(nodes, Unknown):
        return nodes
    for name in ("eks", "gke", "aks", "openshift", "k0s", "minikube"):
        if nodes.marks.get(name):
            return Provider(
                name=name,
                managed=name in MANAGED,
                local=name == "minikube",
                origin=Origin("labels of nodes", Seen.INFERRED),
            )
    origin = Origin("provider ids of nodes", Seen.INFERRED)
    if "kind" in nodes.provider_schemes:
        return Provider(name="kind", managed=False, local=True, origin=origin)
    if "k3s" in nodes.provider_schemes:
        return Provider(name="k3s", managed=False, origin=origin)
    if isinstance(version, Unknown):
        # Without the version's suffix "nobody's" would be a guess.
        return version
    return Provider(name="self-managed", managed=False, origin=origin)
