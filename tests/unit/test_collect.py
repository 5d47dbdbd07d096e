"""Reading: each source once, whole or unknown, and nothing half."""

from collections.abc import Iterator
from typing import Any

import pytest

from kauditor.collect import collect
from kauditor.facts.daemon_sets import DaemonSets
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import Pods
from kauditor.facts.static_pods import StaticPods
from kauditor.model.fact import Fact, Unknown, Why, tallies
from kauditor.model.snapshot import BadSnapshot, Snapshot, decode, encode
from kauditor.model.source import Deadline, Listing, Refusal
from kauditor.objects.pod import Pod
from kauditor.testing import TAKEN, MadeUpCluster


def pod(name: str, namespace: str = "web", **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta}


MIRROR = pod(
    "etcd-a",
    "kube-system",
    labels={"component": "etcd"},
    annotations={"kubernetes.io/config.mirror": "1"},
)
MIRROR["spec"] = {"containers": [{"name": "etcd", "command": ["etcd", "--quota-backend-bytes=7"]}]}


class Recorder(MadeUpCluster):
    """Notes which lists were asked for; can break after a page."""

    def __init__(self, *args: Any, error: Exception | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked: list[str] = []
        self.error = error

    def pages(self, listing: Listing) -> Iterator[bytes]:
        self.asked.append(listing.path)
        yield from super().pages(listing)
        if self.error is not None:
            raise self.error


def read(source: MadeUpCluster, *facts: type[Fact], namespace: str = "") -> Snapshot:
    return collect(facts, source, tool="test", taken=TAKEN, namespace=namespace)


def test_a_narrow_list_is_served_from_the_wide_one() -> None:
    source = Recorder([pod("a"), MIRROR])
    snapshot = read(source, Pods, StaticPods)
    assert source.asked == ["/api/v1/pods"]
    static = snapshot.fact(StaticPods)
    assert not isinstance(static, Unknown)
    assert static.pods[0].flags == {"quota-backend-bytes": "7"}


def test_a_narrow_list_is_read_by_itself_where_the_wide_one_is_refused() -> None:
    class Refused(Recorder):
        def pages(self, listing: Listing) -> Iterator[bytes]:
            if not listing.namespace:
                self.asked.append(listing.path)
                raise Refusal("forbidden", "No.")
            yield from super().pages(listing)

    source = Refused([pod("a"), MIRROR])
    snapshot = read(source, Pods, StaticPods)
    assert source.asked == ["/api/v1/pods", "/api/v1/namespaces/kube-system/pods"]
    assert isinstance(snapshot.fact(Pods), Unknown)
    assert not isinstance(snapshot.fact(StaticPods), Unknown)


def test_a_kind_that_no_fact_asks_for_is_not_read() -> None:
    source = Recorder([pod("a")])
    read(source, Nodes)
    assert source.asked == ["/api/v1/nodes"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Refusal("forbidden", "The server said 403."), Why.FORBIDDEN),
        (Refusal("unreachable", "The connection broke."), Why.UNREACHABLE),
        (Refusal("not-served", "404."), Why.NOT_SERVED),
        (Deadline(), Why.UNREACHABLE),
    ],
)
def test_a_list_that_breaks_after_a_page_is_unknown_not_short(error: Exception, why: Why) -> None:
    fact = read(Recorder([pod("a")], error=error), Pods).fact(Pods)
    assert isinstance(fact, Unknown)
    assert fact.why is why


def test_a_forbidden_list_names_the_rule_to_add() -> None:
    fact = read(MadeUpCluster(denied=["daemonsets"]), DaemonSets).fact(DaemonSets)
    assert isinstance(fact, Unknown)
    assert str(fact.grant) == "list on daemonsets.apps cluster-wide"


def test_one_malformed_object_makes_the_kind_unknown_and_is_named() -> None:
    bad = pod("broken")
    bad["spec"] = {"nodeName": 7}
    fact = read(MadeUpCluster([pod("a"), bad]), Pods).fact(Pods)
    assert isinstance(fact, Unknown)
    assert "web/broken" in fact.detail


def test_no_nodes_is_unknown_not_zero() -> None:
    assert isinstance(read(MadeUpCluster(), Nodes).fact(Nodes), Unknown)


def test_a_tally_that_raises_breaks_its_own_fact_only() -> None:
    class Fragile(Fact, frozen=True, kw_only=True):
        count: int = 0

    @tallies(Fragile, Listing("v1", "pods", Pod))
    class FragileTally:
        def add(self, pod: Pod) -> None:
            raise ValueError("oh")

        def total(self) -> Fragile:
            return Fragile()

    snapshot = read(MadeUpCluster([pod("a"), pod("b")]), Fragile, Pods)
    broken, pods = snapshot.fact(Fragile), snapshot.fact(Pods)
    assert isinstance(broken, Unknown)
    assert broken.why is Why.BROKEN
    assert isinstance(pods, Pods)
    assert pods.total == 2


def test_narrowing_to_a_namespace_makes_cluster_facts_unknown() -> None:
    fact = read(MadeUpCluster([pod("a")]), Pods, namespace="web").fact(Pods)
    assert isinstance(fact, Unknown)
    assert "-n" in fact.lift


def test_a_snapshot_gives_back_what_was_saved() -> None:
    snapshot = read(MadeUpCluster([pod("a"), MIRROR], denied=["nodes"]), Pods, StaticPods, Nodes)
    again = decode(encode(snapshot))
    for fact in (Pods, StaticPods, Nodes):
        assert again.fact(fact) == snapshot.fact(fact)
    assert encode(again) == encode(snapshot)


def test_a_snapshot_without_a_fact_says_that_it_is_stale() -> None:
    fact = decode(encode(read(MadeUpCluster(), Pods))).fact(DaemonSets)
    assert isinstance(fact, Unknown)
    assert fact.why is Why.STALE


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (b"", "not JSON"),
        (b"{}", "no 'schema'"),
        (b"[1]", "no 'schema'"),
        (b'{"schema": "kauditor.report/v1"}', "schema"),
        (b'{"schema": "kauditor.snapshot/v9"}', "schema"),
        (b'{"schema": "kauditor.snapshot/v1"}', "damaged"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_a_broken_snapshot_is_refused_with_the_reason(document: bytes, says: str) -> None:
    with pytest.raises(BadSnapshot, match=says):
        decode(document)
