"""report, gate and diff: what they read, what they refuse, what they tell."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kauditor.model.report import Report
from tests.unit.cli.invoke import Shell, waiver_of

Save = Callable[..., str]


def lower_cap(document: Any) -> None:
    """The autoscaler's cap from 900 nodes to 700, everywhere the report says it."""
    for row in (*document["results"], *document["limits"]):
        if row["check"] == "AS002":
            assert row["nodes"] == 900
            row["nodes"] = 700


def drop_defaults(value: Any, kind: type[msgspec.Struct]) -> Any:
    """The document as an older minor would have written it: no field that has a default."""
    made = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            made[field.encode_name] = value[field.encode_name]
    return made


@pytest.mark.parametrize("form", ["text", "wide", "json", "html", "markdown", "score", "name"])
def test_a_saved_report_is_shown_as_the_scan_showed_it(shell: Shell, form: str) -> None:
    assert shell("scan", "--demo", "-q", "-o", form, "-o", "json=r.json") == 0
    scanned = shell.out
    assert shell("report", "r.json", "-o", form) == 0, shell.err
    assert shell.out == scanned


def test_a_report_is_rendered_to_files(shell: Shell, saved: Save) -> None:
    assert shell("report", saved(), "-o", "html=r.html", "-o", "markdown=r.md") == 0
    assert shell.err == "wrote r.html\nwrote r.md\n"
    assert (shell.folder / "r.html").read_text().startswith("<!DOCTYPE html>")


def test_a_gate_that_the_report_failed_does_not_fail_showing_it(shell: Shell) -> None:
    assert shell("scan", "--demo", "-q", "--min-score", "99", "-o", "json=r.json") == 1
    assert shell("report", "r.json") == 0
    assert "GATE FAILED" in shell.out


def test_fields_of_a_newer_minor_are_passed_over(shell: Shell, saved: Save) -> None:
    def newer(document: Any) -> None:
        document["mood"] = {"good": True}
        document["score"]["trend"] = "up"
        document["results"][0]["colour"] = "red"
        document["limits"][0]["colour"] = "red"

    assert shell("report", saved(change=newer), "-o", "score") == 0, shell.err
    assert shell("gate", "report.json", "--min-score", "0") == 0


def test_a_report_of_an_older_minor_is_read_without_the_fields_added_since(
    shell: Shell, saved: Save
) -> None:
    from kauditor.model.dimension import Limit
    from kauditor.model.report import AreaScore, Cluster, Gate, Score
    from kauditor.model.result import Result

    def older(document: Any) -> None:
        for name, kind in (("limits", Limit), ("results", Result), ("areas", AreaScore)):
            document[name] = [drop_defaults(row, kind) for row in document[name]]
        for name, one in (("cluster", Cluster), ("score", Score), ("gate", Gate)):
            document[name] = drop_defaults(document[name], one)
        for field in msgspec.structs.fields(Report):
            if not field.required and field.name != "schema":
                del document[field.name]

    for words in (("report", "-o", "html"), ("report",), ("gate", "--min-limit", "1")):
        command, *flags = words
        assert shell(command, saved(change=older), *flags) == 0, shell.err
    assert shell("diff", "report.json", saved("new.json")) == 0
    assert shell("scan", "--demo", "--baseline", "report.json", "-o", "score") == 0


DAMAGED: list[tuple[str, str]] = [
    ("", "not JSON"),
    ("\x00", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[]", "no 'schema'"),
    ("7", "no 'schema'"),
    ("{}", "no 'schema'"),
    ('{"schema": "kauditor.report/v2"}', "this version reads 'kauditor.report/v1'"),
    ('{"schema": "kauditor.snapshot/v1"}', "this version reads 'kauditor.report/v1'"),
    ('{"schema": null}', "its schema is 'None'"),
    ('{"schema": "kauditor.report/v1"}', "damaged"),
]


@pytest.mark.parametrize(("text", "says"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_report_gets_one_sentence_from_every_command(
    shell: Shell, saved: Save, text: str, says: str
) -> None:
    shell.write("bad.json", text)
    good = saved()
    for words in (
        ("report", "bad.json"),
        ("gate", "bad.json", "--min-score", "1"),
        ("gate", good, "--baseline", "bad.json", "--fail-on-new"),
        ("diff", "bad.json", good),
        ("diff", good, "bad.json"),
        ("scan", "--demo", "--baseline", "bad.json"),
    ):
        refusal = shell.refusal(*words)
        assert "bad.json" in refusal
        assert says in refusal


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["score"].update(value="high"),
        lambda document: document["results"][0].update(state="broken"),
        lambda document: document["limits"][0].update(nodes=1.5),
        lambda document: document.update(results={}),
        lambda document: document["cluster"].pop("name"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(
    shell: Shell, saved: Save, change: Callable[[Any], None]
) -> None:
    assert "damaged" in shell.refusal("report", saved(change=change))


def test_a_report_that_is_not_there_is_named(shell: Shell) -> None:
    assert "missing.json: No such file" in shell.refusal("report", "missing.json")
    assert "directory" in shell.refusal("gate", ".", "--min-score", "1")


def test_controls_in_a_saved_report_never_reach_the_terminal(shell: Shell, saved: Save) -> None:
    def hostile(document: Any) -> None:
        document["headline"] = "\x1b[2J\x1b]8;;http://evil\x07 ‮"
        document["results"][0]["summary"] = "\x9b31m"
        document["gate"]["conditions"] = [
            {"name": "x", "value": "", "bound": "", "outcome": "failed", "sentence": "\x1b[2J"}
        ]
        document["gate"]["outcome"] = "failed"
        document["cluster"]["uid"] = "other\x1b[2J"

    file = saved(change=hostile)
    for words in (
        ("report", file, "--all"),
        ("diff", file, saved("b.json")),
        ("gate", file, "--min-score", "1"),
    ):
        shell(*words)
        assert not set("\x1b\x07\x9b‮") & set(shell.out + shell.err)


def test_a_gate_prints_every_condition_and_exits_by_it(shell: Shell, saved: Save) -> None:
    words = ("gate", saved(), "--min-limit", "1", "--min-area-score", "etcd=100")
    assert shell(*words, "--min-coverage", "1") == 1
    assert [line.split()[:2] for line in shell.out.splitlines()] == [
        ["passed", "min-limit"],
        ["failed", "min-area-score"],
        ["passed", "min-coverage"],
    ]
    assert shell.err.startswith("GATE FAILED")
    assert shell(*words, "--exit-zero") == 0
    assert shell.err.startswith("GATE FAILED")
    assert shell(*words, "-o", "json", "-q") == 1
    assert json.loads(shell.out)["conditions"][1]["bound"] == "100"
    assert shell.err == ""


def test_a_gate_without_a_condition_is_an_error_and_not_a_pass(shell: Shell, saved: Save) -> None:
    assert "no condition" in shell.refusal("gate", saved())


def test_a_gate_takes_the_settings_of_the_report_s_cluster(shell: Shell, saved: Save) -> None:
    shell.write("kauditor.toml", "[cluster.demo.gate]\nmin-score = 99\n")
    assert shell("gate", saved()) == 1
    assert shell("gate", "report.json", "--min-score", "1") == 0


def test_a_lowered_limit_fails_a_saved_report_against_its_baseline(
    shell: Shell, saved: Save
) -> None:
    old, new = saved("old.json"), saved("new.json", lower_cap)
    assert shell("gate", new, "--baseline", old, "--fail-on-new") == 0
    assert shell("gate", new, "--baseline", old, "--fail-on-worse") == 1
    assert "AS002" in shell.err
    assert "from 900 to 700 nodes" in shell.err
    assert shell("gate", old, "--baseline", new, "--fail-on-worse", "--fail-on-new") == 0


def test_new_and_worse_need_a_baseline(shell: Shell, saved: Save) -> None:
    for flag in ("--fail-on-new", "--fail-on-worse"):
        assert f"{flag} needs --baseline" in shell.refusal("gate", saved(), flag)
        assert f"{flag} needs --baseline" in shell.refusal("scan", "--demo", flag)


def test_the_settings_waivers_apply_to_a_saved_report_and_can_be_left_out(
    shell: Shell, saved: Save, demo: Report
) -> None:
    shell.write("kauditor.toml", waiver_of(demo))
    old, new = saved("old.json"), saved("new.json", lower_cap)
    words = ("gate", new, "--baseline", old, "--fail-on-worse")
    assert shell(*words) == 0, shell.err
    assert shell(*words, "--no-waivers") == 1


def test_scores_of_another_model_are_not_worked_out_again(
    shell: Shell, saved: Save, demo: Report
) -> None:
    shell.write("kauditor.toml", waiver_of(demo))
    file = saved(change=lambda document: document["tool"].update(scoring="0"))
    assert "scoring model 0" in shell.refusal("gate", file, "--min-score", "1")
    assert shell("gate", file, "--min-score", "1", "--config", shell.write("e.toml", "").name) == 0


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_difference_is_told_in_every_format(shell: Shell, saved: Save, form: str) -> None:
    old, new = saved("old.json"), saved("new.json", lower_cap)
    assert shell("diff", old, new, "-o", form) == 0
    told = shell.out
    if form == "json":
        document = json.loads(told)
        (change,) = [one for one in document["changes"] if one["word"] == "worse"]
        assert (change["check"], change["old"]["nodes"], change["new"]["nodes"]) == (
            "AS002",
            900,
            700,
        )
        assert document["counts"]["worse"] == 1
        assert document["counts"]["unchanged"] > 5
        assert [(one["old"], one["new"]) for one in document["moves"]] == [(900, 700)]
    else:
        assert "1 worse" in told
        assert "900 -> 700 nodes" in told.replace("&#62;", ">")
        assert "Worse" in told
    assert shell("diff", old, new, "-o", f"{form}=d.out") == 0
    assert (shell.folder / "d.out").read_text() == told


def test_a_failure_that_is_not_seen_any_more_is_never_called_fixed(
    shell: Shell, saved: Save
) -> None:
    def blind(document: Any) -> None:
        document["results"] = [
            {
                **row,
                "state": "unknown",
                "reason": "forbidden",
                "subject": "",
                "dimension": "",
                "nodes": None,
            }
            if row["state"] == "fail"
            else row
            for row in document["results"]
        ]

    assert shell("diff", saved(), saved("new.json", blind), "-o", "json") == 0
    counts = json.loads(shell.out)["counts"]
    assert counts["fixed"] == 0
    assert counts["no-longer-seen"] > 5
    assert shell("diff", "report.json", "new.json") == 0
    assert "No longer seen" in shell.out


def test_unchanged_findings_are_counted_and_listed_on_request(shell: Shell, saved: Save) -> None:
    shell("diff", saved(), "report.json")
    assert "unchanged" in shell.out
    assert "AS002" not in shell.out
    shell("diff", "report.json", "report.json", "--all")
    assert "AS002" in shell.out


@pytest.mark.parametrize("words", [("-o", "pdf"), ("-o", "json="), ("-o", "json=no/d.json")])
def test_a_bad_output_of_diff_is_refused(shell: Shell, saved: Save, words: tuple[str, ...]) -> None:
    assert words[1].split("=")[-1] in shell.refusal("diff", saved(), "report.json", *words)
