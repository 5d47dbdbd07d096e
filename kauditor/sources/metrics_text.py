r"""The Prometheus text format, streamed: only the lines of wanted families are looked at.

The format is version 0.0.4 of the Prometheus exposition documentation: ``# TYPE`` and ``# HELP``
lines, then ``name{label="value"} 1.5 1700000000000``, where label values escape ``\\``, ``\"`` and
``\n``. Values that are no finite number are left out, since a report holds neither NaN nor
infinity; `Parser.dropped` says how many of which name.
"""

import re
from collections.abc import Iterable, Iterator
from math import isfinite

from kauditor.model.source import Sample

# After the name: labels up to the last brace of the line, a value, perhaps a timestamp. A line that
# goes on in any other way is matched without a value, so that it is an error and not a gap.
_AFTER_NAME = (
    r"(?:(?:[ \t]*\{(.*)\}[ \t]*|[ \t]+)([^\s{]+)(?:[ \t]+-?[0-9]+)?[ \t]*\r?(?=\n)|[ \t{].*)"
)
_ANY_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="([^"]*)"')
_ANY_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "\\": "\\", '"': '"'}


class BadExposition(ValueError):
    """A line of a wanted family can't be read. Says which, without its labels."""


class Parser:
    """Reads one exposition in pieces that may be cut anywhere.

    ``families`` are full names, histograms and summaries without ``_bucket``, ``_sum`` and
    ``_count``; None stands for all.
    """

    def __init__(self, families: Iterable[str] | None) -> None:
        self.dropped: dict[str, int] = {}
        self._rest = b""
        names = _names(families)
        self._samples = re.compile(rf"\n({names}){_AFTER_NAME}")
        self._lines = re.compile(rf"\n((?:{names})(?=[ \t{{])[^\n]*)".encode())

    def feed(self, piece: bytes) -> Iterator[Sample]:
        """The samples on the lines that this piece completes.

        Raises:
            BadExposition: a line of a wanted family can't be read.
        """
        text = self._whole_lines(piece).decode("utf-8", "replace")
        shared_text = ""
        shared: dict[str, str] = {}
        for name, labels_text, value_text in self._samples.findall(text):
            labels: dict[str, str] = {}
            if labels_text:
                # The buckets of one histogram differ in their last label only.
                most, has_limit, limit = labels_text.rpartition(',le="')
                if has_limit and limit.find('"') == len(limit) - 1 and "\\" not in limit:
                    if most != shared_text:
                        shared_text, shared = most, _labels(most, name)
                    labels = {**shared, "le": limit[:-1]}
                else:
                    labels = _labels(labels_text, name)
            try:
                value = float(value_text)
            except ValueError:
                raise BadExposition(f"a sample of {name} can't be read") from None
            if isfinite(value):
                yield Sample(name, labels, value)
            else:
                self.dropped[name] = self.dropped.get(name, 0) + 1

    def wanted_lines(self, piece: bytes) -> bytes:
        """The lines of wanted families that this piece completes, as they are."""
        lines = self._lines.findall(self._whole_lines(piece))
        return b"\n".join(lines) + b"\n" if lines else b""

    @property
    def unfinished(self) -> bytes:
        """The line that has no end yet; a whole exposition leaves none."""
        return self._rest

    def _whole_lines(self, piece: bytes) -> bytes:
        """Whole lines, with a line break before each and after the last."""
        end = piece.rfind(b"\n") + 1
        if not end:
            self._rest += piece
            return b""
        lines = b"\n" + self._rest + piece[:end]
        self._rest = piece[end:]
        return lines


def parse(chunks: Iterable[bytes], families: Iterable[str] | None) -> Iterator[Sample]:
    """The samples of the wanted families, in the order of the text.

    Raises:
        BadExposition: a line of a wanted family can't be read.
    """
    parser = Parser(families)
    for chunk in chunks:
        yield from parser.feed(chunk)
    if parser.unfinished:
        yield from parser.feed(b"\n")


def parse_all(chunks: Iterable[bytes]) -> Iterator[Sample]:
    """Every sample with a finite value."""
    return parse(chunks, None)


def _names(families: Iterable[str] | None) -> str:
    """A pattern for the names of samples of these families.

    A pattern that starts with fixed characters is searched for at the speed of memory; all that
    the names have in common goes there.
    """
    if families is None:
        return _ANY_NAME
    names = sorted(families)
    if not names:
        return "(?!)"
    common = _shared_beginning(names[0], names[-1])
    rest = "|".join(re.escape(name[len(common) :]) for name in reversed(names))
    return rf"{re.escape(common)}(?:{rest})(?:_bucket|_sum|_count)?"


def _shared_beginning(first: str, last: str) -> str:
    """What two names have in common; of sorted names, so have all between them."""
    length = 0
    for mine, other in zip(first, last, strict=False):
        if mine != other:
            break
        length += 1
    return first[:length]


def _labels(text: str, name: str) -> dict[str, str]:
    if "\\" not in text and " " not in text and "\t" not in text:
        labels = dict(_LABEL.findall(text))
    else:
        labels = {key: _unescaped(raw) for key, raw in _ANY_LABEL.findall(text)}
    if not labels and text.strip():
        raise BadExposition(f"the labels of a sample of {name} can't be read")
    return labels


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)
