"""The HTML report: safe, whole, and one file."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest

from kauditor.render import RenderOptions, render
from tests.unit.render.hostile import filled
from tests.unit.render.reports import REPORTS, large, wall

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</style></script><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "--><!-- &lt;b&gt; &#60;",
    "x' style='color:red' onclick='a()",
)
VOID = set("meta input br line rect use path circle text".split())


class Page(HTMLParser):
    """Counts tags, keeps attributes and text, and checks that what opens is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID or tag == "text":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_of(name: str) -> Page:
    return Page(render(REPORTS[name](), "html"))


@pytest.mark.parametrize("name", REPORTS)
def test_everything_that_opens_is_closed_and_ids_are_single(name: str) -> None:
    page = page_of(name)
    assert page.open == []
    ids = [value for _, attribute, value in page.attributes if attribute == "id"]
    assert len(ids) == len(set(ids))
    links = [value for tag, attribute, value in page.attributes if attribute == "href"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(link.startswith(("#", "https://")) for link in links)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", REPORTS)
def test_hostile_text_stays_text(name: str, text: str) -> None:
    harmless = Page(render(filled(REPORTS[name](), "harmless"), "html"))
    hostile = Page(render(filled(REPORTS[name](), text), "html"))
    assert hostile.tags == harmless.tags
    assert hostile.tags["script"] == 1 and hostile.tags["style"] == 1 and hostile.tags["img"] == 0
    attributes = Counter((tag, name) for tag, name, _ in hostile.attributes)
    assert attributes == Counter((tag, name) for tag, name, _ in harmless.attributes)


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/x.png)",
        "[x](javascript:alert(1)) [y](data:text/html,x) <https://ok.example>",
        "# Heading\n\n<b onclick=x>bold</b>\n\n```html\n</code></pre><script>x</script>\n```",
        "    </code><img src=x>\n\n[a]: javascript:x\n[a]",
    ],
)
def test_markdown_of_pages_brings_no_more_than_it_may(text: str) -> None:
    page = Page(render(filled(wall(), text), "html"))
    assert page.open == []
    assert page.tags["script"] == 1 and page.tags["img"] == 0 and page.tags["b"] < 60
    assert page.tags["h1"] == 1
    for tag, name, value in page.attributes:
        assert name != "style" and not name.startswith("on")
        assert name != "src"
        if name == "href" and tag == "a":
            assert value.startswith(("#", "https://"))


@pytest.mark.parametrize("name", REPORTS)
def test_policy_lets_in_our_style_and_script_and_nothing_else(name: str) -> None:
    text = render(REPORTS[name](), "html")
    page = Page(text)
    policy = next(value for _, attribute, value in page.attributes if "default-src" in value)
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for _, attribute, _ in page.attributes:
        assert attribute not in ("style", "src", "srcset", "action")
        assert not attribute.startswith("on")
    assert "url(http" not in text and "@import" not in text


def test_every_finding_shows_evidence_fix_and_source() -> None:
    text = " ".join(page_of("wall").text)
    for words in (
        "Pod addresses: 812 of 1,024 blocks are taken.",
        "--node-cidr-mask-size=25",
        "pod kube-system/kube-controller-manager-cp-1 --cluster-cidr",
        "inferred",
        "kubernetes.io/docs/setup/best-practices/cluster-large",
        "The list of pods changed underway",
        "Snapshots move to a cluster of their own.",
        "403: needs get on /metrics",
    ):
        assert words in text


def test_empty_states_say_so() -> None:
    text = " ".join(page_of("forbidden").text)
    assert "No grade" in text and "There is no path yet" in text and "Nothing was decided" in text
    text = " ".join(page_of("healthy").text)
    assert "Nothing has to be fixed" in text and "Every check that applies was answered." in text


def test_every_check_stands_in_the_table() -> None:
    text = render(large(), "html")
    for result in large().results:
        assert result.check in text


def test_stays_within_its_budget() -> None:
    assert len(large().results) == 286
    assert len(render(large(), "html").encode()) <= 300_000


def test_own_templates_come_first(tmp_path: Path) -> None:
    (tmp_path / "style.css").write_text("body{color:teal}")
    options = RenderOptions(template_dir=str(tmp_path))
    assert "<style>body{color:teal}</style>" in render(wall(), "html", options)
    (tmp_path / "report.html.j2").write_text("{{ report.headline }} {{ missing }}")
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        render(wall(), "html", options)
