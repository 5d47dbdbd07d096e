"""What all renderers share: which limits and results go where, and how numbers are worded."""

import re
from collections.abc import Iterable

import msgspec

from kauditor.model.dimension import Limit
from kauditor.model.finding import SEVERITY_ORDER, State, in_bytes
from kauditor.model.report import Report
from kauditor.model.result import Result

AREA_NAMES = {
    "scheduler": "Scheduler",
    "control-plane": "Control plane",
    "etcd": "etcd",
    "network": "Network",
    "storage": "Storage",
    "autoscaling": "Autoscaling",
    "nodes": "Nodes",
    "workloads": "Workloads",
    "observability": "Observability",
    "batch": "Batch",
}
REASONS = {
    "forbidden": "the right to read it is missing",
    "managed": "the provider keeps it",
    "not-served": "the cluster does not serve it",
    "unreachable": "it did not answer",
    "no-metrics": "no metrics say so",
    "not-in-api": "the API does not hold it",
    "stale": "what is there is out of date",
    "broken": "the answer could not be read",
}
LEAST_COVERAGE = 40


class Limits(msgspec.Struct, frozen=True):
    """The limits of a report by how they can be shown.

    ``bound`` have a node count, ascending; ``dense`` follow density instead, fullest first;
    ``unseen`` were not seen. ``waived`` holds (check, subject) of the accepted ones.
    """

    bound: tuple[Limit, ...]
    dense: tuple[Limit, ...]
    unseen: tuple[Limit, ...]
    waived: frozenset[tuple[str, str]]

    @property
    def first(self) -> Limit | None:
        """The lowest limit that nobody accepted."""
        return next((limit for limit in self.bound if not self.is_waived(limit)), None)

    def is_waived(self, limit: Limit) -> bool:
        """Whether somebody accepted the finding behind it."""
        return (limit.check, limit.subject) in self.waived

    def below(self, target: int | None) -> int:
        """How many limits that nobody accepted lie at or below the target."""
        if target is None:
            return 0
        return sum(
            (limit.nodes or 0) <= target for limit in self.bound if not self.is_waived(limit)
        )


def limits_of(report: Report) -> Limits:
    """All limits of the report, sorted into their kinds."""
    bound = sorted(
        (limit for limit in report.limits if limit.nodes is not None),
        key=lambda limit: limit.nodes or 0,
    )
    dense = sorted(
        (limit for limit in report.limits if limit.nodes is None and limit.used is not None),
        key=share,
        reverse=True,
    )
    return Limits(
        bound=tuple(bound),
        dense=tuple(dense),
        unseen=tuple(limit for limit in report.limits if limit.used is None),
        waived=frozenset(
            (result.check, result.subject)
            for result in report.results
            if result.state is State.WAIVED
        ),
    )


def share(limit: Limit) -> float:
    """Used part of the limit, 1.0 when full."""
    if limit.used is None or not limit.limit or limit.limit <= 0:
        return 1.0
    return limit.used / limit.limit


def findings_of(report: Report) -> tuple[Result, ...]:
    """Failures and warnings, worst first; what is equally bad stays in the report's order."""
    return tuple(
        sorted(
            (one for one in report.results if one.state in (State.FAIL, State.WARN)),
            key=lambda one: SEVERITY_ORDER.index(one.severity),
        )
    )


def unknowns_of(report: Report) -> tuple[Result, ...]:
    """What could not be answered, gravest question first."""
    return tuple(
        sorted(
            (one for one in report.results if one.state is State.UNKNOWN),
            key=lambda one: (not one.capacity, SEVERITY_ORDER.index(one.severity), one.check),
        )
    )


def waived_of(report: Report) -> tuple[Result, ...]:
    """What somebody accepted."""
    return tuple(one for one in report.results if one.state is State.WAIVED)


def decided_checks(report: Report) -> tuple[int, int]:
    """Checks with an answer for every subject, and all checks that apply."""
    asked = {one.check for one in report.results if one.state is not State.NOT_APPLICABLE}
    unknown = {one.check for one in report.results if one.state is State.UNKNOWN}
    return len(asked - unknown), len(asked)


def number(value: float) -> str:
    """5000 → "5,000"; 0.56 → "0.56"; nothing behind the point where nothing is there."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}".rstrip("0").rstrip(".")


def size(count: float) -> str:
    """Bytes in binary units."""
    return in_bytes(count)


def amount(limit: Limit) -> str:
    """How much is used of how much: "812 of 1,024 blocks"."""
    if limit.used is None or limit.limit is None:
        return "not seen"
    if limit.unit == "bytes":
        return f"{in_bytes(limit.used)} of {in_bytes(limit.limit)}"
    return f"{number(limit.used)} of {number(limit.limit)} {limit.unit}".rstrip()


def reach(limit: Limit) -> str:
    """The likely range in words, "" where it is one number."""
    if limit.low is None or limit.high is None or limit.low == limit.high:
        return ""
    return f"{limit.low:,} to {limit.high:,}"


def count(many: int, one: str, more: str = "") -> str:
    """1 → "1 limit"; 7 → "7 limits"."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def named(limits: Iterable[Limit]) -> list[str]:
    """The limits' titles, each with its subject where the title alone is not telling."""
    limits = tuple(limits)
    titles = [limit.title for limit in limits]
    return [
        f"{limit.title} {limit.subject}".rstrip() if titles.count(limit.title) > 1 else limit.title
        for limit in limits
    ]


def room(report: Report, limits: Limits) -> str:
    """How many more nodes fit, and how many limits lie below the target."""
    first, today, target = limits.first, report.cluster.nodes, report.target.nodes
    words = []
    if first is not None and first.nodes is not None and today is not None:
        more = first.nodes - today
        if more > 0:
            words.append(f"{count(more, 'more node')} {'fits' if more == 1 else 'fit'}.")
        elif more == 0:
            words.append("No more node fits.")
        else:
            words.append(f"The cluster is past it, with {count(today, 'node')}.")
    if first is not None and target is not None:
        below = limits.below(target)
        if below:
            words.append(
                f"{count(below, 'limit')} {'lies' if below == 1 else 'lie'} below the target."
                if today is None or target > today
                else f"{count(below, 'limit')} {'is' if below == 1 else 'are'} reached."
            )
        else:
            words.append("No limit that was seen lies below the target.")
    return " ".join(words)


def caveat(limits: Limits) -> str:
    """What the unseen dimensions mean for the verdict, "" where all were seen."""
    unseen = len(limits.unseen)
    if not unseen:
        return ""
    was = "dimension was" if unseen == 1 else "dimensions were"
    if limits.first is None:
        return f"{unseen:,} {was} not seen."
    return f"{unseen:,} {was} not seen, so a lower limit may exist."


_GRANT = re.compile(
    r"^(?P<verbs>[a-z,]+) on (?:(?P<path>/[^\s\x22]*)|(?P<resource>[a-z0-9/]+)(?:\.(?P<group>[a-z0-9.-]+))?"
    r" (?:cluster-wide|in namespace (?P<namespace>[a-z0-9-]+)))$"
)


def rule_of(grant: str) -> str:
    """The grant as an RBAC rule in YAML, ready to add to a role; "" where it is worded otherwise.

    "list on deployments.apps cluster-wide" becomes a rule with apiGroups, resources and verbs.
    """
    found = _GRANT.match(grant)
    if found is None:
        return ""
    verbs = ", ".join(f'"{verb}"' for verb in found["verbs"].split(","))
    if found["path"]:
        return f'- nonResourceURLs: ["{found["path"]}"]\n  verbs: [{verbs}]'
    head = f"# in a Role of namespace {found['namespace']}\n" if found["namespace"] else ""
    return (
        f'{head}- apiGroups: ["{found["group"] or ""}"]\n'
        f'  resources: ["{found["resource"]}"]\n  verbs: [{verbs}]'
    )


def score_words(report: Report) -> str:
    """Score and grade, or why there is none."""
    score = report.score
    if score.value is None:
        return "No score"
    return f"Score {score.value} of 100" + (f" ({score.grade})" if score.grade else "")


def coverage_words(report: Report) -> str:
    """Coverage in percent and in checks."""
    decided, asked = decided_checks(report)
    least = f", {LEAST_COVERAGE} % needed" if report.score.value is None else ""
    return f"coverage {report.score.coverage} %{least} ({decided:,} of {count(asked, 'check')})"


def gate_words(report: Report) -> str:
    """The gate in one line, "" where none is set."""
    gate = report.gate
    if gate.outcome == "none":
        return ""
    # What decided it; for a gate that held, everything that was asked.
    told = [one for one in gate.conditions if one.outcome == gate.outcome] or gate.conditions
    sentences = ", ".join(one.sentence for one in told)
    return "  ".join(
        part for part in (f"GATE {gate.outcome.upper()}", sentences, f"exit {gate.exit}") if part
    )
