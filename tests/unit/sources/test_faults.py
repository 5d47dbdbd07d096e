"""What breaks between here and the API server, and what a scan makes of it."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kauditor.model.source import Deadline, Exposition, Grant, Listing, Page, Refusal, Sample
from kauditor.sources.live import transport
from kauditor.sources.live.pacing import Pace
from kauditor.sources.live.source import LiveSource
from tests.unit.sources.server import Asked, Paged, Says, Server, listed, page, status

PODS = Listing("v1", "pods", dict)
PATH = "/api/v1/pods"
READY = Page("/readyz?verbose", Grant(verbs=("get",), path="/readyz"), optional_codes=(500,))
HEALTH = Page("/healthz", Grant(verbs=("get",), path="/healthz"))
METRICS = Exposition(("apiserver_storage_objects", "etcd_db_total_size_in_bytes"))
Opened = Callable[..., LiveSource]


def refused(source: LiveSource, listing: Listing = PODS) -> Refusal:
    with pytest.raises(Refusal) as caught:
        list(source.pages(listing))
    return caught.value


def outcome(source: LiveSource, kind: str = "pods") -> str:
    return {one.kind: one.outcome for one in source.cost().kinds}[kind]


def test_a_403_is_forbidden_in_the_servers_words(server: Server, opened: Opened) -> None:
    said = 'pods is forbidden: User "auditor" cannot list resource "pods"'
    server.says(PATH, Says(status(403, said), 403))
    source = opened()
    refusal = refused(source)
    assert refusal.why == "forbidden"
    assert refusal.detail == f"The server refused list of pods (403): {said}."
    assert outcome(source) == "forbidden"
    assert len(server.requests(PATH)) == 1


def test_a_404_is_not_served(opened: Opened) -> None:
    source = opened()
    assert refused(source, Listing("example.com/v1", "things", dict)).why == "not-served"
    assert outcome(source, "things") == "absent"


def test_a_403_on_page_two_drops_the_list(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(page(["a"], token="t")), Says(status(403), 403))
    assert refused(opened()).why == "forbidden"


def test_a_401_midway_logs_in_again_once(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(page(["a"], token="t")), Says(status(401), 401), Says(page(["b"])))
    assert listed(list(opened().pages(PODS))) == ["a", "b"]


def test_a_401_that_stays_is_forbidden_and_says_so(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(401, "Unauthorized"), 401))
    source = opened()
    refusal = refused(source)
    assert refusal.why == "forbidden" and "401" in refusal.detail
    assert outcome(source) == "forbidden"
    assert len(server.requests(PATH)) == 2


def test_a_429_is_obeyed_and_then_all_is_well(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(429), 429, {"Retry-After": "1"}), Says(page(["a"])))
    source = opened()
    began = time.monotonic()
    assert listed(list(source.pages(PODS))) == ["a"]
    assert 1.0 <= time.monotonic() - began < 2.0
    cost = source.cost()
    assert cost.throttled == 1
    assert cost.waited_seconds >= 1.0
    assert outcome(source) == "complete"


def test_a_storm_of_429_is_given_up_after_five(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(429), 429, {"Retry-After": "0"}))
    source = opened()
    refusal = refused(source)
    assert refusal.why == "unreachable" and refusal.detail.startswith("throttled")
    assert "--gentle" in refusal.lift
    assert len(server.requests(PATH)) == 5
    assert source.cost().throttled == 5
    assert outcome(source) == "throttled"


def test_a_429_halves_the_lanes(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(429), 429, {"Retry-After": "0"}), Says(page(["a"])))
    source = opened(max_inflight=4)
    assert source._pace.lanes == 4
    list(source.pages(PODS))
    assert source._pace.lanes == 2


def test_a_wait_that_is_too_long_is_not_waited(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(429), 429, {"Retry-After": "3600"}))
    refusal = refused(opened())
    assert "3600 s" in refusal.detail and refusal.detail.startswith("throttled")


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7.0), ("", None), (None, None), ("soon", None), ("nan", None)]
)
def test_retry_after_is_read_in_seconds(text: str | None, seconds: float | None) -> None:
    assert transport._retry_after(text) == seconds


def test_retry_after_is_read_as_a_date() -> None:
    from email.utils import formatdate

    found = transport._retry_after(formatdate(time.time() + 10, usegmt=True))
    assert found is not None and 8 < found <= 10


def test_a_503_at_shutdown_is_waited_out(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(503), 503, {"Retry-After": "0"}), Says(page(["a"])))
    assert listed(list(opened().pages(PODS))) == ["a"]


@pytest.mark.parametrize("code", [500, 502, 503])
def test_a_server_error_is_tried_again(
    server: Server, opened: Opened, swift: None, code: int
) -> None:
    server.says(PATH, Says(status(code), code), Says(b"oops", code), Says(page(["a"])))
    assert listed(list(opened().pages(PODS))) == ["a"]


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_a_server_error_that_stays_is_unreachable(
    server: Server, opened: Opened, swift: None, code: int
) -> None:
    server.says("/healthz", Says(status(code, "etcd is down"), code))
    source = opened()
    with pytest.raises(Refusal, match=rf"\({code}\): etcd is down") as caught:
        source.body(HEALTH)
    assert caught.value.why == "unreachable"
    assert len(server.requests("/healthz")) == 4
    assert outcome(source, "/healthz") == "partial"


def test_a_code_that_the_page_calls_fine_comes_back_at_once(server: Server, opened: Opened) -> None:
    server.says("/readyz", Says(b"[-]etcd failed", 500))
    assert opened().body(READY) == b"[-]etcd failed"
    assert [one.target for one in server.requests("/readyz")] == ["/readyz?verbose"]


@pytest.mark.parametrize("code", [301, 302, 307])
def test_a_redirect_is_not_followed(server: Server, opened: Opened, code: int) -> None:
    server.says(PATH, Says(b"", code, {"Location": "/elsewhere"}))
    refusal = refused(opened())
    assert refusal.why == "unreachable" and "elsewhere" in refusal.detail
    assert not server.requests("/elsewhere")


@pytest.mark.parametrize("how", ["cut", "too-long", "chunked-cut", "reset"])
@pytest.mark.parametrize("times", [1, 9])
def test_a_body_that_breaks_off_is_read_again_and_never_taken_for_whole(
    server: Server, opened: Opened, swift: None, how: str, times: int
) -> None:
    whole = page([f"pod-{number}" for number in range(500)])
    server.says(PATH, *[Says(whole, how=how)] * times, Says(whole))
    source = opened()
    if times == 1:
        assert len(listed(list(source.pages(PODS)))) == 500
        assert outcome(source) == "complete"
    else:
        refusal = refused(source)
        assert refusal.why == "unreachable"
        assert len(server.requests(PATH)) == 4
        assert outcome(source) == "partial"


def test_a_gzip_body_that_cannot_be_read_is_unreachable(
    server: Server, opened: Opened, swift: None
) -> None:
    server.says(PATH, Says(b"no gzip at all", headers={"Content-Encoding": "gzip"}))
    assert "compressed" in refused(opened()).detail


def test_chunked_bodies_are_read_whole(server: Server, opened: Opened) -> None:
    names = [f"pod-{number}" for number in range(500)]
    server.says(PATH, Says(page(names), how="chunked"))
    assert listed(list(opened().pages(PODS))) == names


def test_a_body_that_trickles_is_given_up_in_time(server: Server, opened: Opened) -> None:
    server.says("/healthz", Says(b"x" * 2000, how="drip", seconds=20.0))
    began = time.monotonic()
    with pytest.raises(Refusal, match="in time") as caught:
        opened(request_timeout=0.5).body(HEALTH)
    assert time.monotonic() - began < 3.0
    assert "--request-timeout" in caught.value.lift


def test_an_answer_that_does_not_come_is_given_up_in_time(server: Server, opened: Opened) -> None:
    server.says("/healthz", Says(b"late", how="hang", seconds=5.0))
    began = time.monotonic()
    with pytest.raises(Refusal, match="in time"):
        opened(request_timeout=0.3).body(HEALTH)
    assert time.monotonic() - began < 2.0


def test_a_slow_page_is_asked_for_once_more_at_half_the_size(
    server: Server, opened: Opened
) -> None:
    server.says(PATH, Says(b"", how="hang", seconds=2.0), Says(page(["a"])))
    assert listed(list(opened(request_timeout=0.3).pages(PODS))) == ["a"]
    assert [one.query["limit"] for one in server.requests(PATH)] == ["500", "250"]


def test_a_server_that_died_is_soon_left_alone(
    server: Server, opened: Opened, monkeypatch: pytest.MonkeyPatch, swift: None
) -> None:
    source = opened()
    server.close()
    began = time.monotonic()
    for number in range(20):
        assert refused(source, Listing("v1", f"kind{number}", dict)).why == "unreachable"
    assert time.monotonic() - began < 3.0
    # Four tries for each of the first two, one for each of the others.
    assert source.cost().requests == 1 + 4 + 4 + 18


def test_a_body_beyond_the_ceiling_is_not_taken(
    server: Server, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", 1024 * 1024)
    server.says(PATH, Says(page(["x" * 1000] * 3000)))
    source = opened()
    assert "larger than 1 MiB" in refused(source).detail
    assert len(server.requests(PATH)) == 1
    server.says("/healthz", Says(b"ok"))
    assert source.body(HEALTH) == b"ok"


def test_the_deadline_ends_a_list_in_the_middle(server: Server, opened: Opened) -> None:
    def slow(asked: Asked) -> Says:
        time.sleep(0.1)
        return Paged(100_000)(asked)

    server.says(PATH, slow)
    source = opened(timeout=0.6)
    began = time.monotonic()
    with pytest.raises(Deadline):
        list(source.pages(PODS))
    assert time.monotonic() - began < 1.5
    assert outcome(source) == "partial"
    with pytest.raises(Deadline):
        source.body(HEALTH)
    assert source.where().identity == "reader"


def test_the_deadline_ends_a_hanging_request(server: Server, opened: Opened) -> None:
    server.says("/healthz", Says(b"", how="hang", seconds=5.0))
    source = opened(timeout=0.6)
    began = time.monotonic()
    with pytest.raises(Deadline):
        source.body(HEALTH)
    assert time.monotonic() - began < 1.5


def test_the_deadline_ends_a_wait_for_the_server(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(429), 429, {"Retry-After": "30"}))
    source = opened(timeout=0.5)
    began = time.monotonic()
    with pytest.raises(Deadline):
        list(source.pages(PODS))
    assert time.monotonic() - began < 1.5


def test_the_deadline_ends_a_wait_for_a_lane() -> None:
    pace = Pace(max_inflight=1, timeout=0.3)
    with pace.lane(), pytest.raises(Deadline), pace.lane():
        pass


def test_ctrl_c_ends_a_list_within_a_second(server: Server, opened: Opened) -> None:
    import _thread

    def hang(asked: Asked) -> Says:
        if "continue" in asked.query:
            time.sleep(3)
        return Paged(2000)(asked)

    server.says(PATH, hang)
    source = opened()
    threading.Timer(0.4, _thread.interrupt_main).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(source.pages(PODS))
    assert time.monotonic() - began < 1.4


def test_pages_are_paced_at_ten_a_second_in_a_lane(server: Server, opened: Opened) -> None:
    server.says(PATH, Paged(3000))
    source = opened(qps=5.0)
    began = time.monotonic()
    list(source.pages(PODS))
    assert 0.5 <= time.monotonic() - began < 1.5
    assert source.cost().waited_seconds > 0.2


def test_other_requests_have_a_burst_and_then_a_rate() -> None:
    pace = Pace(qps=50.0, burst=5)
    began = time.monotonic()
    for _ in range(5):
        pace.turn()
    assert time.monotonic() - began < 0.05
    for _ in range(10):
        pace.turn()
    assert 0.15 <= time.monotonic() - began < 0.6
    assert pace.waited_seconds > 0.1


def test_no_pacing_waits_for_nothing_and_gentle_halves_it() -> None:
    free = Pace(qps=0)
    for _ in range(100):
        free.turn()
        free.page_turn(1)
    assert free.waited_seconds == 0.0
    assert Pace(gentle=True, max_inflight=4).lanes == 1
    assert Pace(max_inflight=99).lanes == 4
    assert Pace(max_inflight=0).lanes == 1


METRICS_TEXT = b"""# TYPE apiserver_storage_objects gauge
apiserver_storage_objects{resource="pods"} 42
apiserver_storage_objects{resource="lost"} NaN
# TYPE other gauge
other 1
"""


def test_samples_are_asked_for_by_name_and_filtered_anyway(server: Server, opened: Opened) -> None:
    server.says("/metrics", Says(METRICS_TEXT))
    source = opened()
    assert list(source.samples(METRICS)) == [
        Sample("apiserver_storage_objects", {"resource": "pods"}, 42.0)
    ]
    (asked,) = server.requests("/metrics")
    assert asked.target.count("name%5B%5D=") == 2
    assert asked.header("Accept") == "text/plain;version=0.0.4"
    assert "1 values that are no finite number" in source.notes()[0]
    assert outcome(source, "/metrics") == "complete"


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (Says(status(403), 403), "forbidden"),
        (Says(status(404), 404), "not-served"),
        (Says(METRICS_TEXT[:-5]), "unreachable"),
        (Says(b"apiserver_storage_objects many\n"), "unreachable"),
    ],
)
def test_samples_that_cannot_be_had_whole_are_refused(
    server: Server, opened: Opened, says: Says, why: str
) -> None:
    server.says("/metrics", says)
    with pytest.raises(Refusal) as caught:
        list(opened().samples(METRICS))
    assert caught.value.why == why


def test_samples_cut_off_midway_are_read_again_and_not_twice(
    server: Server, opened: Opened, swift: None
) -> None:
    server.says("/metrics", Says(METRICS_TEXT, how="cut"), Says(METRICS_TEXT))
    assert len(list(opened().samples(METRICS))) == 1


def test_the_cost_is_counted_by_kind(server: Server, opened: Opened) -> None:
    level = {"X-Kubernetes-PF-PriorityLevel-UID": "0000-level"}
    body = page(["a"])
    server.says(PATH, Says(body, headers=level))
    source = opened()
    list(source.pages(PODS))
    cost = source.cost()
    kinds = {one.kind: one for one in cost.kinds}
    assert (kinds["pods"].requests, kinds["pods"].bytes) == (1, len(body))
    assert kinds["/version"].outcome == "complete"
    assert cost.requests == 2
    assert cost.bytes > len(body)
    assert cost.priority_level == "0000-level"
    assert cost.peak_memory_bytes > 10**7
    assert 0 < cost.seconds < 10


def test_nothing_but_get_and_the_three_reviews_can_be_sent(opened: Opened) -> None:
    source = opened()
    for path in ("/api/v1/pods", "/apis/authorization.k8s.io/v1/subjectaccessreviews"):
        with pytest.raises(AssertionError, match="read-only"):
            source._transport.review(path, b"{}")
    with pytest.raises(AssertionError, match="resourceVersion"):
        source._transport.get("/api/v1/pods?resourceVersion=0", kind="pods")


REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def test_rights_are_asked_for_verb_by_verb(server: Server, opened: Opened) -> None:
    import json

    def verdict(asked: Asked) -> Says:
        attributes = json.loads(asked.body)["spec"].get("resourceAttributes", {})
        return Says({"status": {"allowed": attributes.get("verb") != "watch"}}, 201)

    server.says(REVIEWS, verdict)
    source = opened()
    assert source.may(Grant(verbs=("list",), group="apps", resource="deployments")) is True
    assert source.may(Grant(verbs=("list", "watch"), resource="pods")) is False
    assert source.may(Grant(verbs=("get",), resource="nodes/proxy", namespace="x")) is True
    assert source.may(Grant(verbs=("get",), path="/metrics")) is True
    specs: list[Any] = [json.loads(one.body)["spec"] for one in server.requests(REVIEWS)]
    assert specs[0] == {
        "resourceAttributes": {"verb": "list", "group": "apps", "resource": "deployments"}
    }
    assert specs[3]["resourceAttributes"] == {
        "verb": "get",
        "resource": "nodes",
        "subresource": "proxy",
        "namespace": "x",
    }
    assert specs[4] == {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}


@pytest.mark.parametrize("says", [Says(status(403), 403), Says(b"garbage", 201)])
def test_a_right_that_cannot_be_asked_for_is_not_known(
    server: Server, opened: Opened, says: Says
) -> None:
    server.says(REVIEWS, says)
    assert opened().may(Grant(verbs=("list",), resource="pods")) is None


def test_the_server_says_who_we_are(opened: Opened) -> None:
    where = opened().where()
    assert (where.identity, where.context, where.name) == ("auditor", "here", "east")


def test_an_old_server_leaves_the_name_of_the_kubeconfig(server: Server, opened: Opened) -> None:
    server.says("/apis/authentication.k8s.io/v1/selfsubjectreviews", Says(status(404), 404))
    assert opened().identity() == "reader"


def test_version_is_asked_for_only_once(server: Server, opened: Opened) -> None:
    body = opened().body(Page("/version", Grant(verbs=("get",), path="/version")))
    assert b"v1.34.2" in body
    assert len(server.requests("/version")) == 1
