"""The terminal report. Lines are laid out by hand, so that ids and numbers are never cut.

Rich only colours finished lines: its tables shrink columns without a word.
"""

import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from kauditor.model.dimension import Limit
from kauditor.model.finding import State
from kauditor.model.report import Report
from kauditor.model.result import Result
from kauditor.render import RenderOptions
from kauditor.render.parts import (
    Limits,
    amount,
    caveat,
    count,
    coverage_words,
    findings_of,
    gate_words,
    limits_of,
    named,
    reach,
    room,
    score_words,
    share,
    unknowns_of,
    waived_of,
)

NARROWEST, WIDE, BAR_FROM = 60, 120, 72
# What stays folded without --all.
CLEARING, UNSEEN, DENSE, STEPS, FINDINGS, UNKNOWNS = 2, 6, 6, 3, 20, 5
PLAIN = str.maketrans(
    {
        "·": "-", "…": "...", "→": "->", "−": "-", "–": "-", "—": "-", "×": "x", "√": "sqrt ",
        "“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "÷": "/", "\u00a0": " ",
    }
)  # fmt: skip
TONES = {
    "bad": "bold red",
    "short": "yellow",
    "ok": "green",
    "dim": "dim",
    "head": "bold",
    "mark": "cyan",
    "": "",
}
SEVERITY_TONES = {"critical": "bad", "high": "bad", "medium": "short", "low": "mark", "info": "dim"}


class Part(msgspec.Struct, frozen=True):
    """A piece of a line and its tone."""

    text: str
    tone: str = ""


Line = tuple[Part, ...]


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """The characters of bars and arrows."""

    used: str = "█"
    room: str = "▒"
    beyond: str = "·"
    target: str = "│"
    unseen: str = "░"
    further: str = "▸"
    arrow: str = "→"
    dot: str = "·"
    cut: str = "…"


ASCII = Signs(
    used="#", room="=", beyond=".", target="|", unseen="?", further=">", arrow="->", dot="-",
    cut="~",
)  # fmt: skip


def text(report: Report, options: RenderOptions) -> str:
    """The report for people, as wide as the options say."""
    return _Sheet(report, options).print()


def wide(report: Report, options: RenderOptions) -> str:
    """The same with every column of the runway, however wide that is."""
    return _Sheet(report, options, every_column=True).print()


def score(report: Report, options: RenderOptions) -> str:
    """The score alone, or "none"."""
    return f"{'none' if report.score.value is None else report.score.value}\n"


def name(report: Report, options: RenderOptions) -> str:
    """The ids of failed checks, one a line, in the order of the report."""
    ids = dict.fromkeys(one.check for one in report.results if one.state is State.FAIL)
    return "".join(f"{id}\n" for id in ids)


def width_of(text: str) -> int:
    """Columns that the text takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


class _Sheet:
    """Builds the lines of one report."""

    def __init__(
        self, report: Report, options: RenderOptions, *, every_column: bool = False
    ) -> None:
        self.report = report
        self.options = options
        self.every_column = every_column
        self.width = max(NARROWEST, options.width)
        self.signs = ASCII if options.ascii else Signs()
        self.limits: Limits = limits_of(report)
        self.folded = not options.show_all

    def print(self) -> str:
        """All lines, coloured where that is asked for."""
        lines = list(self._lines())
        if not self.options.color:
            return "".join("".join(part.text for part in line).rstrip() + "\n" for line in lines)
        return _coloured(lines)

    def _lines(self) -> Iterator[Line]:
        yield from self._head()
        blocks: tuple[Iterable[Line], ...] = (
            self._runway(),
            self._dense(),
            self._steps(),
            self._findings(),
            self._unknowns(),
            self._waived(),
            self._notes(),
            self._more(),
            self._gate(),
        )
        for block in blocks:
            rows = list(block)
            if rows:
                yield ()
                yield from rows

    # Texts

    def say(self, text: str) -> str:
        """The text as this terminal can show it."""
        if not self.options.ascii:
            return text
        return text.translate(PLAIN).encode("ascii", "replace").decode("ascii")

    def cut(self, text: str, width: int) -> str:
        """The text, with its end cut off where it is wider."""
        text = self.say(text)
        if width_of(text) <= width:
            return text
        kept, taken = "", 0
        for letter in text:
            step = width_of(letter)
            if taken + step > width - 1:
                break
            kept, taken = kept + letter, taken + step
        return kept.rstrip() + self.signs.cut

    def pad(self, text: str, width: int, *, right: bool = False) -> str:
        """The text cut and filled to exactly that width."""
        text = self.cut(text, width)
        fill = " " * (width - width_of(text))
        return fill + text if right else text + fill

    def wrap(self, text: str, width: int, first: int | None = None) -> list[str]:
        """The text over as many lines as it takes; a word that is too long gets its own line.

        ``first`` is the width of the first line where that is another one.
        """
        lines = [""]
        for word in self.say(text).split():
            space = first if first is not None and len(lines) == 1 else width
            if lines[-1] and width_of(lines[-1]) + 1 + width_of(word) > space:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".lstrip()
        return lines

    def hung(self, lead: Line, text: str, *, tone: str = "", tail: str = "") -> Iterator[Line]:
        """A line that starts with `lead`; what does not fit goes on under the text."""
        indent = sum(width_of(part.text) for part in lead)
        whole = max(16, self.width - indent)
        space = max(16, whole - (width_of(tail) + 2 if tail else 0))
        for row, words in enumerate(self.wrap(text, whole, space)):
            if row:
                yield (Part(" " * indent), Part(words, tone))
            elif tail:
                yield (*lead, Part(self.pad(words, space), tone), Part("  " + tail))
            else:
                yield (*lead, Part(words, tone))

    # Blocks

    def _head(self) -> Iterator[Line]:
        report, cluster = self.report, self.report.cluster
        told = [
            cluster.name or cluster.context or "cluster",
            f"Kubernetes {cluster.version}" if cluster.version else "version not seen",
            count(cluster.nodes, "node") if cluster.nodes is not None else "nodes not counted",
        ]
        if report.target.nodes is not None:
            told.append(f"target {report.target.nodes:,}")
        for row in self._packed([self.say(one) for one in told], f" {self.signs.dot} ", 0):
            yield (Part(row, "dim"),)
        yield ()
        for words in self.wrap(report.headline, self.width - 2):
            yield (Part("  "), Part(words, "head"))
        for sentence in (room(report, self.limits), caveat(self.limits)):
            if sentence:
                yield from self.hung((Part("  "),), sentence)
        yield ()
        first = self.limits.first
        facts = [score_words(report), coverage_words(report)]
        if first is not None:
            facts.append(f"confidence {first.confidence}")
        for row in self._packed(facts, "    ", 2):
            yield (Part("  " + row),)
        rest = []
        if report.score.value is not None and report.score.low != report.score.high:
            rest.append(
                f"could be {report.score.low} to {report.score.high}, with what was not seen"
            )
        for row in self._packed(rest, "    ", 2):
            if row:
                yield (Part("  " + row, "dim"),)

    def _packed(self, parts: list[str], between: str, indent: int) -> list[str]:
        rows = [""]
        for part in parts:
            longer = f"{rows[-1]}{between}{part}" if rows[-1] else part
            if rows[-1] and width_of(longer) + indent > self.width:
                rows.append(part)
            else:
                rows[-1] = longer
        return rows

    def _runway(self) -> Iterator[Line]:
        bound, unseen = self.limits.bound, self.limits.unseen
        if not bound and not unseen:
            return
        target = self.report.target.nodes
        shown, hidden = bound, 0
        if self.folded:
            ahead = sum(target is not None and (limit.nodes or 0) <= target for limit in bound)
            shown = bound[: ahead + CLEARING if ahead else 2 * CLEARING]
            hidden = len(bound) - len(shown)
        missing = unseen[:UNSEEN] if self.folded else unseen
        rows = [*shown, *missing]
        yield from self._table(rows, named([*bound, *unseen]))
        if hidden:
            yield (
                Part(
                    f"   {hidden:,} more {'clears' if hidden == 1 else 'clear'} the target: --all",
                    "dim",
                ),
            )
        if len(unseen) > len(missing):
            yield (Part(f"   {len(unseen) - len(missing):,} more not seen: --all", "dim"),)

    def _table(self, rows: list[Limit], names: list[str]) -> Iterator[Line]:
        titles = dict(zip(map(id, [*self.limits.bound, *self.limits.unseen]), names, strict=True))
        for row in rows:
            if self.limits.is_waived(row):
                titles[id(row)] += " (waived)"
        many = self.every_column or self.width >= WIDE
        cells = {
            "at": [f"{row.nodes:,}" if row.nodes is not None else "not seen" for row in rows],
            "use": [amount(row) if row.used is not None else "" for row in rows],
            "range": [reach(row) for row in rows],
            "confidence": [str(row.confidence) for row in rows],
            "check": [self.say(row.check) for row in rows],
        }
        wide_of = {
            column: max([len(title), *(width_of(cell) for cell in cells[column])])
            for column, title in (
                ("at", "LIMIT AT"), ("use", "IN USE"), ("range", "RANGE"),
                ("confidence", "CONF"), ("check", "CHECK"),
            )
        }  # fmt: skip
        ranks = {id(row): str(place) for place, row in enumerate(self._standing(), 1)}
        rank = max([1, *(len(ranks.get(id(row), "?")) for row in rows)])
        fixed = rank + 2 + wide_of["at"] + 2 + 2 + wide_of["confidence"] + 2 + wide_of["check"]
        longest = max([len("DIMENSION"), *(width_of(self.say(titles[id(row)])) for row in rows)])
        use = 0
        if many:
            fixed += 2 + wide_of["range"]
            use = wide_of["use"]
        space = self.width - fixed - 2 - (use + 2 if use else 0)
        bar = 0
        if self.every_column:
            title, bar = longest, 34
        else:
            if many and space < longest + 24:
                # The amounts give way before the titles do.
                use = max(12, use - (longest + 24 - space))
                space = self.width - fixed - 4 - use
            if self.width >= BAR_FROM:
                title = min(longest, max(20, space - 2 - 34, space * 9 // 20))
                bar = min(34 if self.width < 160 else 48, space - 2 - title)
            else:
                title = min(longest, space + 2)
        scale = _Scale(self.report, bar)
        head = [
            self.pad("#", rank), self.pad("LIMIT AT", wide_of["at"], right=True),
            self.pad("DIMENSION", title),
        ]  # fmt: skip
        if bar:
            head.append(self.pad(self._axis_words(bar), bar))
        if use:
            head.append(self.pad("IN USE", use))
        if many:
            head.append(self.pad("RANGE", wide_of["range"]))
        head += [self.pad("CONF", wide_of["confidence"]), "CHECK"]
        yield (Part("  ".join(head), "dim"),)
        for place, row in enumerate(rows):
            tone = self._tone(row)
            mark = ranks.get(id(row), "?" if row.nodes is None else "-")
            line = [
                Part(self.pad(mark, rank) + "  ", "dim"),
                Part(self.pad(cells["at"][place], wide_of["at"], right=True), tone),
                Part("  " + self.pad(titles[id(row)], title)),
            ]
            if bar:
                line += [Part("  "), *scale.bar(row, tone, self.signs)]
            if use:
                line.append(Part("  " + self.pad(cells["use"][place], use)))
            if many:
                line.append(Part("  " + self.pad(cells["range"][place], wide_of["range"])))
            line.append(Part("  " + self.pad(cells["confidence"][place], wide_of["confidence"])))
            line.append(Part("  " + cells["check"][place], "mark"))
            yield tuple(line)

    def _standing(self) -> list[Limit]:
        return [limit for limit in self.limits.bound if not self.limits.is_waived(limit)]

    def _axis_words(self, width: int) -> str:
        today, target = self.report.cluster.nodes, self.report.target.nodes
        parts = []
        if today is not None:
            parts.append(f"TODAY {today:,}")
        if target is not None:
            parts.append(f"TARGET {target:,}")
        words = ", ".join(parts)
        return words if len(words) <= width else parts[-1] if len(parts[-1]) <= width else ""

    def _tone(self, limit: Limit) -> str:
        today, target = self.report.cluster.nodes or 0, self.report.target.nodes
        if limit.nodes is None or self.limits.is_waived(limit):
            return "dim"
        if limit.nodes <= today:
            return "bad"
        if target is None:
            return ""
        if limit.nodes <= target:
            return "bad" if limit.nodes <= 2 * today else "short"
        return "ok"

    def _dense(self) -> Iterator[Line]:
        if not self.limits.dense:
            return
        rows = self.limits.dense[:DENSE] if self.folded else self.limits.dense
        yield (Part("Not bound to nodes", "head"),)
        titles = [self.say(f"{row.title} {row.subject}".rstrip()) for row in rows]
        amounts = [self.say(amount(row)) for row in rows]
        percents = [f"{100 * share(row):,.0f} %" for row in rows]
        use = max(map(width_of, amounts))
        percent = max(map(width_of, percents))
        check = max(width_of(self.say(row.check)) for row in rows)
        fixed = 2 + 2 + 2 + percent + 2 + 6 + 2 + check
        longest = max(map(width_of, titles))
        # A narrow terminal gets the amount on a line of its own: a number is never cut.
        below = self.width - fixed - use < min(longest, 20)
        title = min(longest, self.width - fixed - (-2 if below else use))
        for row, name, used, full in zip(rows, titles, amounts, percents, strict=True):
            tone = "bad" if share(row) >= 0.9 else "short" if share(row) >= 0.8 else "ok"
            middle = "" if below else self.pad(used, use) + "  "
            yield (
                Part("  " + self.pad(name, title) + "  " + middle),
                Part(self.pad(full, percent, right=True), tone),
                Part("  " + self.pad(str(row.confidence), 6) + "  "),
                Part(self.say(row.check), "mark"),
            )
            if below:
                yield from self.hung((Part("    "),), used, tone="dim")
        if len(rows) < len(self.limits.dense):
            yield (Part(f"  {len(self.limits.dense) - len(rows):,} more: --all", "dim"),)

    def _steps(self) -> Iterator[Line]:
        steps = self.report.path
        if not steps:
            return
        yield (Part("Do next", "head"),)
        rows = steps[:STEPS] if self.folded else steps
        place_width = len(str(len(rows)))
        check = max(width_of(self.say(step.check)) for step in rows)
        before = max(len(f"{step.before:,}") for step in rows)
        after = max(len(_after(step.after)) for step in rows)
        effort = max(width_of(self.say(step.effort)) for step in rows)
        for place, step in enumerate(rows, 1):
            tail = f"{step.before:>{before},} {self.signs.arrow} {_after(step.after):<{after}}"
            if effort:
                tail += "  " + self.pad(step.effort, effort)
            lead = (
                Part(f"  {place:>{place_width}}  "),
                Part(self.pad(step.check, check), "mark"),
                Part("  "),
            )
            if self.width >= BAR_FROM:
                yield from self.hung(lead, step.title, tail=tail)
                continue
            yield from self.hung(lead, step.title)
            yield (Part(" " * sum(width_of(part.text) for part in lead)), Part(tail.strip()))
        if len(rows) < len(steps):
            yield (Part(f"  {count(len(steps) - len(rows), 'more step')}: --all", "dim"),)

    def _findings(self) -> Iterator[Line]:
        found = [one for one in findings_of(self.report) if one.nodes is None]
        if self.options.verbose:
            found = list(findings_of(self.report))
        if not found:
            return
        rows = found[:FINDINGS] if self.folded else found
        yield (Part("Findings" if self.options.verbose else "More findings", "head"),)
        word = max(len(one.severity) for one in rows)
        check = max(width_of(self.say(one.check)) for one in rows)
        for one in rows:
            lead = (
                Part("  "),
                Part(self.pad(one.severity.upper(), word), SEVERITY_TONES[one.severity]),
                Part("  "),
                Part(self.pad(one.check, check), "mark"),
                Part("  "),
            )
            told = one.summary
            if one.subject and one.subject not in told:
                told = f"{told} ({one.subject})"
            if not self.options.verbose:
                yield from self._shortened(list(self.hung(lead, told)))
                continue
            yield from self.hung(lead, told)
            for row in one.evidence:
                words = f"{row.what}: {row.value} ({row.seen}, {row.source})"
                yield from self.hung((Part(" " * (word + check + 6)),), words, tone="dim")
        if len(rows) < len(found):
            yield (Part(f"  {len(found) - len(rows):,} more: --all", "dim"),)

    def _shortened(self, rows: list[Line]) -> Iterator[Line]:
        """A sentence over two lines at most; what is cut off says so."""
        if len(rows) <= 2 or not self.folded:
            yield from rows
            return
        yield rows[0]
        *lead, told = rows[1]
        space = self.width - sum(width_of(part.text) for part in lead)
        yield (*lead, Part(self.cut(f"{told.text} {self.signs.cut * 3}", space), told.tone))

    def _unknowns(self) -> Iterator[Line]:
        unknown = unknowns_of(self.report)
        if not unknown:
            return
        checks = {one.check for one in unknown}
        asked = {one.check for one in self.report.results if one.state is not State.NOT_APPLICABLE}
        yield (Part(f"Not seen, {len(checks):,} of {count(len(asked), 'check')}", "head"),)
        distinct = list({(one.check, one.lift): one for one in unknown}.values())
        rows = distinct[:UNKNOWNS] if self.folded else distinct
        check = max(width_of(self.say(one.check)) for one in rows)
        title = min(26, max(width_of(self.say(one.name)) for one in rows))
        reason = max(len(one.reason or "unknown") for one in rows)
        last = ""
        for one in rows:
            told = one.lift or one.summary
            yield from self._unknown(
                one, check, title, reason, "as above" if told == last else told
            )
            last = told
        if len(rows) < len(distinct):
            yield (Part(f"  {len(distinct) - len(rows):,} more: --all", "dim"),)

    def _unknown(
        self, one: Result, check: int, title: int, reason: int, told: str
    ) -> Iterator[Line]:
        lead: Line = (
            Part("  "),
            Part(self.pad(one.check, check), "mark"),
            Part("  " + self.pad(one.name, title) + "  "),
            Part(self.pad(one.reason or "unknown", reason) + "  ", "dim"),
        )
        if sum(width_of(part.text) for part in lead) + 24 > self.width:
            yield lead
            lead = (Part(" " * (2 + check + 2)),)
        yield from self.hung(lead, told)
        if self.options.verbose and one.grant:
            yield from self.hung((Part(" " * (2 + check + 2)),), f"needs {one.grant}", tone="dim")

    def _waived(self) -> Iterator[Line]:
        waived = waived_of(self.report)
        if not waived:
            return
        yield (Part(f"Waived, {count(len(waived), 'finding')}", "head"),)
        check = max(width_of(self.say(one.check)) for one in waived)
        for one in waived:
            lead = (Part("  "), Part(self.pad(one.check, check), "mark"), Part("  "))
            until = f" Until {one.waived.until}, {one.waived.owner}." if one.waived else ""
            yield from self.hung(lead, one.summary.rstrip(".") + "." + until)

    def _notes(self) -> Iterator[Line]:
        if not self.report.notes:
            return
        yield (Part("Notes", "head"),)
        for note in self.report.notes:
            yield from self.hung((Part("  "),), note)

    def _more(self) -> Iterator[Line]:
        if not self.options.quiet:
            yield (Part("Full report  kauditor scan -o html=report.html", "dim"),)

    def _gate(self) -> Iterator[Line]:
        if self.report.gate.outcome == "none":
            return
        tones = {"passed": "ok", "failed": "bad"}
        # The last line tells what decided it; what did not is no secret either.
        for one in self.report.gate.conditions:
            if one.outcome != self.report.gate.outcome:
                lead = (Part(self.pad(one.outcome, 11), tones.get(one.outcome, "short")),)
                yield from self.hung(lead, one.sentence)
        tone = tones.get(self.report.gate.outcome, "short")
        line = self.say(gate_words(self.report))
        rows = [line] if width_of(line) <= self.width else self.wrap(line, self.width)
        for words in rows:
            yield (Part(words, tone),)


class _Scale:
    """Where node counts lie on a bar."""

    def __init__(self, report: Report, width: int) -> None:
        self.width = width
        self.today = report.cluster.nodes or 0
        self.target = report.target.nodes
        self.mark = width * 5 // 6 if self.target is not None else None
        end = self.target * width / max(1, self.mark or 1) if self.target is not None else 0.0
        if self.today > end or end <= 0:
            end = max(self.today, 1) * 1.25
            self.mark = None if self.target is None else int(self.target / end * width)
        self.end = end

    def cell(self, nodes: int) -> int:
        return min(self.width, round(nodes / self.end * self.width))

    def bar(self, limit: Limit, tone: str, signs: Signs) -> Iterator[Part]:
        """The bar of one limit, in pieces of one tone each."""
        if limit.nodes is None:
            cells = [signs.unseen] * self.width
        else:
            used = self.cell(min(self.today, limit.nodes))
            if self.today and limit.nodes:
                used = max(1, used)
            end = max(used, self.cell(limit.nodes))
            if limit.nodes > self.today:
                end = min(self.width, max(end, used + 1))
            cells = [signs.used] * used + [signs.room] * (end - used)
            cells += [signs.beyond] * (self.width - end)
            if limit.nodes > self.end:
                cells[-1] = signs.further
        if self.mark is not None and 0 <= self.mark < self.width:
            cells[self.mark] = signs.target
        tones = {signs.room: tone, signs.further: tone, signs.target: "mark"}
        start = 0
        for place in range(1, len(cells) + 1):
            if place == len(cells) or cells[place] != cells[start]:
                yield Part("".join(cells[start:place]), tones.get(cells[start], "dim"))
                start = place


def _after(nodes: int | None) -> str:
    return "clear" if nodes is None else f"{nodes:,}"


def _coloured(lines: Iterable[Line]) -> str:
    import io

    from rich.console import Console
    from rich.text import Text

    sheet = io.StringIO()
    console = Console(
        file=sheet,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        width=10_000,
        height=25,
        _environ={},
    )
    for line in lines:
        whole = Text(end="")
        for part in line:
            whole.append(part.text, TONES[part.tone])
        whole.rstrip()
        console.print(whole, soft_wrap=True, end="\n")
    return sheet.getvalue()
