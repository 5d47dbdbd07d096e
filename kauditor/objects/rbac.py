"""Roles and bindings."""

from kauditor.objects.meta import Meta, Struct


class Rule(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One rule of a role."""

    verbs: list[str] | None = None
    api_groups: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None


class ClusterRole(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A ClusterRole; aggregated rules are already filled in by the controller."""

    metadata: Meta = Meta()
    rules: list[Rule] | None = None


class Subject(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Who is bound."""

    kind: str = ""
    name: str = ""
    namespace: str = ""


class RoleRef(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Which role."""

    kind: str = ""
    name: str = ""


class ClusterRoleBinding(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Who holds a role in the whole cluster."""

    metadata: Meta = Meta()
    role_ref: RoleRef = RoleRef()
    subjects: list[Subject] | None = None
