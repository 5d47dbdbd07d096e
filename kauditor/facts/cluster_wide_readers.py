"""Which service accounts may list or watch large collections in the whole cluster."""

import msgspec

from kauditor.model.fact import Fact, Origin, Seen, derives, tallies
from kauditor.model.source import Listing
from kauditor.objects.rbac import ClusterRole, ClusterRoleBinding

ROLE_LISTING = Listing(
    "rbac.authorization.k8s.io/v1", "clusterroles", ClusterRole, namespaced=False
)
BINDING_LISTING = Listing(
    "rbac.authorization.k8s.io/v1", "clusterrolebindings", ClusterRoleBinding, namespaced=False
)

# Collections whose list costs more, the more the cluster holds; resource → API group.
HEAVY = {
    "pods": "",
    "events": "",
    "nodes": "",
    "services": "",
    "endpoints": "",
    "endpointslices": "discovery.k8s.io",
    "configmaps": "",
    "secrets": "",
    "replicasets": "apps",
}


class HeavyRoles(Fact, frozen=True, kw_only=True):
    """ClusterRoles that allow listing or watching heavy collections: role → collections."""

    roles: dict[str, tuple[str, ...]]


class RoleBindings(Fact, frozen=True, kw_only=True):
    """Service accounts and groups by role: role → "namespace/account" or "group:NAME"."""

    holders: dict[str, tuple[str, ...]]


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """A service account, what it may list cluster-wide, and through which roles."""

    account: str
    collections: tuple[str, ...]
    roles: tuple[str, ...]


class ClusterWideReaders(Fact, frozen=True, kw_only=True):
    """By "namespace/account". ``everyone`` holds what any service account may list."""

    readers: dict[str, Reader]
    everyone: tuple[str, ...]
    namespaces: dict[str, tuple[str, ...]]

    def of(self, namespace: str, account: str) -> Reader | None:
        """What this account may list, by its own, its namespace's and everyone's bindings."""
        own = self.readers.get(f"{namespace}/{account}")
        shared = set(self.everyone) | set(self.namespaces.get(namespace, ()))
        collections = sorted(shared | set(own.collections if own else ()))
        if not collections:
            return None
        return Reader(
            account=f"{namespace}/{account}",
            collections=tuple(collections),
            roles=own.roles if own else (),
        )


@tallies(HeavyRoles, ROLE_LISTING)
class HeavyRoleTally:
    """Picks out roles that allow heavy lists."""

    def __init__(self) -> None:
        self.roles: dict[str, tuple[str, ...]] = {}

    def add(self, role: ClusterRole) -> None:
        """Keep the role where it allows a heavy list."""
        allowed: set[str] = set()
        for rule in role.rules or ():
            if rule.resource_names or not {"list", "watch", "*"} & set(rule.verbs or ()):
                continue
            groups = set(rule.api_groups or ())
            resources = set(rule.resources or ())
            for collection, group in HEAVY.items():
                named = "*" in resources or collection in resources
                if (named and ("*" in groups or group in groups)) or (
                    collection == "events" and named and "events.k8s.io" in groups
                ):
                    allowed.add(collection)
        if allowed:
            self.roles[role.metadata.name] = tuple(sorted(allowed))

    def total(self) -> HeavyRoles:
        """The roles."""
        return HeavyRoles(roles=dict(sorted(self.roles.items())))


@tallies(RoleBindings, BINDING_LISTING)
class RoleBindingTally:
    """Notes who holds which role."""

    def __init__(self) -> None:
        self.holders: dict[str, set[str]] = {}

    def add(self, binding: ClusterRoleBinding) -> None:
        """Note the service accounts and groups of one binding."""
        for subject in binding.subjects or ():
            if subject.kind == "ServiceAccount":
                holder = f"{subject.namespace}/{subject.name}"
            elif subject.kind == "Group" and subject.name.startswith("system:serviceaccounts"):
                holder = f"group:{subject.name}"
            elif subject.kind == "Group" and subject.name == "system:authenticated":
                holder = "group:system:serviceaccounts"
            elif subject.kind == "User" and subject.name.startswith("system:serviceaccount:"):
                holder = subject.name.removeprefix("system:serviceaccount:").replace(":", "/")
            else:
                continue
            self.holders.setdefault(binding.role_ref.name, set()).add(holder)

    def total(self) -> RoleBindings:
        """The bindings."""
        return RoleBindings(
            holders={role: tuple(sorted(who)) for role, who in sorted(self.holders.items())}
        )


@derives
def cluster_wide_readers(roles: HeavyRoles, bindings: RoleBindings) -> ClusterWideReaders:
    """Joins roles with who holds them."""
    collections: dict[str, set[str]] = {}
    through: dict[str, set[str]] = {}
    for role, allowed in roles.roles.items():
        for holder in bindings.holders.get(role, ()):
            collections.setdefault(holder, set()).update(allowed)
            through.setdefault(holder, set()).add(role)
    everyone = collections.pop("group:system:serviceaccounts", set())
    prefix = "group:system:serviceaccounts:"
    namespaces = {
        holder.removeprefix(prefix): tuple(sorted(allowed))
        for holder, allowed in collections.items()
        if holder.startswith(prefix)
    }
    return ClusterWideReaders(
        readers={
            holder: Reader(
                account=holder,
                collections=tuple(sorted(allowed)),
                roles=tuple(sorted(through[holder])),
            )
            for holder, allowed in sorted(collections.items())
            if not holder.startswith("group:")
        },
        everyone=tuple(sorted(everyone)),
        namespaces=namespaces,
        origin=Origin("ClusterRoles and ClusterRoleBindings", Seen.DECLARED),
    )
