"""What renderers share."""

import subprocess
import sys

import pytest
import yaml

from kauditor.model.source import Grant
from kauditor.render import FORMATS, RenderOptions, render
from kauditor.render.parts import rule_of
from tests.unit.render.reports import forbidden, wall

GRANTS = (
    Grant(verbs=("list",), resource="pods"),
    Grant(verbs=("get", "list"), group="apps", resource="deployments"),
    Grant(verbs=("list",), group="storage.k8s.io", resource="csinodes"),
    Grant(verbs=("get",), resource="configmaps", namespace="kube-system"),
    Grant(verbs=("get",), path="/metrics"),
)


@pytest.mark.parametrize("grant", GRANTS, ids=str)
def test_a_grant_becomes_the_rule_that_gives_it(grant: Grant) -> None:
    (rule,) = yaml.safe_load(rule_of(str(grant)))
    assert rule["verbs"] == list(grant.verbs)
    if grant.path:
        assert rule["nonResourceURLs"] == [grant.path]
    else:
        assert rule["apiGroups"] == [grant.group] and rule["resources"] == [grant.resource]
    assert (f"namespace {grant.namespace}" in rule_of(str(grant))) == bool(grant.namespace)


@pytest.mark.parametrize(
    "words", ["", "ask the provider", 'get on /a"b', "list on <b> cluster-wide"]
)
def test_other_words_make_no_rule(words: str) -> None:
    assert rule_of(words) == ""


def test_the_page_of_a_locked_cluster_gives_the_rules_to_add() -> None:
    page = render(forbidden(), "html")
    assert "apiGroups: [&#34;storage.k8s.io&#34;]" in page
    assert "<code>kauditor rbac</code>" in page


def test_every_format_renders_and_takes_its_library_late() -> None:
    for format, renderer in FORMATS.items():
        assert renderer(wall(), RenderOptions()) == render(wall(), format)
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, kauditor.render; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert not {"jinja2", "rich", "markdown_it"} & set(loaded)


def test_the_gate_is_the_last_line_and_quiet_drops_the_hint() -> None:
    lines = render(wall(), "text", RenderOptions(width=100)).splitlines()
    assert lines[-1].startswith("GATE FAILED  score 51 is under 70")
    assert "GATE" not in render(forbidden(), "text")
    assert "kauditor scan -o" not in render(wall(), "text", RenderOptions(quiet=True))
