"""Every check: its cases, its contract, and what it says when a source is denied."""

from pathlib import Path

import pytest

from kauditor import packs
from kauditor.model.check import Check
from kauditor.testing import (
    Case,
    breaches,
    load_cases,
    mismatches,
    run,
    unknown_cases,
    wrongly_decided,
)

CASES = Path(__file__).resolve().parent.parent / "cases"
CHECKS = packs.load(installed=False)


def case_file(check: Check) -> Path:
    return CASES / Path(check.file).parent.name / f"{check.name.replace('-', '_')}.toml"


ALL = [
    (check, case)
    for check in CHECKS
    if case_file(check).exists()
    for case in load_cases(case_file(check))
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_keeps_its_contract(check: Check) -> None:
    assert breaches(check) == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_has_cases_that_fail_and_cases_that_pass(check: Check) -> None:
    assert case_file(check).exists(), f"{check.id} has no cases: {case_file(check)}"
    states = {row["state"] for case in load_cases(case_file(check)) for row in case.expect}
    assert states & {"fail", "warn"}, f"no case of {check.id} finds anything"
    assert states & {"pass", "not-applicable"}, f"no case of {check.id} is in order"


@pytest.mark.parametrize(
    ("check", "case"), ALL, ids=lambda value: getattr(value, "id", None) or value.name
)
def test_a_case_gives_what_it_expects(check: Check, case: Case) -> None:
    assert mismatches(case, run(check, case)) == []


@pytest.mark.parametrize(
    ("check", "case"), ALL, ids=lambda value: getattr(value, "id", None) or value.name
)
def test_a_denied_source_never_makes_a_case_better(check: Check, case: Case) -> None:
    problems = [
        problem
        for denied in unknown_cases(check, case)
        for problem in wrongly_decided(check, case, denied)
    ]
    assert problems == []
