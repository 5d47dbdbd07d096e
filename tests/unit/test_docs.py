"""Pages that come from the code are those of the code, and what they tell people to apply is valid."""

import re
import warnings

import pytest
import yaml

from docs.generate import DOCS, pages
from kauditor import packs
from kauditor.model.check import Check

CHECKS = packs.load(installed=False)
VERSIONS = ("1.34", "1.35", "1.36", "1.37")


def test_generated_pages_are_up_to_date() -> None:
    for path, text in pages().items():
        assert path.exists(), f"{path.name} is missing: make docs"
        assert path.read_text("utf-8") == text, f"{path.name} is stale: make docs"
    ids = {path.stem for path in (DOCS / "checks").glob("*.md")}
    assert ids == {check.id for check in CHECKS}


def blocks(check: Check) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", check.page.fix, re.DOTALL)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("check", [one for one in CHECKS if blocks(one)], ids=lambda one: one.id)
def test_yaml_in_a_fix_is_valid_for_every_supported_version(check: Check, version: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import kubernetes_validate
    for block in blocks(check):
        for document in yaml.safe_load_all(block):
            if document["apiVersion"].endswith("config.k8s.io/v1"):
                # Component configuration is no API object; no schema of it is published.
                continue
            kubernetes_validate.validate(document, version, strict=True)
