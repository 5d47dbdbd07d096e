"""The least ClusterRole, from what the chosen checks read."""

import json
from collections.abc import Iterable
from typing import Any

from kauditor.model.source import Grant


def rules(grants: Iterable[Grant]) -> list[dict[str, Any]]:
    """RBAC rules, grouped by API group and verbs, in a steady order.

    A ClusterRole can't say "only in kube-system", so a grant for one namespace stands there as
    one for all; a Role of that namespace would do.
    """
    resources: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    paths: dict[tuple[str, ...], set[str]] = {}
    for grant in grants:
        if grant.path:
            paths.setdefault(grant.verbs, set()).add(grant.path)
        else:
            resources.setdefault((grant.group, grant.verbs), set()).add(grant.resource)
    made: list[dict[str, Any]] = [
        {"apiGroups": [group], "resources": sorted(names), "verbs": list(verbs)}
        for (group, verbs), names in sorted(resources.items())
    ]
    made += [
        {"nonResourceURLs": sorted(names), "verbs": list(verbs)}
        for verbs, names in sorted(paths.items())
    ]
    return made


def cluster_role(grants: Iterable[Grant], name: str, output: str = "yaml") -> str:
    """The role as YAML or JSON text."""
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules(grants),
    }
    if output == "json":
        return json.dumps(role, indent=2) + "\n"
    import yaml

    text: str = yaml.safe_dump(role, sort_keys=False)
    return text
