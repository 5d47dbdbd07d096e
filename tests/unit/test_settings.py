"""Settings: found where they should be, and refused with one clear sentence."""

from pathlib import Path

import pytest

from kauditor.settings import BadSettings, find, load


def write(folder: Path, text: str, name: str = "kauditor.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_cluster_has_its_target_gate_and_facts(tmp_path: Path) -> None:
    settings = load(
        write(
            tmp_path,
            '[cluster."prod"]\ntarget-nodes = 5000\n[cluster."prod".gate]\nmin-limit = 3000\n'
            'fail-on = "critical"\n[facts.etcd]\nquota-bytes = 8589934592\n',
        )
    ).settings
    mine = settings.of_cluster("prod")
    assert (mine.target_nodes, mine.gate and mine.gate.min_limit) == (5000, 3000)
    assert mine.facts is not None
    assert mine.facts.stated()["etcd_quota_bytes"] == 8589934592
    assert settings.of_cluster("other").target_nodes is None


def test_a_cluster_is_found_by_its_context(tmp_path: Path) -> None:
    settings = load(
        write(tmp_path, '[cluster.prod]\ncontext = "arn:aws:eks:prod"\ntarget-nodes = 9\n')
    ).settings
    assert settings.of_cluster("arn:aws:eks:prod").target_nodes == 9


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("target-node = 1", "no key 'target-node'"),
        ('[cluster."prod"]\ntarget-node = 1', "did you mean 'target-nodes'?"),
        ("[facts.etcd]\nquota-byte = 1", "did you mean 'quota-bytes'?"),
        ('[cluster."prod"]\ntarget-nodes = "many"', "Expected `int"),
        ("[gate]\nfail-on = 'awful'", "awful"),
        ("[cluster", "not TOML"),
    ],
)
def test_bad_settings_get_one_sentence_with_file_and_key(
    tmp_path: Path, text: str, says: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(BadSettings) as caught:
        load(file)
    assert says in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"nowhere\.toml"):
        load(tmp_path / "nowhere.toml")


def test_the_file_is_looked_for_up_to_the_repository_root(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    write(tmp_path, "")
    assert find(inner, {}) is None
    file = write(tmp_path / "repo", "")
    assert find(inner, {}) == file


def test_the_user_file_is_the_last_resort(tmp_path: Path) -> None:
    (tmp_path / "kauditor").mkdir()
    file = write(tmp_path / "kauditor", "", "config.toml")
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    assert find(work, {"XDG_CONFIG_HOME": str(tmp_path)}) == file


def test_pyproject_may_hold_the_settings(tmp_path: Path) -> None:
    file = write(tmp_path, "[tool.kauditor.gate]\nmin-score = 7\n", "pyproject.toml")
    assert find(tmp_path, {}) == file
    assert load(file).settings.gate.min_score == 7
