"""The corridor: a scan from source to report, stage by stage, in the order of the design.

Left of the snapshot is reading; right of it everything is pure, so a snapshot can be judged again
at any time and gives the same report.
"""

import datetime
import difflib
from collections.abc import Iterable
from typing import Any

import msgspec

from kauditor import collect as collecting
from kauditor import gate as gating
from kauditor import projection, score
from kauditor import waive as waiving
from kauditor.audit import FactTable, audit
from kauditor.compare import compare
from kauditor.facts.cluster_identity import ClusterIdentity
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import Pods
from kauditor.facts.provider import Provider
from kauditor.facts.scale import Scale
from kauditor.facts.server_version import ServerVersion
from kauditor.facts.stated import Stated
from kauditor.model.check import Check
from kauditor.model.comparison import Comparison
from kauditor.model.fact import Fact, Tallied, Unknown, leaf_facts
from kauditor.model.report import Cluster, Gate, Report, Target, Tool
from kauditor.model.result import Result
from kauditor.model.snapshot import Snapshot
from kauditor.model.source import Grant, Question, Source
from kauditor.model.waiver import Waiver
from kauditor.report import assemble, cleaned
from kauditor.settings import BadSettings, ClusterSettings, GateSettings, Settings, over

# Read whatever the checks are: who and how large the cluster is.
ALWAYS: tuple[type[Fact], ...] = (ServerVersion, ClusterIdentity, Nodes, Provider)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a scan, beyond what the settings say.

    ``target_nodes`` null means the settings' or the next step. ``target_source`` says who asked
    for it. ``waivers`` false leaves out those of the settings. ``baseline`` is a saved report.
    """

    checks: tuple[Check, ...]
    settings: Settings = Settings()
    policy: gating.Policy = gating.Policy()
    target_nodes: int | None = None
    target_source: str = "--target-nodes"
    waivers: bool = True
    baseline: Report | None = None
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
    """Audit, projection, waivers, score, report, comparison and gate.

    Reads no clock and no environment: the day that waivers are held to is the snapshot's.

    Raises:
        BadSettings: an option of a check is unknown or of the wrong kind.
    """
    where = snapshot.where
    settings = request.settings.of_cluster(where.context or where.name)
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
    results, waiver_notes = _waived(
        results,
        _waivers(request.settings, where.context, where.name) if request.waivers else [],
        snapshot.taken,
    )
    path = projection.path_to(limits, results, request.checks, base)
    whole, areas = score.score(results, limits)
    report = assemble(
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
        gate=Gate(outcome="none", exit=0),
        notes=(*snapshot.notes, *waiver_notes),
    )
    # Compared and decided last: both see what a reader sees, cleaned and complete.
    comparison = compare(request.baseline, report) if request.baseline else None
    gate = gating.decide(policy_over(request.policy, settings), report, comparison)
    return msgspec.structs.replace(report, gate=gate, comparison=comparison)


def judge_again(
    report: Report,
    settings: Settings,
    policy: gating.Policy,
    *,
    baseline: Report | None = None,
    waivers: bool = True,
) -> tuple[Gate, Comparison | None, tuple[str, ...]]:
    """Gate a saved report: its gate, the comparison with the baseline, and notes about waivers.

    The settings' waivers are added to those the report was made with; ``waivers`` false takes all
    off. The day they are held to is the report's.

    Raises:
        BadSettings: scores would have to be worked out again under another scoring model.
    """
    cluster = report.cluster
    mine = settings.of_cluster(cluster.context or cluster.name)
    if waivers:
        found = _waivers(settings, cluster.context, cluster.name)
        results, notes = _waived(report.results, found, report.taken)
    else:
        results, notes = waiving.unwaive(report.results), ()
    kept = report.comparison
    if results != report.results:
        # It was made with other waivers; only a baseline can tell now.
        kept = None
        if report.tool.scoring != score.MODEL:
            raise BadSettings(
                f"waivers change its score, and it was made with scoring model "
                f"{report.tool.scoring}, not {score.MODEL}: scan again."
            )
        whole, areas = score.score(results, report.limits)
        report = msgspec.structs.replace(report, results=results, score=whole, areas=areas)
    comparison = compare(baseline, report) if baseline else kept
    return gating.decide(policy_over(policy, mine), report, comparison), comparison, cleaned(notes)


def _waivers(settings: Settings, context: str, name: str) -> list[Waiver]:
    names = (context, name, settings.name_of(context or name))
    return waiving.for_cluster(settings.waiver, names)


def _waived(
    results: tuple[Result, ...], waivers: list[Waiver], taken: str
) -> tuple[tuple[Result, ...], tuple[str, ...]]:
    if not waivers:
        return results, ()
    return waiving.waive(results, waivers, day_of(taken))


def day_of(taken: str) -> datetime.date:
    """The day of a snapshot or a report.

    Raises:
        BadSettings: it bears no date that waivers could be held to.
    """
    try:
        return datetime.date.fromisoformat(taken[:10])
    except ValueError as error:
        raise BadSettings(
            f"waivers are held to the day the cluster was read, and {taken[:40]!r} is no date."
        ) from error


def next_step(nodes: int) -> int:
    """The default target: twice today's size, and at least 100 nodes more."""
    return max(2 * nodes, nodes + 100)


def _sizes(
    facts: FactTable, request: Request, settings: ClusterSettings
) -> tuple[projection.Base, Target]:
    nodes, pods = facts.get(Nodes), facts.get(Pods)
    today = nodes.count if isinstance(nodes, Nodes) else None
    if request.target_nodes is not None:
        target = Target(nodes=request.target_nodes, source=request.target_source)
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


def policy_over(asked: gating.Policy, settings: ClusterSettings) -> gating.Policy:
    """Flags outweigh the settings, condition by condition, and area by area."""
    return over(asked, policy_of(settings.gate or GateSettings()))


def policy_of(gate: GateSettings, *, exit_zero: bool = False) -> gating.Policy:
    """Gate settings as the gate wants them."""
    return gating.Policy(
        min_limit=gate.min_limit,
        min_score=gate.min_score,
        min_area_score=gate.min_area_score,
        fail_on=gate.fail_on,
        min_coverage=gate.min_coverage,
        fail_on_new=gate.fail_on_new,
        fail_on_worse=gate.fail_on_worse,
        exit_zero=exit_zero,
    )


def check_names(checks: Iterable[Check], settings: Settings) -> None:
    """Hold what the settings call checks to the checks there are.

    Raises:
        BadSettings: a table of options or a waiver names no check.
    """
    known = {word for check in checks for word in (check.id, check.name)}
    tables = [(f"[checks.{word}]", word) for word in settings.checks]
    tables += [(f"[[waiver]] {one.title}", one.of) for one in settings.waiver]
    for place, word in tables:
        if word not in known:
            near = difflib.get_close_matches(word, sorted(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "kauditor checks list shows all."
            raise BadSettings(f"{place}: there is no check {word!r}; {hint}")


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
