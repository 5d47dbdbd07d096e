"""The faults that are tried, with what a report says of each. ``docs/faults.md`` is made of it."""

from collections.abc import Callable
from typing import Any

import msgspec

from tests.cluster.fault_proxy import Broken, Exchange, answered, changed

Make = Callable[[Exchange], Broken | None]


class Case(msgspec.Struct, frozen=True):
    """One fault: its name, what the proxy does, the outcome of the kind, and what is known then.

    ``outcome`` is that of a kind that stays broken. ``known`` says that the facts are whole all
    the same: the fault was got over, or does no harm.
    """

    name: str
    make: Make
    outcome: str
    known: bool = False


def _once(make: Make) -> Make:
    return lambda exchange: make(exchange) if exchange.tries == 0 else None


def _status(code: int, **headers: str) -> Make:
    return lambda exchange: answered(exchange, code, None, **headers)


def _body(body: bytes) -> Make:
    return lambda exchange: Broken(200, exchange.headers, body)


def _items(change: Callable[[dict[str, Any]], None]) -> Make:
    return lambda exchange: changed(exchange, change)


def _drop(document: dict[str, Any]) -> None:
    del document["items"]


def _null(document: dict[str, Any]) -> None:
    document["items"] = None
    document["metadata"].pop("continue", None)


def _bad_object(document: dict[str, Any]) -> None:
    document["items"][0]["metadata"]["labels"] = 7


def _no_object(document: dict[str, Any]) -> None:
    document["items"][0] = "not an object"


def _huge(document: dict[str, Any]) -> None:
    document["items"][0]["metadata"]["annotations"] = {"big": "x" * 2_000_000}


def _no_metadata(document: dict[str, Any]) -> None:
    document["metadata"] = {}


def _strange(document: dict[str, Any]) -> None:
    for item in document["items"]:
        item["fieldFromTheFuture"] = {"deep": [1, 2, {"x": None}]}


def _expired(exchange: Exchange) -> Broken | None:
    return answered(exchange, 410)


def _skewed(exchange: Exchange) -> Broken:
    headers = {**exchange.headers, "Date": "Thu, 01 Jan 1970 00:00:00 GMT"}
    return Broken(exchange.status, headers, exchange.body)


LOGIN = b"<!doctype html><html><body>Please log in</body></html>"

CASES: tuple[Case, ...] = (
    Case("body cut short", lambda e: Broken(200, e.headers, e.body, cut=len(e.body) // 2), "partial"),
    Case("body cut short once", _once(lambda e: Broken(200, e.headers, e.body, cut=9)), "complete", True),
    Case("Content-Length too long", lambda e: Broken(200, e.headers, e.body, length=len(e.body) + 9), "partial"),
    Case("Content-Length too short", lambda e: Broken(200, e.headers, e.body, length=len(e.body) - 9), "partial"),
    Case("body drips in slower than the request time", lambda e: Broken(200, e.headers, e.body[:9000] * 9, drip=0.2), "partial"),
    Case("no answer within the request time", lambda e: Broken(200, e.headers, e.body, wait=4), "partial"),
    Case("garbage instead of JSON", _body(b"\x00\x01 garbage"), "partial"),
    Case("JSON cut in its middle, length adjusted", lambda e: Broken(200, e.headers, e.body[: len(e.body) // 2]), "partial"),
    Case("empty body", _body(b""), "partial"),
    Case("empty JSON object", _body(b"{}"), "partial"),
    Case("JSON of another kind", _body(b'{"kind":"Status","status":"Success"}'), "partial"),
    Case("JSON list instead of an object", _body(b"[]"), "partial"),
    Case("login page with status 200", _body(LOGIN), "partial"),
    Case("one object with a field of the wrong type", _items(_bad_object), "partial"),
    Case("one item that is no object", _items(_no_object), "partial"),
    Case("list without items", _items(_drop), "partial"),
    Case("items null: an empty list", _items(_null), "complete", True),
    Case("list without metadata: the last page", _items(_no_metadata), "complete", True),
    Case("one object of 2 MB", _items(_huge), "complete", True),
    Case("fields from a newer server", _items(_strange), "complete", True),
    Case("401 while reading", _status(401), "forbidden"),
    Case("401 once, then the new token works", _once(_status(401)), "complete", True),
    Case("403", _status(403), "forbidden"),
    Case("404", _status(404), "absent"),
    Case("405", _status(405), "partial"),
    Case("410 without a token to go on with", _expired, "partial"),
    Case("413 at every size", _status(413), "partial"),
    Case("413 until the pages are small", lambda e: answered(e, 413) if int(e.query.get("limit", ["0"])[0]) > 200 else None, "complete", True),
    Case("429 without end", _status(429, Retry_After="1"), "throttled"),
    Case("429 once", _once(_status(429, Retry_After="1")), "complete", True),
    Case("429 with an unreadable Retry-After", _once(_status(429, Retry_After="soon")), "complete", True),
    Case("500", _status(500), "partial"),
    Case("500 once", _once(_status(500)), "complete", True),
    Case("502", _status(502), "partial"),
    Case("503 without end", _status(503, Retry_After="1"), "throttled"),
    Case("504 at every size", _status(504), "partial"),
    Case("504 once", _once(_status(504)), "complete", True),
    Case("connection reset before the answer", lambda e: Broken(200, {}, b"", reset=True), "partial"),
    Case("connection reset once", _once(lambda e: Broken(200, {}, b"", reset=True)), "complete", True),
    Case("connection reset within the body", lambda e: Broken(200, e.headers, e.body, cut=len(e.body) // 3, reset=True), "partial"),
    Case("redirect to a login page", lambda e: answered(e, 302, LOGIN, Location="/login"), "partial"),
    Case("clock of the server off by decades", _skewed, "complete", True),
)  # fmt: skip


def page() -> str:
    """``docs/faults.md``."""
    rows = "\n".join(
        f"| {case.name} | {case.outcome} | {'known' if case.known else 'unknown'} |"
        for case in CASES
    )
    return (
        "# What happens when things break\n\n"
        "Each of these is done to a real API server by a proxy in the tests, once to a kind that "
        "fits on\none page and once to the second page of one that does not. *Outcome* is what "
        "the scan record says\nof the kind; *facts* says whether the checks that need it are "
        "decided. A fact is whole or unknown:\nnothing is counted from half a list, and no check "
        "turns to a pass.\n\n"
        f"| fault | outcome of the kind | facts |\n| --- | --- | --- |\n{rows}\n\n"
        "Besides these: a server that dies while it is read, a certificate of an unknown "
        "authority, plain\nHTTP behind https, a continue token that is given out twice, an expired "
        "token that the server\nreplaces (outcome *inconsistent*, facts known and a note in the "
        "report), and the end of the time\nfor the whole scan (exit 3, what was read is "
        "reported).\n"
    )
