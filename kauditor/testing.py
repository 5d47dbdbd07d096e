"""Harness for check packs, ours and yours: cases in TOML, generated unknown cases, the contract.

A case holds Kubernetes objects or metrics text, never a fact made by hand: it goes through the
same decoder, tally, audit and projection as a live cluster. ``docs/adding-a-check.md`` shows how.
"""

import copy
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kauditor.audit import Answer, FactTable, ask
from kauditor.collect import collect, family_of
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import Pods
from kauditor.facts.scale import Scale
from kauditor.facts.stated import Stated
from kauditor.model.check import Check, questions_of
from kauditor.model.fact import Fact, Unknown
from kauditor.model.finding import State
from kauditor.model.result import Result
from kauditor.model.source import (
    Cost,
    Count,
    Exposition,
    Listing,
    Page,
    Refusal,
    Sample,
    Where,
)
from kauditor.projection import Base, project
from kauditor.settings import FactSettings
from kauditor.sources.metrics_text import parse

__all__ = [
    "Case",
    "MadeUpCluster",
    "breaches",
    "load_cases",
    "mismatches",
    "questions_of",
    "run",
    "unknown_cases",
    "wrongly_decided",
]

PAGE_SIZE = 500
TAKEN = "2026-01-01T00:00:00Z"

# Groups that every API server serves: a list of them without objects is empty, not absent.
SERVED = frozenset(
    """
    v1 apps/v1 batch/v1 autoscaling/v2 policy/v1 storage.k8s.io/v1 networking.k8s.io/v1
    rbac.authorization.k8s.io/v1 discovery.k8s.io/v1 coordination.k8s.io/v1 scheduling.k8s.io/v1
    admissionregistration.k8s.io/v1 apiregistration.k8s.io/v1 apiextensions.k8s.io/v1
    flowcontrol.apiserver.k8s.io/v1 events.k8s.io/v1 node.k8s.io/v1
    """.split()
)

_IRREGULAR = {
    "Endpoints": "endpoints",
    "NetworkPolicy": "networkpolicies",
    "StorageClass": "storageclasses",
    "PriorityClass": "priorityclasses",
    "IngressClass": "ingressclasses",
    "Ingress": "ingresses",
    "RuntimeClass": "runtimeclasses",
    "IPAddress": "ipaddresses",
}


def plural(kind: str) -> str:
    """The resource name of a kind: "DaemonSet" → "daemonsets"."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    lower = kind.lower()
    if lower.endswith("y"):
        return lower[:-1] + "ies"
    return lower + ("es" if lower.endswith(("s", "x", "ch")) else "s")


class MadeUpCluster:
    """A source made of objects. What it was not given, it serves as empty; CRDs as absent.

    ``denied`` names resources or paths ("pods", "/metrics") that answer 403; ``served`` adds
    group-versions without objects; ``bodies`` gives documents by path.
    """

    def __init__(
        self,
        objects: Iterable[dict[str, Any]] = (),
        *,
        metrics: str | None = None,
        version: str = "v1.34.2",
        denied: Iterable[str] = (),
        served: Iterable[str] = (),
        bodies: dict[str, bytes] | None = None,
        counts: dict[str, int] | None = None,
    ) -> None:
        self.objects: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for made in objects:
            for one in _unlisted(made):
                key = (one.get("apiVersion", "v1"), plural(one.get("kind", "")))
                self.objects.setdefault(key, []).append(one)
        self.metrics = metrics
        self.denied = frozenset(denied)
        self.served = SERVED | set(served) | {group for group, _ in self.objects}
        self.counts = counts or {}
        self.bodies = {
            "/version": json.dumps({"gitVersion": version}).encode(),
            "/readyz": b"[+]ping ok\n[+]etcd ok\nreadyz check passed\n",
            "/api/v1/namespaces/kube-system": (
                b'{"metadata":{"name":"kube-system","uid":"00000000-0000-4000-8000-000000000000"}}'
            ),
            **(bodies or {}),
        }

    def _guard(self, *names: str) -> None:
        denied = self.denied & set(names)
        if denied:
            raise Refusal("forbidden", f"The server refused {min(denied)} (403).")

    def pages(self, listing: Listing) -> Iterator[bytes]:
        """Pages of 500, as a server gives them."""
        self._guard(listing.resource, listing.path)
        if listing.group_version not in self.served:
            raise Refusal("not-served", f"The server does not serve {listing.group_version}.")
        items = [
            one
            for one in self.objects.get((listing.group_version, listing.resource), [])
            if not listing.namespace
            or one.get("metadata", {}).get("namespace") == listing.namespace
        ]
        for start in range(0, max(len(items), 1), PAGE_SIZE):
            yield json.dumps({"metadata": {}, "items": items[start : start + PAGE_SIZE]}).encode()

    def count(self, count: Count) -> int:
        """How many objects there are."""
        self._guard(count.resource, count.path)
        if count.group_version not in self.served:
            raise Refusal("not-served", f"The server does not serve {count.group_version}.")
        held = len(self.objects.get((count.group_version, count.resource), []))
        return self.counts.get(count.resource, held)

    def body(self, page: Page) -> bytes:
        """The document by its path, its query left aside."""
        path = page.path.partition("?")[0]
        self._guard(path, page.grant.resource)
        if path not in self.bodies:
            raise Refusal("not-served", f"The server does not serve {path} (404).")
        return self.bodies[path]

    def samples(self, exposition: Exposition) -> Iterator[Sample]:
        """Samples of the metrics text."""
        self._guard(exposition.path)
        if self.metrics is None:
            raise Refusal("not-served", "The server does not serve /metrics (404).")
        families = frozenset(exposition.families)
        for sample in parse([self.metrics.encode()], families):
            if family_of(sample.name, families):
                yield sample

    def cost(self) -> Cost:
        """Nothing was asked of anybody."""
        return Cost()

    def where(self) -> Where:
        """Nowhere."""
        return Where(name="made-up", context="made-up")

    def notes(self) -> list[str]:
        """Nothing to say."""
        return []


def _unlisted(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "items" in made and str(made.get("kind", "")).endswith("List"):
        kind = str(made["kind"]).removesuffix("List")
        for item in made["items"] or []:
            yield {
                "apiVersion": made.get("apiVersion", "v1"),
                **({"kind": kind} if kind else {}),
                **item,
            }
    else:
        yield made


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case: a cluster, what is asked of it, and what must be found.

    ``expect`` lists what results must look like: keys are fields of `Result` (``state``,
    ``severity``, ``subject``, ``nodes``, ``reason``) and ``says``, a part of the summary. Every
    result that is not a pass must be expected.
    """

    name: str
    expect: tuple[dict[str, Any], ...]
    objects: tuple[dict[str, Any], ...] = ()
    metrics: str | None = None
    version: str = "v1.34.2"
    target: int | None = None
    denied: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    facts: dict[str, Any] = {}
    options: dict[str, Any] = {}
    bodies: dict[str, str] = {}
    counts: dict[str, int] = {}


def load_cases(file: Path) -> list[Case]:
    """The cases of one TOML file.

    At the top of the file and in each ``[[case]]``: ``objects`` (YAML text), ``files`` (YAML or
    JSON files beside it, each a list or documents), ``metrics`` (text) and ``metrics-file``. A
    case adds to what stands at the top. ``set`` changes one field of an object, ``drop`` removes
    an object, ``repeat`` makes an object many (``{n}`` in its name and values is the number).
    """
    document = tomllib.loads(file.read_text("utf-8"))
    cases = []
    for table in document.get("case", []):
        objects = _objects(document, file) + _objects(table, file)
        for change in table.get("drop", []):
            objects = [one for one in objects if not _is(one, change)]
        for change in [*document.get("set", []), *table.get("set", [])]:
            _set(objects, change, file)
        for repeat in [*document.get("repeat", []), *table.get("repeat", [])]:
            objects = list(_repeated(objects, repeat))
        cases.append(
            Case(
                name=table["name"],
                expect=tuple(table["expect"]),
                objects=tuple(objects),
                metrics=_metrics(table, file) or _metrics(document, file),
                version=table.get("version", document.get("version", "v1.34.2")),
                target=table.get("target", document.get("target")),
                denied=tuple(table.get("denied", ())),
                served=tuple(table.get("served", document.get("served", ()))),
                facts={**document.get("facts", {}), **table.get("facts", {})},
                options=table.get("options", {}),
                bodies={**document.get("bodies", {}), **table.get("bodies", {})},
                counts={**document.get("counts", {}), **table.get("counts", {})},
            )
        )
    return cases


def _objects(table: dict[str, Any], file: Path) -> list[dict[str, Any]]:
    import yaml

    texts = [table["objects"]] if "objects" in table else []
    texts += [(file.parent / name).read_text("utf-8") for name in table.get("files", ())]
    return [
        one
        for text in texts
        for document in yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if document
        for one in (document if isinstance(document, list) else _unlisted(document))
    ]


def _metrics(table: dict[str, Any], file: Path) -> str | None:
    text: str | None = table.get("metrics")
    if "metrics-file" in table:
        name: str = table["metrics-file"]
        text = (file.parent / name).read_text("utf-8")
    return text


def _is(one: dict[str, Any], which: dict[str, Any]) -> bool:
    meta = one.get("metadata", {})
    return one.get("kind") == which["kind"] and which.get("name") in (None, meta.get("name"))


def _set(objects: list[dict[str, Any]], change: dict[str, Any], file: Path) -> None:
    found = False
    for one in objects:
        if _is(one, change):
            found = True
            _place(one, change["path"], change.get("value"), "value" in change)
    if not found:
        raise ValueError(f"{file}: set: there is no {change['kind']} {change.get('name', '')}")


def _place(one: Any, path: str, value: Any, keep: bool) -> None:
    # A key with dots in it is written in quotes: metadata.labels."a.b/c".
    parts = [quoted or plain for quoted, plain in re.findall(r'"([^"]+)"|([^."]+)', path)]
    for part in parts[:-1]:
        one = one[int(part)] if isinstance(one, list) else one.setdefault(part, {})
    last: Any = int(parts[-1]) if isinstance(one, list) else parts[-1]
    if not keep:
        del one[last]
    elif isinstance(one, list) and last == len(one):
        one.append(value)
    else:
        one[last] = value


def _repeated(objects: list[dict[str, Any]], repeat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for one in objects:
        if not _is(one, repeat):
            yield one
            continue
        text = json.dumps(one)
        for number in range(repeat["count"]):
            made = json.loads(text.replace("{n}", str(number)))
            if "{n}" not in text:
                made["metadata"]["name"] = f"{one['metadata']['name']}-{number}"
            yield made


def run(check: Check, case: Case) -> list[Result]:
    """The results of one check on one case, by the way that a scan takes."""
    source = MadeUpCluster(
        copy.deepcopy(case.objects),
        metrics=case.metrics,
        version=case.version,
        denied=case.denied,
        served=case.served,
        bodies={path: body.encode() for path, body in case.bodies.items()},
        counts=case.counts,
    )
    wanted: set[type[Fact]] = {need.fact for need in check.needs} | {Nodes, Pods}
    snapshot = collect(wanted, source, tool="test", taken=TAKEN)
    stated = msgspec.convert(case.facts, FactSettings).stated()
    facts = FactTable(snapshot, [Stated(**stated)])
    nodes, pods = facts.get(Nodes), facts.get(Pods)
    base = Base(nodes=None, target=case.target)
    if isinstance(nodes, Unknown):
        facts.known[Scale] = nodes
    else:
        target = case.target or max(2 * nodes.count, nodes.count + 100)
        density = pods.active / nodes.count if isinstance(pods, Pods) else None
        base = Base(
            nodes=nodes.count,
            target=target,
            pods_per_node=density,
            target_pods_per_node=density,
        )
        facts.known[Scale] = Scale(nodes=nodes.count, target=target, pods_per_node=density)
    options = {key.replace("-", "_"): value for key, value in case.options.items()}
    answers = [Answer(check, finding) for finding in ask(check, facts, options)]
    results, _ = project(answers, base)
    return list(results)


def mismatches(case: Case, results: Iterable[Result]) -> list[str]:
    """What a case expected and did not get, in sentences; empty where it holds."""
    left = list(results)
    problems = []
    for wanted in case.expect:
        found = next((one for one in left if _matches(one, wanted)), None)
        if found is None:
            got = "; ".join(_described(one) for one in left) or "nothing more"
            problems.append(f"expected {wanted}, got {got}")
        else:
            left.remove(found)
    problems += [
        f"did not expect {_described(one)}"
        for one in left
        if one.state not in (State.PASS, State.NOT_APPLICABLE)
    ]
    return problems


def _matches(result: Result, wanted: dict[str, Any]) -> bool:
    for key, value in wanted.items():
        if key == "says":
            text = (
                result.summary
                + " "
                + " ".join(f"{row.what} {row.value} {row.source}" for row in result.evidence)
            )
            parts = [value] if isinstance(value, str) else value
            if not all(part in text for part in parts):
                return False
        elif str(getattr(result, key) if getattr(result, key) is not None else "") != str(value):
            return False
    return True


def _described(result: Result) -> str:
    nodes = "" if result.nodes is None else f" at {result.nodes} nodes"
    reason = f" ({result.reason})" if result.reason else ""
    subject = f" {result.subject}" if result.subject else ""
    return f"{result.state}{reason} {result.severity}{nodes}{subject}: {result.summary}"


def unknown_cases(check: Check, case: Case) -> Iterator[Case]:
    """One case for each source of the check, in which just that source is denied."""
    for question in questions_of(check):
        name = question.path.partition("?")[0]
        denied = question.resource if isinstance(question, (Listing, Count)) else name
        yield msgspec.structs.replace(
            case,
            name=f"{case.name}, with {denied} denied",
            denied=tuple(dict.fromkeys((*case.denied, denied))),
            expect=(),
        )


def wrongly_decided(check: Check, case: Case, denied: Case) -> list[str]:
    """What became better because a source was denied, in sentences; empty where all is well.

    A result may stay as it was, where another source decides it. It may turn unknown. It may
    not turn into a pass or into not-applicable, and the check may not fall silent.
    """
    before = {one.subject: one.state for one in run(check, case)}
    bad = (State.FAIL, State.WARN, State.UNKNOWN)
    problems = []
    after = run(check, denied)
    for result in after:
        if result.state in (State.PASS, State.NOT_APPLICABLE):
            was = before.get(result.subject)
            if was is None and any(state in bad for state in before.values()):
                problems.append(f"{denied.name}: {_described(result)}, which was not said before")
            elif was in bad:
                problems.append(
                    f"{denied.name}: {result.subject} went from {was} to {result.state}"
                )
    if any(state in bad for state in before.values()) and not any(
        one.state in bad for one in after
    ):
        problems.append(f"{denied.name}: nothing is wrong or unknown any more")
    return problems


def breaches(check: Check) -> list[str]:
    """What breaks the contract of a check, in sentences; empty where it holds."""
    problems = []
    stem = Path(check.file).stem
    if check.name.replace("-", "_") != stem:
        problems.append(f"{check.id}: the function {check.name!r} and its file {stem!r} differ")
    if not check.references:
        problems.append(f"{check.id}: it cites no source")
    problems += [
        f"{check.id}: {reference} is not https"
        for reference in check.references
        if not reference.startswith("https://")
    ]
    if "```" not in check.page.verify:
        problems.append(f"{check.id}: Verify shows no command")
    if not check.page.step[:1].isupper() or len(check.page.step) > 140:
        problems.append(f"{check.id}: Fix must begin with one short sentence that says what to do")
    if not check.page.title.endswith("."):
        problems.append(f"{check.id}: the first line of the page must be a sentence")
    problems += [
        f"{check.id}: dimension {dimension.name} needs a title and a clause for the headline"
        for dimension in check.dimensions
        if not dimension.title or not dimension.runs_out
    ]
    return problems
