"""Two reports, finding by finding: what is new, worse, better, fixed, or no longer seen.

A finding is known again by its check, subject and dimension, never by a measured number, so it
does not flap. The words and the rules stand in ``docs/schema-policy.md``.
"""

from collections.abc import Iterable
from itertools import zip_longest

from kauditor.model.comparison import Change, Comparison, Moment, Move, Side, Word
from kauditor.model.finding import SEVERITY_ORDER, State
from kauditor.model.report import Report
from kauditor.model.result import Result

# A limit has to move by more than this before anyone is told (class ours: measured loads wobble).
NOISE_PERCENT = 5
COUNTS = (State.FAIL, State.WARN)

Fingerprint = tuple[str, str, str]


def fingerprint(result: Result) -> Fingerprint:
    """Check, subject and dimension: what makes a finding the same one in another report."""
    return result.check, result.subject, result.dimension


def compare(old: Report, new: Report) -> Comparison:
    """What became of every finding of either report, worst news first."""
    before, after = _rows(old.results), _rows(new.results)
    asked = {one.check for one in new.results}
    unseen = {one.check for one in new.results if one.state is State.UNKNOWN}
    changes: list[Change] = []
    for key in sorted({*before, *after}):
        for was, now in zip_longest(before.get(key, ()), after.get(key, ())):
            word = _word(was, now, gone_unseen=key[0] in unseen or key[0] not in asked)
            if word is not None:
                changes.append(_change(word, was, now))
    words = tuple(Word)
    changes.sort(key=lambda one: (words.index(one.word), _severity_rank(one), one.check))
    return Comparison(
        old=_moment(old),
        new=_moment(new),
        counts={word.value: sum(one.word is word for one in changes) for word in words},
        changes=tuple(changes),
        moves=tuple(_moves(old, new)),
        notes=tuple(_notes(old, new)),
    )


def _rows(results: Iterable[Result]) -> dict[Fingerprint, list[Result]]:
    """Results by fingerprint. A check may say several things about one subject: worst first."""
    found: dict[Fingerprint, list[Result]] = {}
    for result in results:
        found.setdefault(fingerprint(result), []).append(result)
    for rows in found.values():
        rows.sort(key=_badness)
    return found


def _badness(result: Result) -> tuple[int, int]:
    counts = COUNTS.index(result.state) if result.state in COUNTS else len(COUNTS)
    return counts, SEVERITY_ORDER.index(result.severity)


def _word(was: Result | None, now: Result | None, *, gone_unseen: bool) -> Word | None:
    """The word for a pair; null where neither report has a finding there."""
    counted = was is not None and was.state in COUNTS
    counts = now is not None and now.state in COUNTS
    if counts and not counted:
        return Word.NEW
    if was is None or not counted:
        return None
    if now is None:
        # A subject that went away is mended, but only if somebody looked.
        return Word.NO_LONGER_SEEN if gone_unseen else Word.FIXED
    if now.state is State.WAIVED:
        return Word.WAIVED
    if now.state is State.UNKNOWN:
        return Word.NO_LONGER_SEEN
    if not counts:
        return Word.FIXED
    if _badness(now) < _badness(was) or _severity(now) < _severity(was) or _fell(was, now):
        return Word.WORSE
    if _badness(now) > _badness(was) or _fell(now, was):
        return Word.BETTER
    return Word.UNCHANGED


def _severity(result: Result) -> int:
    return SEVERITY_ORDER.index(result.severity)


def _fell(was: Result | None, now: Result | None) -> bool:
    if was is None or now is None or was.nodes is None or now.nodes is None:
        return False
    return fell(was.nodes, now.nodes)


def fell(before: int, after: int) -> bool:
    """Whether a limit fell by more than 5 %. In whole numbers: 95 of 100 is still noise."""
    return 100 * after < (100 - NOISE_PERCENT) * before


def _change(word: Word, was: Result | None, now: Result | None) -> Change:
    shown = now if now is not None else was
    assert shown is not None
    return Change(
        word=word,
        check=shown.check,
        name=shown.name,
        area=shown.area,
        subject=shown.subject,
        dimension=shown.dimension,
        summary=shown.summary,
        old=_side(was),
        new=_side(now),
        fell=_fell(was, now),
    )


def _side(result: Result | None) -> Side | None:
    if result is None:
        return None
    return Side(state=result.state, severity=result.severity, nodes=result.nodes)


def _severity_rank(change: Change) -> int:
    side = change.new or change.old
    assert side is not None
    return SEVERITY_ORDER.index(side.severity)


def _moves(old: Report, new: Report) -> Iterable[Move]:
    before = {(one.check, one.subject, one.dimension): one.nodes for one in old.limits}
    for limit in new.limits:
        was = before.get((limit.check, limit.subject, limit.dimension))
        if was is None or limit.nodes is None:
            continue
        if fell(was, limit.nodes) or fell(limit.nodes, was):
            yield Move(
                check=limit.check,
                dimension=limit.dimension,
                title=limit.title,
                subject=limit.subject,
                old=was,
                new=limit.nodes,
            )


def _moment(report: Report) -> Moment:
    waived = {(one.check, one.subject) for one in report.results if one.state is State.WAIVED}
    reaches = [
        one.nodes
        for one in report.limits
        if one.nodes is not None and (one.check, one.subject) not in waived
    ]
    return Moment(
        taken=report.taken,
        cluster=report.cluster.name or report.cluster.context,
        headline=report.headline,
        score=report.score.value,
        grade=report.score.grade,
        coverage=report.score.coverage,
        first_limit=min(reaches, default=None),
        nodes=report.cluster.nodes,
        target=report.target.nodes,
    )


def _notes(old: Report, new: Report) -> Iterable[str]:
    if old.cluster.uid and new.cluster.uid and old.cluster.uid != new.cluster.uid:
        # No error: a test cluster is made anew for every run.
        yield (
            f"The reports are of two clusters: {old.cluster.name or 'one'} ({old.cluster.uid}) "
            f"and {new.cluster.name or 'another'} ({new.cluster.uid})."
        )
    if old.target.nodes != new.target.nodes:
        yield (
            f"The target was {_nodes(old.target.nodes)} and is {_nodes(new.target.nodes)}, "
            "so severities of limits can differ by that alone."
        )
    if old.tool.scoring != new.tool.scoring:
        yield (
            f"The scores are of two models ({old.tool.scoring} and {new.tool.scoring}) "
            "and can't be compared."
        )
    asked_then, asked_now = ({one.check for one in report.results} for report in (old, new))
    if asked_then - asked_now:
        yield f"Not asked any more: {_some(asked_then - asked_now)}."
    if asked_now - asked_then:
        yield f"Not asked before: {_some(asked_now - asked_then)}."


def _nodes(count: int | None) -> str:
    return "not known" if count is None else f"{count:,} nodes"


def _some(ids: set[str]) -> str:
    shown = sorted(ids)
    more = len(shown) - 5
    return ", ".join(shown[:5]) + (f" and {more:,} more" if more > 0 else "")
