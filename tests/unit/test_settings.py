"""Settings: found where they should be, and refused with one clear sentence."""

from pathlib import Path

import pytest

from kauditor.model.check import Area
from kauditor.model.finding import Severity
from kauditor.settings import (
    DEFAULT,
    BadSettings,
    ClusterSettings,
    GateSettings,
    Loaded,
    area_scores,
    find,
    find_user,
    from_environment,
    load,
    resolve,
    schema,
)

WAIVER = (
    '[[waiver]]\nrule = "STOR006"\nuntil = 2027-03-31\nreason = "moves in Q1"\n'
    'owner = "storage@example.com"\n'
)


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
        ("[gate]\nmin-score = 101", "<= 100"),
        ("[gate]\nmin-limit = -1", ">= 0"),
        ("[gate.min-area-score]\nnetwrok = 1", "netwrok"),
        ("[cluster.a]\ntarget-nodes = 0", ">= 1"),
        ("gate = 1", "gate: Expected `object`"),
        (WAIVER.replace("reason", "raeson"), "[waiver[0]] has no key 'raeson'; did you mean"),
        (WAIVER.replace("until = 2027-03-31", ""), "says no 'until'"),
        (WAIVER.replace('owner = "storage@example.com"', ""), "says no 'owner'"),
        (WAIVER.replace("2027-03-31", '"next year"'), "such as 2027-03-31"),
        (WAIVER.replace("rule", "check", 1).replace("STOR006", ""), "name the check once"),
        (WAIVER.replace("moves in Q1", " "), "reason is empty"),
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
    assert find(inner) is None
    file = write(tmp_path / "repo", "")
    assert find(inner) == file


def test_the_user_file_lies_beneath_the_project_s_key_by_key(tmp_path: Path) -> None:
    (tmp_path / "kauditor").mkdir()
    user = write(
        tmp_path / "kauditor", "[gate]\nmin-score = 1\nmin-limit = 2\n" + WAIVER, "config.toml"
    )
    assert find_user({"XDG_CONFIG_HOME": str(tmp_path)}) == user
    assert find_user({"HOME": str(tmp_path)}) is None
    file = write(tmp_path, "[gate]\nmin-score = 9\n" + WAIVER)
    loaded = load(file, user_file=user)
    assert (loaded.settings.gate.min_score, loaded.settings.gate.min_limit) == (9, 2)
    assert len(loaded.settings.waiver) == 2
    assert loaded.origins["gate.min-score"] == str(file)
    assert loaded.origins["gate.min-limit"] == str(user)
    assert [loaded.origins[f"waiver[{n}]"] for n in (0, 1)] == [str(user), str(file)]


def test_a_complaint_about_the_user_file_names_the_user_file(tmp_path: Path) -> None:
    user = write(tmp_path, "[gates]\n", "config.toml")
    with pytest.raises(
        BadSettings, match=r"config\.toml: it has no key 'gates'; did you mean 'gate'"
    ):
        load(write(tmp_path, ""), user_file=user)


def test_pyproject_may_hold_the_settings(tmp_path: Path) -> None:
    file = write(tmp_path, "[tool.kauditor.gate]\nmin-score = 7\n", "pyproject.toml")
    assert find(tmp_path) == file
    assert load(file).settings.gate.min_score == 7


def test_the_table_of_a_cluster_lies_over_the_file_s_key_by_key(tmp_path: Path) -> None:
    settings = load(
        write(
            tmp_path,
            "[gate]\nmin-score = 70\n[gate.min-area-score]\nnetwork = 1\netcd = 2\n"
            "[facts.etcd]\nmembers = 5\n[cluster.a.gate]\nmin-limit = 9\n"
            "[cluster.a.gate.min-area-score]\netcd = 3\n[cluster.a.facts.etcd]\nquota-bytes = 1\n",
        )
    ).settings
    gate, facts = settings.of_cluster("a").gate, settings.of_cluster("a").facts
    assert gate is not None
    assert facts is not None
    assert (gate.min_limit, gate.min_score) == (9, 70)
    assert gate.min_area_score == {Area.NETWORK: 1, Area.ETCD: 3}
    assert (facts.etcd.members, facts.etcd.quota_bytes) == (5, 1)


def test_the_path_of_a_baseline_is_relative_to_its_file(tmp_path: Path) -> None:
    settings = load(
        write(
            tmp_path,
            '[gate]\nbaseline = "a.json"\n[cluster.x.gate]\nbaseline = "/b.json"\n',
        )
    ).settings
    assert settings.gate.baseline == str(tmp_path / "a.json")
    mine = settings.of_cluster("x").gate
    assert mine is not None
    assert mine.baseline == "/b.json"


def test_variables_set_target_and_gate() -> None:
    found = from_environment(
        {
            "KAUDITOR_TARGET_NODES": "5000",
            "KAUDITOR_MIN_LIMIT": "3000",
            "KAUDITOR_MIN_SCORE": "",
            "KAUDITOR_MIN_AREA_SCORE": "network=70, etcd=60",
            "KAUDITOR_FAIL_ON": "high",
            "KAUDITOR_FAIL_ON_NEW": "true",
            "KAUDITOR_FAIL_ON_WORSE": "0",
            "KAUDITOR_BASELINE": "b.json",
            "KAUDITOR_PORT": "tcp://10.0.0.1:80",
        }
    )
    assert found == ClusterSettings(
        target_nodes=5000,
        gate=GateSettings(
            min_limit=3000,
            min_area_score={Area.NETWORK: 70, Area.ETCD: 60},
            fail_on=Severity.HIGH,
            fail_on_new=True,
            fail_on_worse=False,
            baseline="b.json",
        ),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAUDITOR_TARGET_NODES", "many"),
        ("KAUDITOR_TARGET_NODES", "0"),
        ("KAUDITOR_MIN_SCORE", "101"),
        ("KAUDITOR_FAIL_ON", "awful"),
        ("KAUDITOR_FAIL_ON_NEW", "perhaps"),
        ("KAUDITOR_MIN_AREA_SCORE", "network"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(name: str, value: str) -> None:
    with pytest.raises(BadSettings, match=name):
        from_environment({name: value})


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("netwrok=7", "did you mean 'network'?"),
        ("=7", "known are scheduler"),
        ("network", "write AREA=N"),
        ("network=", "write AREA=N"),
        ("network=101", "from 0 to 100"),
        ("network=-1", "from 0 to 100"),
        ("network=²", "from 0 to 100"),
    ],
)
def test_an_area_s_score_that_cannot_be_read_is_explained(word: str, says: str) -> None:
    with pytest.raises(BadSettings) as caught:
        area_scores([word], "--min-area-score")
    assert says in str(caught.value)


def origins(loaded: Loaded, context: str, flags: ClusterSettings) -> dict[str, tuple[object, str]]:
    return {one.key: (one.value, one.origin) for one in resolve(loaded, context, flags)}


def test_every_value_is_shown_with_where_it_is_from_and_the_higher_place_wins(
    tmp_path: Path,
) -> None:
    user = write(tmp_path, "[gate]\nmin-coverage = 1\nmin-score = 1\n", "config.toml")
    file = write(
        tmp_path,
        "[gate]\nmin-score = 2\nmin-limit = 2\n"
        '[cluster.prod]\ncontext = "admin@prod"\ntarget-nodes = 9\n'
        "[cluster.prod.gate]\nmin-limit = 3\n[checks.SCHED001]\nwarn-from-nodes = 7\n" + WAIVER,
    )
    loaded = load(file, user_file=user, environment={"KAUDITOR_FAIL_ON": "high"})
    flags = ClusterSettings(gate=GateSettings(fail_on_new=True))
    found = origins(loaded, "admin@prod", flags)
    assert found["target-nodes"] == (9, f"{file} [cluster.prod]")
    assert found["gate.min-limit"] == (3, f"{file} [cluster.prod.gate]")
    assert found["gate.min-score"] == (2, f"{file} [gate]")
    assert found["gate.min-coverage"] == (1, f"{user} [gate]")
    assert found["gate.fail-on"] == ("high", "KAUDITOR_FAIL_ON")
    assert found["gate.fail-on-new"] == (True, "--fail-on-new")
    assert found["gate.fail-on-worse"] == (None, DEFAULT)
    assert found["facts.etcd.members"] == (None, DEFAULT)
    assert found["checks.SCHED001.warn-from-nodes"] == (7, str(file))
    assert found["waiver[0]"][1] == str(file)
    assert "cluster.prod.target-nodes" not in found
    assert origins(loaded, "", flags)["cluster.prod.target-nodes"] == (9, str(file))
    over = origins(load(file, environment={"KAUDITOR_TARGET_NODES": "4"}), "prod", flags)
    assert over["target-nodes"] == (4, "KAUDITOR_TARGET_NODES")


def test_least_scores_of_areas_add_up_over_all_places(tmp_path: Path) -> None:
    file = write(tmp_path, "[gate.min-area-score]\nnetwork = 1\netcd = 1\n")
    loaded = load(file, environment={"KAUDITOR_MIN_AREA_SCORE": "etcd=2"})
    flags = ClusterSettings(gate=GateSettings(min_area_score={Area.BATCH: 3}))
    assert origins(loaded, "", flags)["gate.min-area-score"] == (
        {Area.NETWORK: 1, Area.ETCD: 2, Area.BATCH: 3},
        "--min-area-score",
    )


def test_the_schema_knows_the_keys_and_refuses_others() -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    made = schema()
    Draft202012Validator.check_schema(made)
    validator = Draft202012Validator(made)
    good = {
        "cluster": {"prod": {"target-nodes": 5, "gate": {"min-area-score": {"network": 7}}}},
        "waiver": [{"rule": "A", "until": "2027-01-01", "reason": "r", "owner": "o"}],
    }
    assert list(validator.iter_errors(good)) == []
    for bad in (
        {"target-nodes": 1},
        {"gate": {"min-limt": 1}},
        {"gate": {"min-score": 101}},
        {"waiver": [{"rule": "A"}]},
    ):
        assert list(validator.iter_errors(bad))
