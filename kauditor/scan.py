"""The corridor: a scan from source to report, stage by stage, in the order of the design.

Left of the snapshot is reading; right of it everything is pure, so a snapshot can be judged again
at any time and gives the same report.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from kauditor import collect as collecting
from kauditor import gate as gating
from kauditor import projection, score
from kauditor.audit import FactTable, audit
from kauditor.facts.cluster_identity import ClusterIdentity
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import Pods
from kauditor.facts.provider import Provider
from kauditor.facts.scale import Scale
from kauditor.facts.server_version import ServerVersion
from kauditor.facts.stated import Stated
from kauditor.model.check import Check
from kauditor.model.fact import Fact, Tallied, Unknown, leaf_facts
from kauditor.model.report import Cluster, Report, Target, Tool
from kauditor.model.snapshot import Snapshot
from kauditor.model.source import Grant, Question, Source
from kauditor.report import assemble
from kauditor.settings import BadSettings, ClusterSettings, Settings

# Read whatever the checks are: who and how large the cluster is.
ALWAYS: tuple[type[Fact], ...] = (ServerVersion, ClusterIdentity, Nodes, Provider)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a scan. ``target_nodes`` null means the settings' or the next step."""

    checks: tuple[Check, ...]
    settings: Settings = Settings()
    policy: gating.Policy = gating.Policy()
    target_nodes: int | None = None
    version: str


def read(
    source: Source,
    checks: Iterable[Check],
    *,
    version: str,
    taken: str,
    namespace: str = "",
    progress: collecting.Progress | None = None,
) -> Snapshot:
    """Collect what the checks ask for."""
    wanted = {need.fact for check in checks for need in check.needs} | set(ALWAYS)
    return collecting.collect(
        wanted, source, tool=version, taken=taken, namespace=namespace, progress=progress
    )


def judge(snapshot: Snapshot, request: Request) -> Report:
    """Audit, projection, score, gate and report. Reads no clock and no environment.

    Raises:
        BadSettings: an option of a check is unknown or of the wrong kind.
    """
    settings = request.settings.of_cluster(snapshot.where.context or snapshot.where.name)
    facts = FactTable(snapshot, [Stated(**(settings.facts or Settings().facts).stated())])
    base, target = _sizes(facts, request, settings)
    if base.nodes is not None and base.target is not None:
        facts.known[Scale] = Scale(
            nodes=base.nodes, target=base.target, pods_per_node=base.pods_per_node
        )
    else:
        facts.known[Scale] = facts.get(Nodes)
    answers = audit(request.checks, facts, options_of(request.checks, request.settings))
    results, limits = projection.project(answers, base)
    path = projection.path_to(limits, results, request.checks, base)
    whole, areas = score.score(results, limits)
    gate = gating.decide(_policy(request.policy, settings), limits, whole, results)
    return assemble(
        tool=Tool(
            name="kauditor",
            version=request.version,
            scoring=score.MODEL,
            checks=len(request.checks),
        ),
        taken=snapshot.taken,
        cluster=_cluster(snapshot, facts, base),
        target=target,
        score=whole,
        areas=areas,
        limits=limits,
        path=path,
        results=results,
        checks=request.checks,
        cost=snapshot.cost,
        gate=gate,
        notes=snapshot.notes,
    )


def next_step(nodes: int) -> int:
    """The default target: twice today's size, and at least 100 nodes more."""
    return max(2 * nodes, nodes + 100)


def _sizes(
    facts: FactTable, request: Request, settings: ClusterSettings
) -> tuple[projection.Base, Target]:
    nodes, pods = facts.get(Nodes), facts.get(Pods)
    today = nodes.count if isinstance(nodes, Nodes) else None
    if request.target_nodes is not None:
        target = Target(nodes=request.target_nodes, source="--target-nodes")
    elif settings.target_nodes is not None:
        target = Target(nodes=settings.target_nodes, source="kauditor.toml")
    elif today is not None:
        target = Target(nodes=next_step(today), source="the next step of growth")
    else:
        target = Target(nodes=None, source="not known: the nodes were not seen")
    density = pods.active / today if isinstance(pods, Pods) and today else None
    base = projection.Base(
        nodes=today,
        target=target.nodes,
        pods_per_node=density,
        target_pods_per_node=density,
    )
    return base, target


def _cluster(snapshot: Snapshot, facts: FactTable, base: projection.Base) -> Cluster:
    version, identity = facts.get(ServerVersion), facts.get(ClusterIdentity)
    provider, pods = facts.get(Provider), facts.get(Pods)
    where = snapshot.where
    return Cluster(
        name=where.name or where.context,
        context=where.context,
        server=where.server,
        identity=where.identity,
        uid=identity.uid if isinstance(identity, ClusterIdentity) else "",
        version=version.git_version if isinstance(version, ServerVersion) else "",
        provider=provider.name if isinstance(provider, Provider) else "",
        nodes=base.nodes,
        pods=pods.total if isinstance(pods, Pods) else None,
    )


def _policy(asked: gating.Policy, settings: ClusterSettings) -> gating.Policy:
    """Flags outweigh the settings, condition by condition."""
    written = settings.gate
    if written is None:
        return asked
    return gating.Policy(
        **{
            name: getattr(asked, name)
            if getattr(asked, name) is not None
            else getattr(written, name)
            for name in gating.Policy.__struct_fields__
        }
    )


def options_of(checks: Iterable[Check], settings: Settings) -> dict[str, dict[str, Any]]:
    """Keyword arguments of each check, from ``[checks.ID]`` or ``[checks.name]``.

    Raises:
        BadSettings: the option does not exist or has the wrong kind.
    """
    found: dict[str, dict[str, Any]] = {}
    for check in checks:
        given = {**settings.checks.get(check.id, {}), **settings.checks.get(check.name, {})}
        known = {option.key: option for option in check.options}
        for key, value in given.items():
            option = known.get(key)
            if option is None:
                names = ", ".join(known) or "none"
                raise BadSettings(f"[checks.{check.id}] has no option {key!r}; it has: {names}.")
            try:
                made = msgspec.convert(value, option.kind)
            except msgspec.ValidationError as error:
                raise BadSettings(f"[checks.{check.id}] {key}: {error}.") from error
            found.setdefault(check.id, {})[option.name] = made
    return found


def questions_of_all(checks: Iterable[Check]) -> list[Question]:
    """Everything that a scan with these checks asks the cluster, each once, in a steady order."""
    leaves = {leaf for fact in ALWAYS for leaf in leaf_facts(fact)}
    leaves |= {leaf for check in checks for need in check.needs for leaf in leaf_facts(need.fact)}
    questions = [leaf.recipe.question for leaf in leaves if isinstance(leaf.recipe, Tallied)]
    return [one for _, one in sorted({f"{q.path} {q!r}": q for q in questions}.items())]


def grants_of(checks: Iterable[Check]) -> list[Grant]:
    """Every right that a scan with these checks uses, each once, in a steady order."""
    grants = {question.grant for question in questions_of_all(checks)}
    return sorted(
        grants, key=lambda grant: (grant.path, grant.group, grant.resource, grant.namespace)
    )


def unknown_facts(snapshot: Snapshot) -> list[Unknown]:
    """What could not be read, for a caller that wants to say so at once."""
    return [fact for fact in snapshot.facts.values() if isinstance(fact, Unknown)]
