"""Kubeconfigs: merged and looked up as kubectl does."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kauditor.sources.live.kubeconfig import BadKubeconfig, find, in_cluster, merge, resolve
from tests.conftest import ROOT

SAMPLES = ROOT.parent / "shared" / "samples" / "kubeconfig"


def write(folder: Path, name: str, **document: Any) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(document))
    return file


def cluster(name: str, server: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "cluster": {"server": server, **more}}


def context(name: str, cluster: str = "c", user: str = "") -> dict[str, Any]:
    return {"name": name, "context": {"cluster": cluster, "user": user}}


def test_the_first_current_context_and_the_first_of_a_name_win(tmp_path: Path) -> None:
    a = write(
        tmp_path,
        "a",
        **{"current-context": "a"},
        contexts=[context("a")],
        clusters=[cluster("c", "https://a")],
    )
    b = write(
        tmp_path,
        "b",
        **{"current-context": "b"},
        contexts=[context("b")],
        clusters=[cluster("c", "https://b")],
    )
    merged = merge([a, b])
    assert merged.current_context == "a"
    assert resolve(merged).cluster["server"] == "https://a"


def test_missing_files_and_empty_segments_are_passed_over(tmp_path: Path) -> None:
    a = write(
        tmp_path,
        "a",
        **{"current-context": "a"},
        contexts=[context("a")],
        clusters=[cluster("c", "https://a")],
    )
    named = os.pathsep.join(["", str(tmp_path / "missing"), str(a), ""])
    found = find(
        kubeconfig=None, context=None, cluster=None, user=None, namespace=None, server=None,
        environment={"KUBECONFIG": named},
    )  # fmt: skip
    assert found.cluster["server"] == "https://a"


def test_a_relative_path_is_relative_to_its_own_file(tmp_path: Path) -> None:
    file = write(
        tmp_path / "deep", "a",
        **{"current-context": "a"},
        contexts=[context("a", user="u")],
        clusters=[cluster("c", "https://a", **{"certificate-authority": "ca.crt"})],
        users=[{"name": "u", "user": {"tokenFile": "token", "exec": {"command": "./plugin"}}}],
    )  # fmt: skip
    found = resolve(merge([file]))
    folder = str((tmp_path / "deep").resolve())
    assert found.cluster["certificate-authority"] == f"{folder}/ca.crt"
    assert found.user["tokenFile"] == f"{folder}/token"
    assert os.path.normpath(found.user["exec"]["command"]) == f"{folder}/plugin"


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"contexts": [context("a")]}, "no current-context"),
        ({"current-context": "z", "contexts": [context("a")]}, "'z' is not in"),
        ({"current-context": "a", "contexts": [context("a", "gone")]}, "cluster 'gone'"),
        (
            {"current-context": "a", "contexts": [context("a", user="gone")], "clusters": [cluster("c", "https://a")]},
            "user 'gone'",
        ),
        ({"current-context": "a", "contexts": [context("a")], "clusters": [{"name": "c", "cluster": {}}]}, "no server"),
        ({"contexts": {"a": 1}}, "no list"),
    ],
)  # fmt: skip
def test_what_can_not_be_used_gets_one_sentence(
    tmp_path: Path, document: dict[str, Any], says: str
) -> None:
    file = write(tmp_path, "a", **document)
    with pytest.raises(BadKubeconfig, match=re.escape(says)) as caught:
        resolve(merge([file]))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_yaml_is_named_without_quoting_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("token: very-secret\n  : [")
    with pytest.raises(BadKubeconfig) as caught:
        merge([file])
    assert str(file) in str(caught.value)
    assert "very-secret" not in str(caught.value)


def test_a_named_file_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match="no such file"):
        merge([tmp_path / "gone"], must_exist=True)


def test_in_a_pod_its_own_account_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = in_cluster(environment, tmp_path)
    assert found is not None
    assert found.cluster["server"] == "https://[fd00::1]:443"
    assert in_cluster({}, tmp_path) is None


def readings() -> list[tuple[str, str]]:
    index = SAMPLES / "INDEX.md"
    if not index.exists():
        return []
    return re.findall(
        r"^## (\S+)\n(?:- .*\n)*?- Right reading: (.*)$", index.read_text(), re.MULTILINE
    )


@pytest.mark.parametrize(("name", "reading"), readings(), ids=lambda value: value[:40])
def test_a_sample_reads_as_its_index_says(name: str, reading: str) -> None:
    merged = merge([SAMPLES / name])
    names = re.search(r"contexts (\[.*?\]), current-context (None|'[^']*')", reading)
    assert names is not None
    assert list(merged.contexts) == yaml.safe_load(names.group(1))
    current = names.group(2).strip("'")
    assert merged.current_context == ("" if current == "None" else current)
    refused = (
        "is missing" in reading
        or "names no context here" in reading
        or "no current-context" in reading
        or ("cluster " in reading and "server=" not in reading)
    )
    if refused:
        with pytest.raises(BadKubeconfig):
            resolve(merged)
        return
    found = resolve(merged)
    server = re.search(r"server=([^,;]+)", reading)
    assert server is not None
    assert found.cluster["server"] == server.group(1)
    keys = re.search(r"user keys (\[.*?\])", reading)
    if keys:
        assert set(yaml.safe_load(keys.group(1))) <= set(found.user)
    namespace = re.search(r"namespace (\S+)$", reading)
    if namespace:
        assert found.namespace == namespace.group(1)


def test_the_merge_samples_give_the_first_value_of_a_name() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not beside this checkout")
    files = [SAMPLES / f"fabric8-merge-config-{n}.yaml" for n in (2, 1, 3)]
    found = resolve(merge(files))
    assert found.cluster["server"] == "https://config-2.example.com"
    assert found.namespace == "config-2-namespace"
