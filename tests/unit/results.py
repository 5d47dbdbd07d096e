"""Makes results and limits for tests of the pure stages."""

from typing import Any

from kauditor.model.check import Area
from kauditor.model.dimension import Confidence, Limit, LimitKind
from kauditor.model.fact import Why
from kauditor.model.finding import Severity, State
from kauditor.model.report import Cluster, Gate, Report, Score, Target, Tool
from kauditor.model.result import Result
from kauditor.model.source import Cost


def result(**changes: Any) -> Result:
    """A failed high result in the network area, with changes."""
    fields: dict[str, Any] = {
        "check": "TEST001",
        "name": "test",
        "area": Area.NETWORK,
        "severity": Severity.HIGH,
        "state": State.FAIL,
        "reason": None,
        "subject": "",
        "summary": "Something.",
        "evidence": (),
        "references": (),
        "fix": "",
        **changes,
    }
    if fields["state"] is State.UNKNOWN and fields["reason"] is None:
        fields["reason"] = Why.FORBIDDEN
    return Result(**fields)


def limit(nodes: int | None, **changes: Any) -> Limit:
    """A hard limit at ``nodes``, with changes."""
    fields: dict[str, Any] = {
        "check": "TEST001",
        "dimension": "things",
        "title": "Things",
        "subject": "",
        "nodes": nodes,
        "low": nodes,
        "high": nodes,
        "kind": LimitKind.HARD,
        "confidence": Confidence.HIGH,
        "used": 1.0,
        "limit": 2.0,
        "unit": "things",
        **changes,
    }
    return Limit(**fields)


def report(**changes: Any) -> Report:
    """A report of the results and limits given, with a score of 70 at 90 % coverage."""
    fields: dict[str, Any] = {
        "tool": Tool(name="kauditor", version="1", scoring="1", checks=1),
        "taken": "2026-06-01T10:00:00Z",
        "cluster": Cluster(
            name="prod", context="prod", server="https://prod.invalid", uid="u-1",
            version="v1.37.2", provider="", nodes=100, pods=1000,
        ),
        "target": Target(nodes=1000, source="--target-nodes"),
        "headline": "Things run out first, at 300 nodes.",
        "score": Score(value=70, low=60, high=80, grade="C", coverage=90),
        "areas": (),
        "limits": (),
        "path": (),
        "results": (),
        "cost": Cost(),
        "gate": Gate(outcome="none", exit=0),
        **changes,
    }  # fmt: skip
    return Report(**fields)
