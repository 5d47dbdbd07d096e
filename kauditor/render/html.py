"""The HTML report: one file that asks the network for nothing."""

import base64
import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any

from kauditor.model.dimension import Growth, Limit
from kauditor.model.finding import State
from kauditor.model.report import Report
from kauditor.model.result import Result
from kauditor.render import RenderOptions
from kauditor.render.parts import (
    AREA_NAMES,
    LEAST_COVERAGE,
    REASONS,
    Limits,
    amount,
    caveat,
    count,
    decided_checks,
    findings_of,
    limits_of,
    named,
    number,
    reach,
    room,
    rule_of,
    share,
    size,
    unknowns_of,
    waived_of,
)
from kauditor.render.templates import environment, prose

# What is written out; the rest is told in a line each, and stands whole in the JSON.
FINDINGS_BYTES, UNKNOWN_GROUPS, BOUND, UNSEEN = 120_000, 40, 60, 12
MONTHS = (
    "January February March April May June July August September October November December".split()
)
GROWTHS = {
    Growth.FIXED: "It follows how densely nodes are packed, not how many there are.",
    Growth.LINEAR: "The load grows in step with the nodes.",
    Growth.PODS: "The load grows in step with the pods.",
    Growth.QUADRATIC: "The load grows with the square of the nodes.",
    Growth.WALL: "The limit is itself a number of nodes.",
}
BASES = {
    "hard": "the software enforces it",
    "official": "official documentation",
    "tested": "published test results",
    "alert": "an alert's threshold",
    "field": "field experience",
    "ours": "our own judgement",
}
WORDS = {
    State.PASS: "passed",
    State.WARN: "warned",
    State.FAIL: "failed",
    State.UNKNOWN: "not seen",
    State.NOT_APPLICABLE: "not applicable",
    State.WAIVED: "waived",
}


def html(report: Report, options: RenderOptions) -> str:
    """The whole report as one page."""
    from markupsafe import Markup

    jinja = environment(options.template_dir, escape=True)
    style, script = _source(jinja, "style.css"), _source(jinja, "app.js")
    jinja.globals.update(
        n=lambda value: f"{value:,}",
        number=number,
        size=size,
        count=count,
        coded=_coded,
        prose=lambda text, label: Markup(prose(text, label)),  # noqa: S704 - made by markdown-it without raw HTML
    )
    page = jinja.get_template("report.html.j2").render(
        **_context(report),
        style=Markup(style),  # noqa: S704 - a template file, closed by its own hash
        script=Markup(script),  # noqa: S704
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    return page if page.endswith("\n") else page + "\n"


def _coded(text: str) -> Any:
    """One line of text, what stands between backticks as code. Nothing else in it is markup."""
    from markupsafe import Markup, escape

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


def _source(jinja: Any, name: str) -> str:
    text, _, _ = jinja.loader.get_source(jinja, name)
    # The hash is of exactly what stands between the tags, so nothing may end them early.
    return re.sub(r"</(?=style|script)", r"<\\/", str(text).strip(), flags=re.IGNORECASE)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _context(report: Report) -> dict[str, Any]:
    limits = limits_of(report)
    findings, folded = _findings(report, limits)
    unknown = unknowns_of(report)
    decided, asked = decided_checks(report)
    return {
        "report": report,
        "cluster": report.cluster,
        "target": report.target.nodes,
        "today": report.cluster.nodes,
        "verdict": _verdict(report, limits),
        "runway": _runway(report, limits, {one["check"]: one["anchor"] for one in findings}),
        "path": _path(report),
        "path_note": _path_note(report, limits),
        "areas": _areas(report),
        "decided": decided,
        "asked": asked,
        "findings": findings,
        "folded": folded,
        "finding_count": len(findings) + len(folded),
        "waived": waived_of(report),
        "unknowns": _unknowns(unknown),
        "unknown_checks": len({one.check for one in unknown}),
        "checks": _checks(report),
        "tally": _tally(report),
        "taken": _day(report.taken),
        "least": LEAST_COVERAGE,
    }


def _verdict(report: Report, limits: Limits) -> dict[str, Any]:
    first, target = limits.first, report.target.nodes
    before, figure, after = report.headline, "", ""
    if first is not None and first.nodes is not None:
        figure = f"{first.nodes:,}"
        start, found, rest = report.headline.rpartition(figure)
        before, figure, after = (start, figure, rest) if found else (report.headline, "", "")
    if first is None:
        kicker, tone = "Nothing to tell yet", "none"
    elif target is not None and (first.nodes or 0) > target:
        kicker, tone = f"Clear to {target:,} nodes", "ok"
    else:
        kicker, tone = "First limit you hit", "bad"
    grades = {"A": "ok", "B": "ok", "C": "short", "D": "bad", "F": "bad"}
    return {
        "kicker": kicker,
        "tone": tone,
        "before": before,
        "figure": figure,
        "after": after,
        "lede": room(report, limits),
        "caveat": caveat(limits),
        "grade_tone": grades.get(report.score.grade or "", "none"),
        "confidence": first.confidence if first is not None else None,
    }


def _tone(limit: Limit, report: Report, limits: Limits) -> str:
    today, target, nodes = report.cluster.nodes or 0, report.target.nodes, limit.nodes or 0
    if limits.is_waived(limit):
        return "waived"
    if nodes <= today:
        return "bad"
    if target is None:
        return "short" if nodes <= 2 * today else "ok"
    if nodes > target:
        return "ok"
    return "bad" if nodes <= 2 * today else "short"


def _axis(report: Report, limits: Limits) -> tuple[int, list[int]]:
    """The end of the axis and its ticks: four even steps of a round number."""
    today, target = report.cluster.nodes or 0, report.target.nodes or 0
    known = [limit.nodes or 0 for limit in limits.bound]
    middle = known[len(known) // 2] if known else 0
    wanted = max(target * 1.5, today * 1.5, 0 if target else min(middle * 1.2, today * 10), 4)
    # The first limit is what the page is about: it stands on the axis unless it is far away.
    if known and known[0] <= 4 * max(target, today):
        wanted = max(wanted, known[0] * 1.15)
    power = 10 ** math.floor(math.log10(wanted / 4))
    step = next(
        math.ceil(power * factor)
        for factor in (1, 1.5, 2, 2.5, 4, 5, 10)
        if power * factor * 4 >= wanted
    )
    return step * 4, [step * place for place in range(5)]


def _runway(report: Report, limits: Limits, anchors: dict[str, str]) -> dict[str, Any]:
    end, ticks = _axis(report, limits)
    today, target = report.cluster.nodes, report.target.nodes

    def percent(nodes: float) -> float:
        return round(min(100.0, max(0.0, nodes * 100 / end)), 2)

    titles = named([*limits.bound, *limits.unseen])
    rows = []
    for limit, title in zip(limits.bound[:BOUND], titles, strict=False):
        nodes = limit.nodes or 0
        used = percent(min(today or 0, nodes))
        rows.append(
            {
                "title": title,
                "anchor": anchors.get(limit.check),
                "check": limit.check,
                "amount": amount(limit),
                "nodes": nodes,
                "kind": limit.kind,
                "confidence": limit.confidence,
                "range": reach(limit),
                "tone": _tone(limit, report, limits),
                "used": used,
                "left": round(percent(nodes) - used, 2),
                "at": percent(nodes) if nodes < end else None,
                "low": percent(limit.low or 0),
                "high": percent(limit.high or 0),
                "ranged": limit.low != limit.high and nodes < end,
            }
        )
    unseen = [
        {"title": title, "check": limit.check, "anchor": _slug(limit.check, "u-")}
        for limit, title in list(zip(limits.unseen, titles[len(limits.bound) :], strict=True))[
            :UNSEEN
        ]
    ]
    dense = [
        {
            "title": limit.title,
            "subject": limit.subject,
            "amount": amount(limit),
            "percent": round(share(limit) * 100),
            "bar": round(min(100.0, share(limit) * 100), 2),
            "check": limit.check,
            "anchor": anchors.get(limit.check),
            "confidence": limit.confidence,
            "tone": "bad" if share(limit) >= 0.9 else "short" if share(limit) >= 0.8 else "ok",
        }
        for limit in limits.dense[:BOUND]
    ]
    today_at = None if today is None else percent(today)
    target_at = None if target is None else percent(target)
    return {
        "ticks": [(tick, percent(tick)) for tick in ticks],
        "rows": rows,
        "more": len(limits.bound) - len(rows),
        "unseen": unseen,
        "more_unseen": len(limits.unseen) - len(unseen),
        "dense": dense,
        "tones": {row["tone"] for row in rows},
        "ranged": any(row["ranged"] for row in rows),
        "today_at": today_at,
        "target_at": target_at,
        **_marks(today_at, target_at),
    }


def _marks(today: float | None, target: float | None) -> dict[str, str]:
    """How the two labels above the axis are anchored, so that they never meet."""
    near = today is not None and target is not None and abs(target - today) < 30
    first, second = "middle", "middle"
    if near and today is not None and target is not None:
        first, second = ("end", "start") if today <= target else ("start", "end")
    if today is not None and today < 14:
        first = "start"
    return {"today_anchor": first, "target_anchor": second}


def _path(report: Report) -> list[dict[str, Any]]:
    goal = max([report.target.nodes or 0, *(step.before for step in report.path), 1])
    steps = []
    for step in report.path:
        before = min(100.0, step.before * 100 / goal)
        after = 100.0 if step.after is None else min(100.0, step.after * 100 / goal)
        asked = ", ".join(
            part for part in (step.effort, f"{step.risk} risk" if step.risk else "") if part
        )
        steps.append(
            {
                "step": step,
                "anchor": _slug(step.check),
                "asked": asked,
                "before": round(before, 1),
                "gain": round(max(0.0, after - before), 1),
            }
        )
    return steps


def _path_note(report: Report, limits: Limits) -> str:
    if limits.first is None:
        return "There is no path yet: no limit could be decided. Let more be seen first."
    unseen = " What was not seen may still hold one." if limits.unseen else ""
    return f"Nothing has to be fixed: no limit that was seen lies below the target.{unseen}"


def _areas(report: Report) -> list[dict[str, Any]]:
    ordered = sorted(
        report.areas, key=lambda area: (area.score is None, area.score or 0, area.low, area.id)
    )
    rows = []
    for area in ordered:
        value = area.score
        tone = "none" if value is None else "bad" if value < 50 else "short" if value < 80 else "ok"
        found = [
            f"{many} {word}"
            for many, word in ((area.failed, "failed"), (area.warned, "warned"))
            if many
        ]
        rows.append(
            {
                "area": area,
                "name": AREA_NAMES[area.id],
                "tone": tone,
                "found": ", ".join(found) or ("none" if value is not None else "–"),
                "range": str(area.low) if area.low == area.high else f"{area.low} to {area.high}",
            }
        )
    return rows


def _findings(report: Report, limits: Limits) -> tuple[list[dict[str, Any]], list[Result]]:
    """Findings in full as far as the page may grow, and the rest."""
    by_key = {
        (limit.check, limit.dimension, limit.subject): limit
        for limit in (*limits.bound, *limits.dense)
    }
    told: list[dict[str, Any]] = []
    anchors: dict[str, int] = {}
    pages: dict[tuple[str, str, str, str], str] = {}
    spent = 0
    found = findings_of(report)
    for place, one in enumerate(found):
        page = (one.check, one.why, one.fix, one.verify)
        same = pages.get(page)
        spent += 900 + sum(len(f"{row.what}{row.value}{row.source}") + 90 for row in one.evidence)
        spent += len(one.summary) + (0 if same else 900 + sum(map(len, page)))
        if spent > FINDINGS_BYTES and place >= 5:
            return told, list(found[place:])
        slug = _slug(one.check)
        anchors[slug] = anchors.get(slug, 0) + 1
        anchor = slug if anchors[slug] == 1 else f"{slug}-{anchors[slug]}"
        limit = by_key.get((one.check, one.dimension, one.subject))
        told.append(
            {
                "result": one,
                "check": one.check,
                "anchor": anchor,
                "same": same,
                "where": one.subject if one.subject and one.subject not in one.summary else "",
                "limit": limit,
                "how": _how(limit),
                "sources": [(url, _short(url)) for url in one.references],
                "area": AREA_NAMES[one.area],
            }
        )
        pages.setdefault(page, anchor)
    return told, []


def _how(limit: Limit | None) -> str:
    if limit is None:
        return ""
    if limit.nodes is None:
        words = [f"{amount(limit)}, so {share(limit) * 100:,.0f} % is taken."]
    else:
        likely = f", likely {reach(limit)}" if reach(limit) else ""
        words = [f"It holds {limit.nodes:,} nodes{likely}: {amount(limit)} today."]
    words.append(GROWTHS[limit.grows])
    if limit.points is not None:
        words.append(f"Its own points are {limit.points} of 100; 75 is the target.")
    words.append(
        f"The threshold comes from {BASES[limit.basis]}."
        if limit.basis != "hard"
        else "The software enforces the threshold."
    )
    return " ".join(words)


def _short(url: str) -> str:
    """An address as a reader wants it: without scheme, "www." and the slash at its end."""
    return re.sub(r"^https://(www\.)?", "", url).rstrip("/")


def _slug(check: str, prefix: str = "") -> str:
    return prefix + (re.sub(r"[^A-Za-z0-9_-]", "", check) or "check")


def _unknowns(unknown: Iterable[Result]) -> dict[str, Any]:
    """Unknowns by what would answer them: one grant often answers many checks."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for one in unknown:
        groups.setdefault((one.reason or "unknown", one.lift, one.grant), []).append(one)
    made: list[dict[str, Any]] = []
    anchored: set[str] = set()
    for (reason, lift, grant), rows in groups.items():
        distinct = list({(one.check, one.summary): one for one in rows}.values())
        entries = []
        for one in distinct:
            anchor = _slug(one.check, "u-")
            entries.append((one, "" if anchor in anchored else anchor))
            anchored.add(anchor)
        summaries = {one.summary for one in distinct}
        made.append(
            {
                "reason": reason,
                "because": REASONS.get(reason, ""),
                "lift": lift,
                "grant": grant,
                "rule": rule_of(grant),
                "entries": entries,
                "summary": summaries.pop() if len(summaries) == 1 else "",
                "capacity": sum(one.capacity for one in distinct),
            }
        )
    made.sort(key=lambda group: (-group["capacity"], -len(group["entries"])))
    return {
        "groups": made[:UNKNOWN_GROUPS],
        "more": sum(len(group["entries"]) for group in made[UNKNOWN_GROUPS:]),
    }


def _checks(report: Report) -> list[dict[str, Any]]:
    return [
        {"result": one, "word": WORDS[one.state], "icon": one.state.value.replace("-", "")}
        for one in sorted(report.results, key=lambda one: (one.check, one.subject))
    ]


def _tally(report: Report) -> str:
    states = [one.state for one in report.results]
    order = (State.FAIL, State.WARN, State.UNKNOWN, State.WAIVED, State.PASS, State.NOT_APPLICABLE)
    parts = [f"{states.count(state):,} {WORDS[state]}" for state in order if state in states]
    return ", ".join(parts)


def _day(taken: str) -> str:
    """2026-12-01T09:14:03Z → "1 December 2026, 09:14 UTC"; "" where it is no such time."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):\d\d(?:\.\d+)?Z", taken, re.ASCII)
    if found is None or not 1 <= int(found[2]) <= 12:
        return ""
    return f"{int(found[3])} {MONTHS[int(found[2]) - 1]} {found[1]}, {found[4]}:{found[5]} UTC"
