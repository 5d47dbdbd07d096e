"""The Prometheus text format, streamed: only wanted families are looked at.

The format is that of the Prometheus exposition documentation, version 0.0.4. Values that are no
finite number are dropped: a report holds neither NaN nor infinity.
"""

import math
import re
from collections.abc import Iterable, Iterator

from kauditor.model.source import Sample

_LINE = re.compile(
    rb"^([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?[ \t]*\r?$"
)
_LABEL = re.compile(rb'([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_PLAIN = {"n": "\n", "\\": "\\", '"': '"'}
_SUFFIXES = (b"_bucket", b"_sum", b"_count")


def parse(chunks: Iterable[bytes], families: frozenset[str]) -> Iterator[Sample]:
    """Samples of the wanted families, in the order of the text.

    ``chunks`` may be cut anywhere. A histogram's ``_bucket``, ``_sum`` and ``_count`` belong to
    its family. Lines that are no samples are passed over.
    """
    wanted = {name.encode() for name in families}
    wanted |= {name + suffix for name in wanted for suffix in _SUFFIXES}
    for line in _lines(chunks):
        end = _name_end(line)
        if line[:end] in wanted:
            sample = _sample(line)
            if sample is not None:
                yield sample


def parse_all(chunks: Iterable[bytes]) -> Iterator[Sample]:
    """Every sample with a finite value."""
    for line in _lines(chunks):
        if line[:1] != b"#":
            sample = _sample(line)
            if sample is not None:
                yield sample


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from lines
    if rest:
        yield rest


def _name_end(line: bytes) -> int:
    brace, space = line.find(b"{"), line.find(b" ")
    ends = [end for end in (brace, space) if end >= 0]
    return min(ends, default=len(line))


def _sample(line: bytes) -> Sample | None:
    match = _LINE.match(line)
    if match is None:
        return None
    name, labels, text = match.groups()
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return Sample(
        name.decode(),
        {key.decode(): _unescaped(raw) for key, raw in _LABEL.findall(labels or b"")},
        value,
    )


def _unescaped(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _PLAIN.get(match.group(1), match.group(0)), text)
