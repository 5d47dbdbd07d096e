import json
import threading
import time
from collections.abc import Callable

import pytest

from kauditor.model.source import Count, Listing, Refusal
from kauditor.sources.live.pager import METADATA_ONLY, head_of
from kauditor.sources.live.source import LiveSource
from tests.unit.sources.server import Asked, Paged, Says, Server, listed, page, status

PODS = Listing("v1", "pods", dict)
PATH = "/api/v1/pods"
Opened = Callable[..., LiveSource]


def outcome(source: LiveSource, kind: str = "pods") -> str:
    return {one.kind: one.outcome for one in source.cost().kinds}[kind]


def test_a_list_comes_in_pages_of_500_without_a_resource_version(
    server: Server, opened: Opened
) -> None:
    server.says(PATH, Paged(1200))
    source = opened()
    pages = list(source.pages(PODS))
    assert [len(listed([one])) for one in pages] == [500, 500, 200]
    assert listed(pages) == [f"pod-{number}" for number in range(1200)]
    asked = server.requests(PATH)
    assert [one.query for one in asked] == [
        {"limit": "500"},
        {"limit": "500", "continue": "500"},
        {"limit": "500", "continue": "1000"},
    ]
    assert not any("resourceVersion" in one.target for one in server.asked)
    assert outcome(source) == "complete"


def test_one_page_is_fetched_ahead_and_no_more(server: Server, opened: Opened) -> None:
    server.says(PATH, Paged(2500))
    pages = opened().pages(PODS)
    next(pages)
    time.sleep(0.3)
    assert len(server.requests(PATH)) == 2
    next(pages)
    time.sleep(0.3)
    assert len(server.requests(PATH)) == 3
    pages.close()  # type: ignore[attr-defined]


def test_a_list_that_is_left_early_counts_as_partial_and_asks_no_more(
    server: Server, opened: Opened
) -> None:
    server.says(PATH, Paged(5000))
    source = opened()
    pages = source.pages(PODS)
    next(pages)
    pages.close()  # type: ignore[attr-defined]
    time.sleep(0.2)
    assert len(server.requests(PATH)) <= 2
    assert outcome(source) == "partial"


def test_an_api_that_ignores_the_limit_gives_one_large_page(server: Server, opened: Opened) -> None:
    server.says(PATH, Paged(3000, size=10_000))
    assert len(listed(list(opened().pages(PODS)))) == 3000


def test_an_empty_list_is_one_empty_page(server: Server, opened: Opened) -> None:
    server.says(PATH, Says({"kind": "PodList", "metadata": {}, "items": None}))
    source = opened()
    assert listed(list(source.pages(PODS))) == []
    assert outcome(source) == "complete"


def test_only_metadata_is_asked_for_where_that_is_enough(server: Server, opened: Opened) -> None:
    secrets = Listing("v1", "secrets", dict, metadata_only=True)
    server.says("/api/v1/secrets", Paged(3))
    list(opened().pages(secrets))
    assert server.requests("/api/v1/secrets")[0].header("Accept") == METADATA_ONLY


def test_a_namespace_narrows_the_path(server: Server, opened: Opened) -> None:
    server.says("/apis/apps/v1/namespaces/web/deployments", Paged(2))
    listing = Listing("apps/v1", "deployments", dict, namespace="web")
    assert len(listed(list(opened().pages(listing)))) == 2


def test_an_expired_token_goes_on_with_the_one_that_is_offered(
    server: Server, opened: Opened
) -> None:
    server.says(
        PATH,
        Says(page(["a", "b"], token="old", version="100")),
        Says(status(410, "too old", **{"continue": "new"}), 410),
        Says(page(["c"], version="250")),
    )
    source = opened()
    assert listed(list(source.pages(PODS))) == ["a", "b", "c"]
    assert server.requests(PATH)[-1].query == {"limit": "500", "continue": "new"}
    assert outcome(source) == "inconsistent"
    (note,) = source.notes()
    assert "100" in note and "250" in note and "1 page" in note


def test_an_expired_token_without_another_makes_the_list_unknown(
    server: Server, opened: Opened
) -> None:
    server.says(PATH, Says(page(["a"], token="old")), Says(status(410), 410))
    source = opened()
    with pytest.raises(Refusal, match=r"expired after 1 page \(410\)") as caught:
        list(source.pages(PODS))
    assert caught.value.why == "unreachable"
    assert outcome(source) == "partial"


def test_an_expiry_before_the_first_page_starts_over_once(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(410), 410), Says(page(["a"])))
    source = opened()
    assert listed(list(source.pages(PODS))) == ["a"]
    assert outcome(source) == "complete"


def test_a_server_that_only_ever_expires_is_given_up_on(server: Server, opened: Opened) -> None:
    server.says(
        PATH,
        Says(page(["a"], token="old")),
        Says(status(410, **{"continue": "again"}), 410),
    )
    with pytest.raises(Refusal, match="expired"):
        list(opened().pages(PODS))
    assert len(server.requests(PATH)) < 20


def test_a_token_given_twice_ends_the_list(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(page(["a"], token="same")))
    with pytest.raises(Refusal, match="circles"):
        list(opened().pages(PODS))
    assert len(server.requests(PATH)) == 2


def test_tokens_that_go_round_in_a_circle_end_the_list(server: Server, opened: Opened) -> None:
    def around(asked: Asked) -> Says:
        token = asked.query.get("continue", "a")
        return Says(page(["x"], token={"a": "b", "b": "c", "c": "a"}[token]))

    server.says(PATH, around)
    with pytest.raises(Refusal, match="circles"):
        list(opened().pages(PODS))
    assert len(server.requests(PATH)) <= 6


@pytest.mark.parametrize("code", [413, 504])
def test_pages_get_smaller_when_the_server_says_so(
    server: Server, opened: Opened, code: int
) -> None:
    paged = Paged(300)

    def answer(asked: Asked) -> Says:
        return Says(status(code), code) if int(asked.query["limit"]) > 125 else paged(asked)

    server.says(PATH, answer)
    source = opened()
    assert len(listed(list(source.pages(PODS)))) == 300
    assert [one.query["limit"] for one in server.requests(PATH)] == [
        *("500", "250", "125", "125", "125")
    ]
    assert outcome(source) == "complete"


def test_pages_of_fifty_that_are_too_large_are_refused(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(status(504, "timeout"), 504))
    with pytest.raises(Refusal, match=r"\(504\): timeout"):
        list(opened().pages(PODS))
    assert [one.query["limit"] for one in server.requests(PATH)] == [
        *("500", "250", "125", "62", "50")
    ]


def test_a_connection_that_breaks_within_a_list_goes_on_with_the_same_token(
    server: Server, opened: Opened, swift: None
) -> None:
    server.says(
        PATH,
        Says(page(["a"], token="next")),
        Says(how="reset"),
        Says(page(["b"]), how="cut"),
        Says(page(["b"])),
    )
    source = opened()
    assert listed(list(source.pages(PODS))) == ["a", "b"]
    assert [one.query.get("continue") for one in server.requests(PATH)] == [
        *(None, "next", "next", "next")
    ]
    assert outcome(source) == "complete"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>please log in</html>",
        b"",
        b"{}",
        b'{"kind":"Status","metadata":{}}',
        b'{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{}}',
        b"\xff\xfe\x00",
        b"[]",
        b'{"metadata":{"continue":5},"items":[]}',
    ],
)
def test_an_answer_that_is_no_list_is_no_empty_list(
    server: Server, opened: Opened, body: bytes
) -> None:
    server.says(PATH, Says(body))
    source = opened()
    with pytest.raises(Refusal, match="can't be read") as caught:
        list(source.pages(PODS))
    assert caught.value.why == "unreachable"
    assert outcome(source) == "partial"
    assert len(server.requests(PATH)) == 2


def test_the_head_of_a_page_is_read_in_every_spelling() -> None:
    quick = head_of(page(["a"], token="t", remaining=3, version="9"))
    spaced = head_of(json.dumps(json.loads(page(["a"], "t", 3, "9")), indent=2).encode())
    late = head_of(b'{"items":[{"metadata":{"continue":"no"}}],"metadata":{"continue":"t"}}')
    assert quick == spaced
    assert (quick.continue_token, quick.remaining_item_count) == ("t", 3)
    assert late.continue_token == "t"


def test_a_count_reads_one_object_and_no_more(server: Server, opened: Opened) -> None:
    server.says(PATH, Paged(4321))
    source = opened()
    assert source.count(Count("v1", "pods")) == 4321
    (asked,) = server.requests(PATH)
    assert asked.query == {"limit": "1"}
    (kind,) = [one for one in source.cost().kinds if one.kind == "pods"]
    assert (kind.objects, kind.outcome) == (4321, "complete")


def test_a_count_of_nothing_is_zero(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(page([])))
    assert opened().count(Count("v1", "pods")) == 0


def test_a_count_that_the_server_does_not_tell_is_unknown(server: Server, opened: Opened) -> None:
    server.says(PATH, Says(page(["a"], token="more")))
    with pytest.raises(Refusal, match="does not tell") as caught:
        opened().count(Count("v1", "pods"))
    assert caught.value.why == "not-served"


def test_a_count_of_what_is_no_list_is_unknown(server: Server, opened: Opened) -> None:
    server.says(PATH, Says({"hello": "world"}))
    with pytest.raises(Refusal, match="no JSON list"):
        opened().count(Count("v1", "pods"))


def test_two_lists_at_once_from_two_threads_stay_apart_and_within_two_in_flight(
    server: Server, opened: Opened
) -> None:
    def slow(paged: Paged) -> Callable[[Asked], Says]:
        def answer(asked: Asked) -> Says:
            time.sleep(0.01)
            return paged(asked)

        return answer

    kinds = ("pods", "services", "nodes")
    for kind in kinds:
        server.says(f"/api/v1/{kind}", slow(Paged(3000)))
    source = opened()
    found: dict[str, int] = {}

    def read(kind: str) -> None:
        found[kind] = len(set(listed(list(source.pages(Listing("v1", kind, dict))))))

    threads = [threading.Thread(target=read, args=(kind,), daemon=True) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == dict.fromkeys(kinds, 3000)
    assert server.most_at_once == 2


def test_gentle_keeps_one_in_flight(server: Server, opened: Opened) -> None:
    server.says(PATH, Paged(3000))
    server.says("/api/v1/nodes", Paged(3000))
    source = opened(gentle=True)
    thread = threading.Thread(target=lambda: list(source.pages(Listing("v1", "nodes", dict))))
    thread.start()
    list(source.pages(PODS))
    thread.join(10)
    assert server.most_at_once == 1
