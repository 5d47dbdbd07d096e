"""What changed between two reports, as text, Markdown and JSON."""

from collections.abc import Iterator

import msgspec

from kauditor.model.comparison import Change, Comparison, Moment, Side, Word
from kauditor.render.markdown import escape
from kauditor.render.parts import count

FORMATS = ("text", "markdown", "json")
WORDS = {
    Word.NEW: "New",
    Word.WORSE: "Worse",
    Word.NO_LONGER_SEEN: "No longer seen",
    Word.WAIVED: "Waived",
    Word.BETTER: "Better",
    Word.FIXED: "Fixed",
    Word.UNCHANGED: "Unchanged",
}


def comparison(made: Comparison, format: str, *, show_all: bool = False) -> str:
    """The comparison in one of `FORMATS`. ``show_all`` lists what did not change, too."""
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"
    lines = _markdown(made, show_all) if format == "markdown" else _text(made, show_all)
    return "\n".join(lines).rstrip() + "\n"


def summary(made: Comparison) -> str:
    """How many findings have which word: "1 new, 2 worse, 9 unchanged"."""
    told = [
        f"{made.counts[word.value]:,} {WORDS[word].lower()}"
        for word in WORDS
        if made.counts.get(word.value)
    ]
    return ", ".join(told) or "no findings in either report"


def _text(made: Comparison, show_all: bool) -> Iterator[str]:
    yield f"{_cluster(made)}: {made.old.taken} to {made.new.taken}"
    yield ""
    yield f"  {made.new.headline}"
    if made.old.headline != made.new.headline:
        yield f"  Before: {made.old.headline}"
    yield ""
    for title, was, now in _numbers(made):
        yield f"  {title:<12} {_pair(was, now)}"
    yield ""
    yield f"  {summary(made)}"
    for word in WORDS:
        rows = [one for one in made.changes if one.word is word]
        if not rows or (word is Word.UNCHANGED and not show_all):
            continue
        yield ""
        yield f"{WORDS[word]}, {len(rows):,}"
        for one in rows:
            yield f"  {one.check:<9} {_about(one)}  {_difference(one)}".rstrip()
            yield f"            {one.summary}"
    if made.moves:
        yield ""
        yield "Limits that moved, in nodes"
        for move in made.moves:
            title = f"{move.title} {move.subject}".rstrip()
            yield f"  {move.check:<9} {title}  {move.old:,} -> {move.new:,}"
    if made.notes:
        yield ""
        yield from made.notes


def _markdown(made: Comparison, show_all: bool) -> Iterator[str]:
    e = escape
    yield f"## {e(made.new.headline)}"
    yield ""
    yield f"{e(_cluster(made))}, {e(made.old.taken)} to {e(made.new.taken)}: {summary(made)}."
    yield ""
    yield "| | before | now |"
    yield "| --- | ---: | ---: |"
    for title, was, now in _numbers(made):
        yield f"| {title} | {e(was)} | {e(now)} |"
    for word in WORDS:
        rows = [one for one in made.changes if one.word is word]
        if not rows or (word is Word.UNCHANGED and not show_all):
            continue
        yield ""
        yield f"### {WORDS[word]}"
        yield ""
        yield "| check | about | change | |"
        yield "| --- | --- | --- | --- |"
        for one in rows:
            yield (
                f"| {e(one.check)} | {e(_about(one))} | {e(_difference(one))} | {e(one.summary)} |"
            )
    if made.moves:
        yield ""
        yield "### Limits that moved"
        yield ""
        yield "| check | limit | before | now |"
        yield "| --- | --- | ---: | ---: |"
        for move in made.moves:
            title = f"{move.title} {move.subject}".rstrip()
            yield f"| {e(move.check)} | {e(title)} | {move.old:,} | {move.new:,} |"
    if made.notes:
        yield ""
        for note in made.notes:
            yield f"- {e(note)}"


def _cluster(made: Comparison) -> str:
    old, new = made.old.cluster or "cluster", made.new.cluster or "cluster"
    return new if old == new else f"{old} and {new}"


def _numbers(made: Comparison) -> Iterator[tuple[str, str, str]]:
    old, new = made.old, made.new
    yield "first limit", _of(old.first_limit), _of(new.first_limit)
    yield "score", _score(old), _score(new)
    yield "coverage", f"{old.coverage} %", f"{new.coverage} %"
    yield "nodes", _of(old.nodes), _of(new.nodes)


def _of(nodes: int | None) -> str:
    return "not known" if nodes is None else f"{nodes:,}"


def _score(moment: Moment) -> str:
    if moment.score is None:
        return "none"
    return f"{moment.score}" + (f" ({moment.grade})" if moment.grade else "")


def _pair(was: str, now: str) -> str:
    return now if was == now else f"{was} -> {now}"


def _about(change: Change) -> str:
    return change.subject or change.name


def _difference(change: Change) -> str:
    """What is different: "fail high -> critical, 900 -> 700 nodes"."""
    old, new = change.old, change.new
    words = _pair(_state(old), _state(new)) if old and new else _state(new or old)
    nodes = [side.nodes if side else None for side in (old, new)]
    if nodes[0] is not None and nodes[1] is not None and nodes[0] != nodes[1]:
        return f"{words}, {nodes[0]:,} -> {count(nodes[1], 'node')}"
    known = nodes[1] if nodes[1] is not None else nodes[0]
    return words if known is None else f"{words}, {count(known, 'node')}"


def _state(side: Side | None) -> str:
    if side is None:
        return ""
    return f"{side.severity} {side.state}" if side.state in ("fail", "warn") else side.state.value
