"""Markdown for comments on pull requests. Whatever a cluster said arrives there as mere text."""

import re

from kauditor.model.report import Report
from kauditor.render import RenderOptions
from kauditor.render.parts import (
    amount,
    caveat,
    count,
    coverage_words,
    decided_checks,
    findings_of,
    limits_of,
    named,
    reach,
    room,
    score_words,
    share,
    unknowns_of,
)
from kauditor.render.templates import environment

# GitHub takes a summary of 1 MiB; a little under leaves room for whatever is put around it.
LONGEST = 900_000
_CUT = (
    "\n\nThe rest was cut off here; the JSON report holds it: `kauditor scan -o json=report.json`\n"
)
# What can mean something in Markdown, in a mention, a reference or an emoji code.
_SPECIAL = re.compile(r"[&<>|`*_\[\]~@\\#$^{}!]|:(?=\S)|(?<=www)\.", re.IGNORECASE)
# GitHub looks for mentions and references after entities are read; a gap of no width stops it.
_CALLS = re.compile(r"(?<!\w)[@#](?=\w)")
_GAP = "\u200b"


def escape(text: str) -> str:
    """The text as one line that Markdown shows as it is and nobody is called by.

    Signs with a meaning become numeric entities, so no tag, table cell, mention, link, log command
    (``::``) or picture can come of them; line breaks become spaces.
    """
    text = " ".join(text.split())
    text = _CALLS.sub(lambda found: found.group() + _GAP, text)
    text = _SPECIAL.sub(_entity, text).replace(_GAP, f"&#{ord(_GAP)};")
    # Only at the start of a line do these make a list or a heading's underline.
    return re.sub(r"^(?:[-+=]|\d+(?=[.)](?:\s|$)))", lambda found: _entities(found.group()), text)


def markdown(report: Report, options: RenderOptions) -> str:
    """The report as Markdown, at most `LONGEST` bytes long."""
    limits = limits_of(report)
    titles = named([*limits.bound, *limits.unseen])
    bound = list(zip(limits.bound, titles, strict=False))
    unseen = list(zip(limits.unseen, titles[len(bound) :], strict=True))
    unknown = unknowns_of(report)
    jinja = environment(options.template_dir, escape=False)
    text = jinja.get_template("report.md.j2").render(
        report=report,
        e=escape,
        n=lambda value: f"{value:,}",
        count=count,
        cluster=_cluster(report),
        lede=room(report, limits),
        caveat=caveat(limits),
        score=score_words(report),
        coverage=coverage_words(report),
        bound=bound,
        dense=limits.dense,
        unseen=unseen,
        first=limits.first,
        waived=limits.is_waived,
        amount=amount,
        reach=reach,
        percent=lambda limit: f"{100 * share(limit):,.0f}",
        findings=findings_of(report),
        unknowns=list({(one.check, one.lift): one for one in unknown}.values()),
        unknown_checks=len({one.check for one in unknown}),
        asked=decided_checks(report)[1],
    )
    return _short_enough(re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")


def _cluster(report: Report) -> str:
    cluster, target = report.cluster, report.target.nodes
    parts = [
        cluster.name or cluster.context,
        f"Kubernetes {cluster.version}" if cluster.version else "",
        count(cluster.nodes, "node") if cluster.nodes is not None else "nodes not counted",
        f"target {target:,}" if target is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _short_enough(text: str) -> str:
    data = text.encode("utf-8")
    if len(data) <= LONGEST:
        return text
    kept = data[: LONGEST - len(_CUT.encode())].decode("utf-8", "ignore")
    # Whole lines only: half a table row would break the table.
    return kept.rpartition("\n")[0] + _CUT


def _entity(found: re.Match[str]) -> str:
    return _entities(found.group())


def _entities(text: str) -> str:
    return "".join(f"&#{ord(letter)};" for letter in text)
