"""Makes results and limits for tests of the pure stages."""

from typing import Any

from kauditor.model.check import Area
from kauditor.model.dimension import Confidence, Limit, LimitKind
from kauditor.model.fact import Why
from kauditor.model.finding import Severity, State
from kauditor.model.result import Result


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
