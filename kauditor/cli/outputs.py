"""Where reports go: several in one run, each written aside and renamed, readable by its owner."""

import os
import tempfile
from pathlib import Path
from typing import IO

import msgspec

from kauditor.cli.exits import Sentence
from kauditor.model.report import Report
from kauditor.render import FORMATS, RenderOptions, render


class Output(msgspec.Struct, frozen=True):
    """One ``-o FORMAT[=PATH]``; ``path`` null means stdout."""

    format: str
    path: Path | None


def parse_outputs(words: list[str], default: str = "text") -> list[Output]:
    """Read all ``-o`` words.

    Raises:
        Sentence: an unknown format, two for stdout, or a place that can't be written.
    """
    outputs = []
    for word in words or [default]:
        name, equals, place = word.partition("=")
        if name not in FORMATS:
            import difflib

            near = difflib.get_close_matches(name, FORMATS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(FORMATS)}."
            raise Sentence(f"-o {word}: there is no format {name!r}; {hint}")
        if equals and not place:
            raise Sentence(f"-o {word}: the path is empty; write -o {name}=FILE.")
        path = None if place in ("", "-") else Path(place)
        if path is not None:
            check_writable(path)
        outputs.append(Output(name, path))
    if sum(output.path is None for output in outputs) > 1:
        raise Sentence("only one report can go to stdout; give the others a path: -o html=FILE.")
    places = [output.path for output in outputs if output.path is not None]
    if len(places) != len(set(places)):
        raise Sentence("two reports have the same path.")
    return outputs


def check_writable(path: Path) -> None:
    """Say now, not after the scan, that a file can't be written.

    Raises:
        Sentence: its folder is missing or not writable, or it is a folder itself.
    """
    folder = path.parent
    if path.is_dir():
        raise Sentence(f"{path}: this is a folder; name a file.")
    if not folder.is_dir():
        raise Sentence(f"{path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK):
        raise Sentence(f"{path}: the folder {folder} can't be written to.")


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        Sentence: the disk or the folder refuses.
    """
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(aside, 0o600)
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise Sentence(f"{path}: it could not be written: {error.strerror or error}.") from error


def write_outputs(
    report: Report, outputs: list[Output], options: RenderOptions, stdout: IO[str]
) -> None:
    """Render and write each; a file that fails does not keep the others from being written."""
    problems: list[Sentence] = []
    for output in outputs:
        if output.path is None:
            made = render(report, output.format, options)
            text = made if isinstance(made, str) else made.decode("utf-8")
            encoding = getattr(stdout, "encoding", None) or "utf-8"
            # A terminal that can't show a character gets a stand-in, never an exception.
            stdout.write(text.encode(encoding, "replace").decode(encoding))
            continue
        plain = msgspec.structs.replace(options, color=False)
        made = render(report, output.format, plain)
        try:
            write_private(output.path, made.encode() if isinstance(made, str) else made)
        except Sentence as problem:
            problems.append(problem)
    if problems:
        raise problems[0]
