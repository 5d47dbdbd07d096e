"""Packs: three doors, one loader, and what it refuses."""

from pathlib import Path

import pytest

from kauditor import packs

GOOD = '''
from collections.abc import Iterator
from kauditor.api import Area, Finding, Nodes, Severity, check, ok

@check(id="{id}", area=Area.NODES, severity=Severity.LOW, since="0.1",
       references=("https://kubernetes.io/",))
def {name}({parameters}) -> Iterator[Finding]:
    """Something.

    ## Why it breaks
    Because.
    ## Fix
    Do it.
    ## Verify
    ```shell
    true
    ```
    """
    yield ok("fine")
'''


def write(
    folder: Path, name: str = "thing", id: str = "MINE001", parameters: str = "nodes: Nodes"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(GOOD.format(id=id, name=name, parameters=parameters))
    return file


def test_a_folder_without_init_is_walked(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "er")
    assert [check.id for check in packs.load_folder(tmp_path, "mine")] == ["MINE001"]


def test_a_pack_brings_a_fact_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "quota_fact.py").write_text(
        "from kauditor.api import Fact, Listing, Meta, Struct, tallies\n"
        "class Quota(Struct, frozen=True, kw_only=True):\n    metadata: Meta = Meta()\n"
        "class Quotas(Fact, frozen=True, kw_only=True):\n    count: int\n"
        "@tallies(Quotas, Listing('v1', 'resourcequotas', Quota))\n"
        "class QuotaTally:\n"
        "    def __init__(self):\n        self.count = 0\n"
        "    def add(self, quota):\n        self.count += 1\n"
        "    def total(self):\n        return Quotas(count=self.count)\n"
    )
    write(tmp_path, parameters="quotas: Quotas")
    file = tmp_path / "thing.py"
    file.write_text("from quota_fact import Quotas\n" + file.read_text())
    (check,) = packs.load_folder(tmp_path, "mine")
    assert check.needs[0].fact.__name__ == "Quotas"


def test_two_checks_with_one_id_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "one")
    write(tmp_path, "two")
    with pytest.raises(packs.BadPack, match="MINE001 is taken"):
        packs.load([tmp_path], installed=False)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"parameters": "nodes"}, "parameter 'nodes'"),
        ({"parameters": "nodes: int"}, "must be annotated with one fact"),
        ({"parameters": "nodes: Nodes, *, bound: int"}, "needs a default"),
        ({"parameters": ""}, "at least one fact"),
        ({"id": "mine-1"}, "three digits"),
        ({"name": "check_thing"}, "noun"),
    ],
)
def test_a_bad_form_is_refused_with_file_and_line(
    tmp_path: Path, changes: dict[str, str], says: str
) -> None:
    file = write(tmp_path, **changes)
    with pytest.raises(packs.BadPack, match=says) as caught:
        list(packs.load_folder(tmp_path, "mine"))
    assert f"{file}:" in str(caught.value)


def test_a_file_that_does_not_load_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(packs.BadPack, match=r"broken\.py.*nowhere_to_be_found"):
        list(packs.load_folder(tmp_path, "mine"))


def test_words_choose_by_id_name_area_and_wildcard() -> None:
    checks = packs.load(installed=False)
    assert [one.id for one in packs.choose(checks, ["ADDR001"])] == ["ADDR001"]
    assert [one.id for one in packs.choose(checks, ["pod-cidr-exhaustion"])] == ["ADDR001"]
    assert {one.area.value for one in packs.choose(checks, ["etcd"])} == {"etcd"}
    assert all(one.id.startswith("SCHED") for one in packs.choose(checks, ["sched*0*"]))
    assert "ADDR001" not in {one.id for one in packs.choose(checks, skip=["addr*"])}


def test_a_word_that_names_nothing_gets_a_hint() -> None:
    with pytest.raises(packs.BadPack, match="did you mean ADDR001"):
        packs.choose(packs.load(installed=False), ["ADR001"])
