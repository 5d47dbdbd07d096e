"""The exposition parser, against prometheus_client on real files."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kauditor.sources.metrics_text import parse, parse_all
from tests.conftest import ROOT

SAMPLES = ROOT.parent / "shared" / "samples" / "metrics"


def test_escapes_timestamps_and_odd_values_are_read() -> None:
    text = (
        b"# HELP a x\n# TYPE a gauge\n"
        b'a{l="q\\"\\\\n\\n",m="}"} 1.5 1700000000000\n'
        b'a NaN\na +Inf\nb_bucket{le="+Inf"} 3\nb_sum 7\nc 1\n'
    )
    samples = list(parse([text], frozenset({"a", "b"})))
    assert [(s.name, s.value) for s in samples] == [("a", 1.5), ("b_bucket", 3.0), ("b_sum", 7.0)]
    assert samples[0].labels == {"l": 'q"\\n\n', "m": "}"}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_chunks_may_be_cut_anywhere(cuts: list[int]) -> None:
    text = b'a{l="1"} 1\nb 2\na{l="2"} 3\n' * 5
    chunks, at = [], 0
    for cut in cuts:
        chunks.append(text[at : at + cut])
        at += cut
    chunks.append(text[at:])
    assert list(parse(chunks, frozenset({"a"}))) == list(parse([text], frozenset({"a"})))


FILES = sorted(SAMPLES.glob("*.txt")) + sorted(SAMPLES.glob("*.prom")) if SAMPLES.is_dir() else []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_real_files_read_as_prometheus_client_reads_them(file: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    text = file.read_text("utf-8")
    try:
        families = list(text_string_to_metric_families(text))
    except ValueError:
        # A double declaration is an error there and none here; nothing to compare with.
        return
    # prometheus_client names every counter with _total, whatever the text says.
    oracle = sorted(
        (sample.name.removesuffix("_total"), tuple(sorted(sample.labels.items())), sample.value)
        for family in families
        for sample in family.samples
        if math.isfinite(sample.value)
    )
    ours = sorted(
        (sample.name.removesuffix("_total"), tuple(sorted(sample.labels.items())), sample.value)
        for sample in parse_all([file.read_bytes()])
    )
    assert ours == oracle
