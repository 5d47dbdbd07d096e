import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from kauditor.model.source import Sample
from kauditor.sources.metrics_text import BadExposition, Parser, parse, parse_all

Key = tuple[str, tuple[tuple[str, str], ...], float]


def oracle(text: str) -> list[Key]:
    return [
        (plain(one.name), tuple(sorted(one.labels.items())), float(one.value))
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if math.isfinite(one.value)
    ]


def ours(samples: Any) -> list[Key]:
    return [(one.name, tuple(sorted(one.labels.items())), one.value) for one in samples]


def plain(name: str) -> str:
    """prometheus_client gives each counter the suffix, whether the text does or not."""
    return name.removesuffix("_total")


def pieces(raw: bytes, size: int) -> list[bytes]:
    return [raw[start : start + size] for start in range(0, len(raw), size)]


def test_every_shared_sample_is_read_as_prometheus_client_reads_it(samples: Path) -> None:
    files = sorted((samples / "metrics").glob("*.prom"))
    assert len(files) == 14
    for file in files:
        raw = file.read_bytes()
        read = [(plain(name), *rest) for name, *rest in ours(parse_all(pieces(raw, 50_021)))]
        assert sorted(read) == sorted(oracle(raw.decode())), file


def test_wanted_families_of_a_real_api_server_are_those_of_the_whole(samples: Path) -> None:
    raw = (samples / "metrics" / "kube-apiserver-1.31.prom").read_bytes()
    families = ("apiserver_storage_objects", "apiserver_request_duration_seconds", "etcd_x")
    wanted = ours(parse(pieces(raw, 100_000), families))
    suffixes = ("", "_bucket", "_sum", "_count")
    names = {family + suffix for family in families for suffix in suffixes}
    assert wanted == [one for one in ours(parse_all([raw])) if one[0] in names]
    assert len(wanted) > 1_000


def test_cuts_at_any_byte_change_nothing() -> None:
    raw = b'# TYPE a counter\na{x="1\\n2"} 1\na_sum 2\nab 3\nb{y="}"} 4 1700000000000\n'
    whole = [
        Sample("a", {"x": "1\n2"}, 1.0),
        Sample("a_sum", {}, 2.0),
        Sample("b", {"y": "}"}, 4.0),
    ]
    for size in range(1, len(raw)):
        assert list(parse(pieces(raw, size), ("a", "b"))) == whole


@pytest.mark.parametrize(
    ("line", "sample"),
    [
        ("a 1", Sample("a", {}, 1.0)),
        ("a{} 1", Sample("a", {}, 1.0)),
        ("a\t 1e3 ", Sample("a", {}, 1000.0)),
        ("a 1 -5\r", Sample("a", {}, 1.0)),
        ('a { x = "1" , y="2", } 1', Sample("a", {"x": "1", "y": "2"}, 1.0)),
        ('a{x="\\\\ \\" \\n"} 1', Sample("a", {"x": '\\ " \n'}, 1.0)),
        ('a{x="{y=\\"z\\"}"} 1', Sample("a", {"x": '{y="z"}'}, 1.0)),
        ('a{x="ö"} 1', Sample("a", {"x": "ö"}, 1.0)),
        ('a_bucket{le="+Inf"} 7', Sample("a_bucket", {"le": "+Inf"}, 7.0)),
    ],
)
def test_a_line_in_any_spelling_is_read(line: str, sample: Sample) -> None:
    assert list(parse([line.encode()], ("a",))) == [sample]


@pytest.mark.parametrize("line", ["a", "ab 1", "a_total 1", "# a 1", 'b{x="a 1"} 2', ""])
def test_other_lines_are_left_alone(line: str) -> None:
    assert list(parse([line.encode()], ("a",))) == []


@pytest.mark.parametrize("line", ['a{x="1 1', "a one", "a ", 'a{x="1"}', "a 1 2 3"])
def test_a_wanted_line_that_cannot_be_read_is_an_error_not_a_gap(line: str) -> None:
    with pytest.raises(BadExposition, match="of a "):
        list(parse([line.encode()], ("a",)))


def test_what_is_no_finite_number_is_dropped_and_counted() -> None:
    parser = Parser(("a", "b"))
    assert list(parser.feed(b"a NaN\na +Inf\nb -Inf\nb 1\n")) == [Sample("b", {}, 1.0)]
    assert parser.dropped == {"a": 2, "b": 1}


def test_no_family_gives_nothing() -> None:
    assert list(parse([b"a 1\n"], ())) == []


_names = st.sampled_from(("x", "le", "name_of_it"))
_values = st.text('ab \\"{}=,\nö', max_size=8)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(_names, _values, max_size=3), st.floats(allow_nan=False, allow_infinity=False)
)
def test_whatever_is_written_with_escapes_is_read_back(
    labels: dict[str, str], value: float
) -> None:
    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

    inner = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
    assert list(parse([f"a{{{inner}}} {value!r}\n".encode()], ("a",))) == [
        Sample("a", labels, value)
    ]
