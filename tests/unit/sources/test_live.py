"""A live source against a scripted server: what it asks, and the truth when things break."""

import json
import logging
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from kauditor.collect import collect
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import POD_LISTING, Pods
from kauditor.model.fact import Fact, Unknown, Why
from kauditor.model.snapshot import Snapshot
from kauditor.model.source import Count, Listing, Refusal
from kauditor.sources.live.connection import ConnectError, ConnectOptions, connect
from kauditor.sources.live.pager import head_of
from kauditor.sources.live.source import LiveSource
from kauditor.testing import TAKEN
from tests.unit.sources.door import Asked, Door, Reply, door, page, status

SECRET = "very-secret-token"


def kubeconfig(folder: Path, server: str, **user: Any) -> str:
    file = folder / "config"
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user or {"token": SECRET}}],
    }
    file.write_text(json.dumps(document))
    return str(file)


def opened(folder: Path, server: Door | str, **options: Any) -> LiveSource:
    url = server if isinstance(server, str) else server.url
    given = {"kubeconfig": kubeconfig(folder, url), "qps": 0, "user_agent": "kauditor/9", **options}
    return connect(ConnectOptions(**given))


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: real(min(seconds, 0.01)))


def read(source: LiveSource, *facts: type[Fact]) -> Snapshot:
    return collect(facts or (Pods,), source, tool="test", taken=TAKEN)


def outcome(source: LiveSource, kind: str = "pods") -> str:
    return next(one.outcome for one in source.cost().kinds if one.kind == kind)


def three_pages(asked: Asked) -> Reply:
    token = asked.query.get("continue", [""])[0]
    return {
        "": page(range(2), "a", 3),
        "a": page(range(2, 4), "b", 1),
        "b": page(range(4, 5)),
    }[token]


def test_pages_are_asked_for_with_limit_and_continue_and_never_a_version(tmp_path: Path) -> None:
    with door(three_pages) as server:
        pods = read(opened(tmp_path, server)).fact(Pods)
        assert isinstance(pods, Pods)
        assert pods.total == 5
        assert [one.query for one in server.lists()] == [
            {"limit": ["500"]},
            {"limit": ["500"], "continue": ["a"]},
            {"limit": ["500"], "continue": ["b"]},
        ]


def test_every_request_says_who_asks_and_only_reviews_are_posted(tmp_path: Path) -> None:
    with door(three_pages) as server:
        read(opened(tmp_path, server))
        assert {one.headers["User-Agent"] for one in server.asked} == {"kauditor/9"}
        posted = {one.path for one in server.asked if one.method != "GET"}
        assert posted == {"/apis/authentication.k8s.io/v1/selfsubjectreviews"}


def test_impersonation_of_the_kubeconfig_is_honoured(tmp_path: Path) -> None:
    user = {
        "token": "x",
        "as": "jane",
        "as-groups": ["ops"],
        "as-user-extra": {"scopes": ["a", "b"]},
    }
    with door(three_pages) as server:
        source = connect(ConnectOptions(kubeconfig=kubeconfig(tmp_path, server.url, **user), qps=0))
        read(source)
        headers = server.lists()[0].headers
        assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("jane", "ops")
        assert "Impersonate-Extra-scopes" in headers


def test_flags_outweigh_the_kubeconfig_at_every_request(tmp_path: Path) -> None:
    with door(three_pages) as server:
        config = kubeconfig(tmp_path, "http://127.0.0.1:1")
        source = connect(
            ConnectOptions(kubeconfig=config, server=server.url, token="flag", as_user="joe", qps=0)
        )
        read(source)
        for asked in server.asked:
            assert asked.headers["Authorization"] == "Bearer flag"
            assert asked.headers["Impersonate-User"] == "joe"


def after_first_page(reply: Reply) -> Any:
    def script(asked: Asked) -> Reply:
        return reply if asked.query.get("continue") else page(range(2), "a", 3)

    return script


FAULTS = [
    (Reply(status=302, body={}, headers={"Location": "/login"}), Why.UNREACHABLE, "partial"),
    (status(401), Why.FORBIDDEN, "forbidden"),
    (status(403), Why.FORBIDDEN, "forbidden"),
    (status(404), Why.NOT_SERVED, "absent"),
    (status(410), Why.UNREACHABLE, "partial"),
    (status(413), Why.UNREACHABLE, "partial"),
    (status(429, Retry_After="1"), Why.UNREACHABLE, "throttled"),
    (status(500), Why.UNREACHABLE, "partial"),
    (status(503), Why.UNREACHABLE, "partial"),
    (status(504), Why.UNREACHABLE, "partial"),
    (Reply(reset=True), Why.UNREACHABLE, "partial"),
    (Reply(body={"items": []}, cut=3), Why.UNREACHABLE, "partial"),
    (Reply(body=b"<html>hello</html>"), Why.UNREACHABLE, "partial"),
    (Reply(body={}), Why.UNREACHABLE, "partial"),
    (Reply(body=b'{"metadata": {}, "items": [{"metadata": 7}]}'), Why.UNREACHABLE, "partial"),
    (Reply(body=b""), Why.UNREACHABLE, "partial"),
]


@pytest.mark.parametrize("paged", [False, True], ids=["at once", "on the second page"])
@pytest.mark.parametrize(
    ("reply", "why", "word"), FAULTS, ids=lambda value: str(getattr(value, "status", value))
)
def test_a_fault_gives_unknown_with_the_right_reason_and_never_a_count(
    tmp_path: Path, reply: Reply, why: Why, word: str, paged: bool
) -> None:
    script = after_first_page(reply) if paged else lambda asked: reply
    with door(script) as server:
        source = opened(tmp_path, server)
        snapshot = read(source)
        fact = snapshot.fact(Pods)
        assert isinstance(fact, Unknown)
        assert fact.why is why
        assert next(one.outcome for one in snapshot.cost.kinds if one.kind == "pods") == word
        assert fact.detail.endswith(".")


def test_an_expired_list_goes_on_with_the_offered_token_and_says_so(tmp_path: Path) -> None:
    def script(asked: Asked) -> Reply:
        token = asked.query.get("continue", [""])[0]
        if token == "a":
            return status(410, token="fresh")
        return page(range(2, 5)) if token == "fresh" else page(range(2), "a", 3)

    with door(script) as server:
        source = opened(tmp_path, server)
        snapshot = read(source)
        pods = snapshot.fact(Pods)
        assert isinstance(pods, Pods)
        assert pods.total == 5
        assert outcome(source) == "inconsistent"
        assert any("expired" in note for note in snapshot.notes)


def test_a_page_that_is_too_much_is_asked_for_in_halves(tmp_path: Path) -> None:
    def script(asked: Asked) -> Reply:
        return status(504) if int(asked.query["limit"][0]) > 125 else page(range(3))

    with door(script) as server:
        pods = read(opened(tmp_path, server)).fact(Pods)
        assert isinstance(pods, Pods)
        limits = [one.query["limit"][0] for one in server.lists()]
        assert limits[-1] == "125"
        assert {"500", "250", "125"} == set(limits)


def test_a_token_that_comes_again_ends_the_list(tmp_path: Path) -> None:
    with door(lambda asked: page(range(2), "same", 9)) as server:
        fact = read(opened(tmp_path, server)).fact(Pods)
        assert isinstance(fact, Unknown)
        assert "twice" in fact.detail
        assert len(server.lists()) < 5


def test_a_busy_server_is_obeyed_and_then_read(tmp_path: Path) -> None:
    replies = iter([status(429, Retry_After="1"), status(503), page(range(3))])
    with door(lambda asked: next(replies)) as server:
        source = opened(tmp_path, server)
        assert isinstance(read(source).fact(Pods), Pods)
        cost = source.cost()
        assert cost.throttled == 1
        assert cost.waited_seconds > 0


def test_a_passing_fault_is_got_over(tmp_path: Path) -> None:
    replies = iter([Reply(reset=True), status(500), page(range(3))])
    with door(lambda asked: next(replies)) as server:
        assert isinstance(read(opened(tmp_path, server)).fact(Pods), Pods)


def test_a_body_that_drips_is_given_up_after_the_request_time(tmp_path: Path) -> None:
    reply = Reply(body={"items": ["x" * 200]}, drip=0.01)
    with door(lambda asked: reply) as server:
        began = time.monotonic()
        fact = read(opened(tmp_path, server, request_timeout=0.4)).fact(Pods)
        assert isinstance(fact, Unknown)
        assert time.monotonic() - began < 5


def test_the_deadline_of_the_scan_is_held_and_leaves_the_rest_unknown(tmp_path: Path) -> None:
    def script(asked: Asked) -> Reply:
        if asked.path.endswith("/nodes"):
            return Reply(body={"metadata": {}, "items": [{"metadata": {"name": "n"}}]})
        return Reply(body={}, wait=20)

    with door(script) as server:
        began = time.monotonic()
        snapshot = read(opened(tmp_path, server, timeout=1.0), Pods, Nodes)
        assert time.monotonic() - began < 4
        pods, nodes = snapshot.fact(Pods), snapshot.fact(Nodes)
        assert isinstance(pods, Unknown)
        assert "--timeout" in pods.lift
        assert isinstance(nodes, Nodes)


def test_no_more_than_two_requests_are_in_flight(tmp_path: Path) -> None:
    def script(asked: Asked) -> Reply:
        token = asked.query.get("continue", ["0"])[0]
        return page(range(1), str(int(token) + 1) if int(token) < 10 else "")

    def slow(asked: Asked) -> Reply:
        time.sleep(0.02)
        return script(asked)

    with door(slow) as server:
        read(opened(tmp_path, server), Pods, Nodes)
        assert server.most_inflight == 2
    with door(slow) as server:
        read(opened(tmp_path, server, gentle=True), Pods, Nodes)
        assert server.most_inflight == 1


def test_a_count_asks_for_one_object_and_trusts_the_rest(tmp_path: Path) -> None:
    with door(lambda asked: page(range(1), "more", 41)) as server:
        assert opened(tmp_path, server).count(Count("v1", "events")) == 42
        assert server.lists()[0].query == {"limit": ["1"]}


def test_a_count_without_a_remainder_is_refused_not_guessed(tmp_path: Path) -> None:
    with door(lambda asked: page(range(1), "more")) as server, pytest.raises(Refusal):
        opened(tmp_path, server).count(Count("v1", "events"))


def test_metadata_lists_ask_for_metadata_only(tmp_path: Path) -> None:
    with door(lambda asked: page(range(1))) as server:
        listing = Listing("v1", "secrets", dict, metadata_only=True)
        list(opened(tmp_path, server).pages(listing))
        assert "PartialObjectMetadataList" in server.lists()[0].headers["Accept"]


def test_nothing_is_ever_written(tmp_path: Path) -> None:
    with door(three_pages) as server:
        source = opened(tmp_path, server)
        with pytest.raises(AssertionError):
            source._transport.review("/api/v1/namespaces", b"{}")


def test_no_token_reaches_a_log_or_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with door(lambda asked: status(403)) as server:
        source = opened(tmp_path, server)
        fact = read(source).fact(Pods)
    assert caplog.records
    assert SECRET not in caplog.text + repr(fact) + repr(source.where()) + repr(source.cost())
    assert SECRET not in repr(ConnectOptions(token=SECRET))


def closed_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_a_server_that_is_not_there_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="refused") as caught:
        opened(tmp_path, closed_port())
    assert "\n" not in str(caught.value)


def test_a_name_that_is_not_known_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="not known"):
        opened(tmp_path, "http://nowhere.invalid")


def test_a_server_without_tls_is_named_as_that(tmp_path: Path) -> None:
    with door(three_pages) as server, pytest.raises(ConnectError, match="TLS"):
        opened(tmp_path, server.url.replace("http:", "https:"))


def test_credentials_that_are_not_accepted_stop_the_scan(tmp_path: Path) -> None:
    with door(lambda asked: status(401)) as server:
        inner = server.script
        server.script = lambda asked: status(401) if asked.path == "/version" else inner(asked)
        with pytest.raises(ConnectError, match="401"):
            opened(tmp_path, server)


@pytest.mark.parametrize(
    ("body", "token"),
    [
        (b'{"metadata":{"continue":"a\\"b"},"items":[]}', 'a"b'),
        (b'{"metadata":{"resourceVersion":"1"},"items":[{"continue":"no"}]}', ""),
        (b'{"items":[{"metadata":{"continue":"no"}}],"metadata":{"continue":"yes"}}', "yes"),
        (b'{"metadata":{},"items":[]}', ""),
    ],
)
def test_the_continue_token_is_that_of_the_list(body: bytes, token: str) -> None:
    assert head_of(body).continue_token == token


def test_a_list_of_everything_is_one_page(tmp_path: Path) -> None:
    with door(lambda asked: page(range(1700))) as server:
        pods = read(opened(tmp_path, server)).fact(Pods)
        assert isinstance(pods, Pods)
        assert pods.total == 1700
        assert POD_LISTING.path == "/api/v1/pods"
