"""What flags and variables ask of target and gate, and the saved reports that they name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kauditor.cli.exits import Sentence
from kauditor.model.report import Report
from kauditor.settings import ClusterSettings, GateSettings, Loaded


def flags_given(given: Mapping[str, Any]) -> ClusterSettings:
    """The flags of target and gate, as settings; parameters that a command lacks are not asked.

    Raises:
        Sentence: a severity or an area that does not exist.
    """
    from kauditor.model.finding import Severity
    from kauditor.settings import BadSettings, area_scores

    fail_on = given.get("fail_on")
    if fail_on is not None and fail_on not in tuple(Severity):
        raise Sentence(f"--fail-on {fail_on}: write one of {', '.join(Severity)}.")
    words = given.get("min_area_score")
    try:
        areas = area_scores(words, "--min-area-score") if words else None
    except BadSettings as error:
        raise Sentence(str(error)) from error
    return ClusterSettings(
        target_nodes=given.get("target_nodes"),
        gate=GateSettings(
            min_limit=given.get("min_limit"),
            min_score=given.get("min_score"),
            min_area_score=areas,
            fail_on=Severity(fail_on) if fail_on else None,
            min_coverage=given.get("min_coverage"),
            # A flag that was not given says nothing, so the settings' word stands.
            fail_on_new=given.get("fail_on_new") or None,
            fail_on_worse=given.get("fail_on_worse") or None,
            baseline=given.get("baseline"),
        ),
    )


def asked(given: Mapping[str, Any], loaded: Loaded) -> ClusterSettings:
    """Flags over variables.

    Raises:
        Sentence: a value can't be read, or new and worse findings are asked for without a baseline.
    """
    from kauditor.settings import over

    made = over(flags_given(given), loaded.environment)
    gate, settings = made.gate, loaded.settings
    assert gate is not None
    if (gate.fail_on_new or gate.fail_on_worse) and gate.baseline is None:
        tables = [settings.gate, *(one.gate for one in settings.cluster.values())]
        if not any(one is not None and one.baseline for one in tables):
            flag = "--fail-on-new" if gate.fail_on_new else "--fail-on-worse"
            raise Sentence(f"{flag} needs --baseline FILE, an earlier report of -o json=FILE.")
    return made


def baseline_of(made: ClusterSettings, loaded: Loaded, context: str) -> tuple[Report | None, str]:
    """The baseline that flags, variables or settings name, and a note where there is none yet.

    One that the settings name may be missing: the first run is about to write it.

    Raises:
        Sentence: it can't be read.
    """
    named = made.gate.baseline if made.gate else None
    if named is not None:
        return read_report(named, "--baseline "), ""
    written = loaded.settings.of_cluster(context).gate
    if written is None or written.baseline is None:
        return None, ""
    if not Path(written.baseline).exists():
        return None, f"there is no baseline yet; write it with -o json={written.baseline}."
    return read_report(written.baseline, "baseline "), ""


def read_report(file: str, label: str = "") -> Report:
    """A saved report.

    Raises:
        Sentence: it is not there or can't be read; the message names the file.
    """
    from kauditor.model.report import BadReport
    from kauditor.report import read

    try:
        return read(Path(file).read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, BadReport):
            raise Sentence(f"{label}{file}: {error}.") from error
        # A path with a null character is no OSError but a ValueError.
        raise Sentence(f"{label}{file}: {getattr(error, 'strerror', None) or error}.") from error
